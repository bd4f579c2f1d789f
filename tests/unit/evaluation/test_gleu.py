from __future__ import annotations

import pytest

from jumok.evaluation.gleu import sentence_gleu


@pytest.mark.parametrize(
    ("hypothesis", "reference", "gleu"),
    [
        ("a b c d", "a b c d", 1.0),
        ("a b c d", "e f g h", 0.0),
        # 3 + 2 + 1 n-grams of 4 + 3 + 2 + 1 said: precision 6/10, recall 6/6
        ("a b c d", "a b c", 6 / 10),
        ("a b c", "a b c d", 6 / 10),
        # a and b match as words, b a and a b not in b b a: 2 words and "b a"; 6 said and wanted
        ("a b a", "b b a", 3 / 6),
        # a counts as often as the reference has it: a, a a of 4 + 3 + 2 + 1
        ("a a a a", "a a", 3 / 10),
        # the order matters: 4 words of 10 n-grams
        ("d c b a", "a b c d", 4 / 10),
        ("", "a", 0.0),
        ("a", "", 0.0),
        ("", "", 1.0),
    ],
)
def test_by_hand(hypothesis, reference, gleu):
    assert sentence_gleu(hypothesis.split(), reference.split()) == pytest.approx(gleu)
