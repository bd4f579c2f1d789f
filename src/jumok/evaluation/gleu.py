"""GLEU: a score of one sentence, as a reward in training needs it.

Paper: Wu et al. 2016, section 5. BLEU is made for whole corpora, and of a single sentence it is mostly 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

_MAX_ORDER = 4


def sentence_gleu(hypothesis: Sequence[Hashable], reference: Sequence[Hashable]) -> float:
    """The smaller of precision and recall over all n-grams of 1 to 4 words together, from 0 to 1."""
    said, wanted = _ngrams(hypothesis), _ngrams(reference)
    largest = max(said.total(), wanted.total())
    return (said & wanted).total() / largest if largest else 1.0


def _ngrams(words: Sequence[Hashable]) -> Counter[tuple[Hashable, ...]]:
    return Counter(
        tuple(words[start : start + order])
        for order in range(1, _MAX_ORDER + 1)
        for start in range(len(words) - order + 1)
    )
