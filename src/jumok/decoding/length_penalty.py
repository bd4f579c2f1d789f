"""Why a longer translation is not punished for being longer."""

from __future__ import annotations


def length_penalty(length: int, alpha: float) -> float:
    """lp(Y) = ((5 + |Y|) / 6)^α; a hypothesis is ranked by log P(Y) / lp(Y).

    Paper: Wu et al. 2016, equation 14; Vaswani et al. 2017, section 6.1 (α = 0.6).
    |Y| counts the pieces with the end mark.
    """
    return float(((5.0 + length) / 6.0) ** alpha)
