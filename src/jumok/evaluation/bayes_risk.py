"""The translation that agrees best with all others: minimum Bayes risk, by chrF.

The likeliest translation need not be the best one. Of many candidates, drawn from the model or found by a beam search,
the one is taken that scores best on average when each of the others is taken for the reference.

Paper: Kumar and Byrne 2004; Eikema and Aziz 2020 (with samples); Popović 2015 (chrF).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_MAX_ORDER = 6  # characters in a row, as in sacreBLEU's chrF2
_BETA = 2.0


def least_risk(candidates: Sequence[str]) -> list[int]:
    """Where each different candidate stands first, the one of least risk before the others.

    A candidate that occurs twice counts twice as a reference; of equals the one given first is first.
    """
    gain = expected_chrf(candidates)
    first = {text: place for place, text in reversed(list(enumerate(candidates)))}
    return sorted(first.values(), key=lambda place: (-gain[place], place))


def expected_chrf(candidates: Sequence[str]) -> NDArray[np.float64]:
    """The mean chrF (0 to 100) of each candidate against all, itself included."""
    counts = Counter(candidates)
    gain = _pairwise_chrf(list(counts)) @ np.array(list(counts.values())) / max(1, len(candidates))
    of_text = dict(zip(counts, gain.tolist(), strict=True))
    return np.array([of_text[text] for text in candidates])


def _pairwise_chrf(texts: list[str]) -> NDArray[np.float64]:
    """The chrF of each text (row) against each as the reference (column).

    The n-grams of a text are counted once and not once a pair: that is what takes the time.
    """
    columns: dict[str, int] = {}  # a column each n-gram of any text
    counted = [_ngrams("".join(text.split())) for text in texts]
    for ngrams in counted:
        for ngram in ngrams:
            columns.setdefault(ngram, len(columns))
    order_of_column = np.array([len(ngram) for ngram in columns], dtype=np.int64)
    counts = np.zeros((len(texts), len(columns)))
    for row, ngrams in enumerate(counted):
        counts[row, [columns[ngram] for ngram in ngrams]] = list(ngrams.values())

    is_of_order = (order_of_column[:, None] == np.arange(1, _MAX_ORDER + 1)).astype(np.float64)  # (columns, orders)
    totals = counts @ is_of_order  # (texts, orders)
    chrf = np.zeros((len(texts), len(texts)))
    for row in range(len(texts)):
        matches = np.minimum(counts, counts[row]) @ is_of_order  # (references, orders)
        is_counted = (totals[row] > 0) & (totals > 0)  # orders that both texts are long enough for
        num_orders = np.maximum(is_counted.sum(axis=1), 1)
        precision = (matches / np.maximum(totals[row], 1)).sum(axis=1, where=is_counted) / num_orders
        recall = (matches / np.maximum(totals, 1)).sum(axis=1, where=is_counted) / num_orders
        both = np.maximum(_BETA**2 * precision + recall, 1e-16)
        chrf[row] = 100 * (1 + _BETA**2) * precision * recall / both
    return chrf


def _ngrams(text: str) -> Counter[str]:
    return Counter(text[i : i + n] for n in range(1, _MAX_ORDER + 1) for i in range(len(text) - n + 1))
