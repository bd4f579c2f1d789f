from __future__ import annotations

import math

import numpy as np
import pytest

from jumok.config import DecodingConfig
from jumok.decoding.batches import search
from jumok.decoding.coverage import coverage, rank_by_coverage
from jumok.decoding.hypothesis import Hypothesis
from jumok.decoding.sentence import Sentence


def _seen(score: float, *attention: list[float], is_complete: bool = True) -> Hypothesis:
    return Hypothesis([4], score, score, is_complete, attention=np.array(attention, dtype=np.float32))


def test_coverage_by_hand():
    # The first source piece was looked at 0.5 + 0.75 > 1 times, the second 0.25 + 0.125; the end mark is not counted.
    attention = np.array([[0.5, 0.25, 0.25], [0.75, 0.125, 0.125]], dtype=np.float32)
    assert coverage(attention) == pytest.approx(math.log(1) + math.log(0.375))


def test_a_source_piece_that_was_never_looked_at_is_not_the_end_of_the_world():
    assert coverage(np.array([[0.0, 1.0]], dtype=np.float32)) == pytest.approx(math.log(1e-6))


def test_an_empty_source_is_covered():
    assert coverage(np.array([[1.0]], dtype=np.float32)) == 0.0


def test_what_left_something_out_falls_behind_by_hand():
    skips = _seen(-1.0, [0.9, 0.1, 0.0], [0.9, 0.1, 0.0])  # ln 0.2 for the second piece
    covers = _seen(-1.2, [1.0, 0.0, 0.0], [0.0, 1.0, 0.0])
    assert [h.score for h in rank_by_coverage([skips, covers], 0.0)] == [-1.0, -1.2]
    first, second = rank_by_coverage([skips, covers], 0.2)
    assert (first.score, second.score) == (pytest.approx(-1.2), pytest.approx(-1.0 + 0.2 * math.log(0.2)))
    assert (first.log_prob, second.log_prob) == (-1.2, -1.0)


def test_what_was_cut_off_stays_behind():
    cut = _seen(-0.1, [1.0, 0.0], is_complete=False)
    whole = _seen(-5.0, [1.0, 0.0])
    assert rank_by_coverage([cut, whole], 0.5)[0].is_complete


def test_a_search_ranks_by_it(tiny_transformer):
    model = tiny_transformer()
    sentences = [Sentence([5, 6, 7, 8]), Sentence([9, 10])]
    plain = search(model, sentences, DecodingConfig(beam=4, max_extra_length=6))
    ranked = search(model, sentences, DecodingConfig(beam=4, max_extra_length=6, coverage_penalty=0.4))
    for before, after in zip(plain, ranked, strict=True):
        assert sorted(h.ids for h in before) == sorted(h.ids for h in after)
        score_of = {tuple(h.ids): h.score for h in before}
        for hypothesis in after:
            expected = score_of[tuple(hypothesis.ids)] + 0.4 * coverage(hypothesis.attention)
            assert hypothesis.score == pytest.approx(expected, abs=1e-4)
        order = [(not h.is_complete, -h.score) for h in after]
        assert order == sorted(order)
