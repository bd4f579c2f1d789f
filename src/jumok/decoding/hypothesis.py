"""What a search returns."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Hypothesis:
    """A finished translation in pieces, without begin and end."""

    ids: list[int]
    log_prob: float  # sum over the pieces and the end mark
    score: float  # what it was ranked by: log_prob over the length penalty
    is_complete: bool = True  # False where the length limit cut it off
