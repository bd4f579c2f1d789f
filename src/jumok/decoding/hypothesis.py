"""What a search returns."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Hypothesis:
    """A finished translation in pieces, without begin and end; the last two fields are there after a look back."""

    ids: list[int]
    log_prob: float  # sum over the pieces and the end mark
    score: float  # what it was ranked by: log_prob over the length penalty, and the coverage penalty where there is one
    is_complete: bool = True  # False where the length limit cut it off
    piece_log_probs: list[float] | None = field(default=None, compare=False)  # of each piece, and of the end mark
    attention: NDArray[np.float32] | None = field(default=None, compare=False, repr=False)  # (T, S), both with the end


def rank(hypothesis: Hypothesis) -> tuple[bool, float]:
    """The key to sort by: best first, those that were cut off after all others."""
    return (not hypothesis.is_complete, -hypothesis.score)
