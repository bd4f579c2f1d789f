"""Why a translation that never looked at part of the source ranks lower."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from jumok.decoding.hypothesis import Hypothesis, rank

_LEAST = 1e-6  # a piece that was looked at less counts as this little: the logarithm of nothing would outweigh all


def coverage(attention: NDArray[np.float32]) -> float:
    """The sum Σ_i log(min(Σ_j a_ij, 1)) over source pieces i and target pieces j; 0 where all was looked at in full.

    Paper: Wu et al. 2016, section 7, equation 14.
    Differs: the source's end mark is not a word that could be left untranslated, and is left out of the sum over i. The
    target's end mark stays in the sum over j, as it does in |Y| of the length penalty.
    """
    looked_at = attention[:, :-1].sum(axis=0, dtype=np.float64)
    return float(np.log(looked_at.clip(_LEAST, 1.0)).sum())


def rank_by_coverage(hypotheses: Sequence[Hypothesis], beta: float) -> list[Hypothesis]:
    """The same hypotheses, after a look back, by log P / lp + β·coverage.

    Paper: Wu et al. 2016, section 7, equation 14.
    Differs: it ranks what the search has found and does not steer it, so that the search itself stays as it is.
    """
    ranked = []
    for hypothesis in hypotheses:
        assert hypothesis.attention is not None, "coverage is known after a look back"
        ranked.append(replace(hypothesis, score=hypothesis.score + beta * coverage(hypothesis.attention)))
    return sorted(ranked, key=rank)
