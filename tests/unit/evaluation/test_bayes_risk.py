from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import CHRF

from jumok.evaluation.bayes_risk import expected_chrf, least_risk

TEXTS = st.lists(st.text("ab c가", max_size=9), min_size=1, max_size=6)


@given(TEXTS)
@settings(max_examples=60, deadline=None)
def test_the_gain_is_sacrebleus_chrf_against_all(candidates):
    chrf = CHRF()
    expected = [
        np.mean([chrf.sentence_score(candidate, [reference]).score for reference in candidates])
        for candidate in candidates
    ]
    assert expected_chrf(candidates).tolist() == pytest.approx(expected, abs=1e-9)


def test_the_one_in_the_middle_is_chosen_and_not_the_odd_one():
    candidates = ["a bird sang", "the cat sat on a mat", "the cat sat on the mat", "a cat sat on the mat"]
    assert least_risk(candidates)[0] == 2
    assert least_risk(candidates)[-1] == 0


def test_a_candidate_counts_as_often_as_it_occurs():
    once = ["red wine", "white bread", "white bear"]
    assert once[least_risk(once)[0]] != "red wine"
    assert least_risk([*once, *["red wine"] * 5])[0] == 0


def test_each_different_candidate_stands_in_the_order_once_where_it_came_first():
    assert sorted(least_risk(["a", "b", "a", "c", "b"])) == [0, 1, 3]


def test_equals_keep_their_order():
    assert least_risk(["x", "y", "z"]) == [0, 1, 2]


@pytest.mark.parametrize("candidates", [[""], ["", ""], ["only"]])
def test_one_candidate_is_the_best(candidates):
    assert least_risk(candidates) == [0]


def test_no_candidates_have_no_order():
    assert least_risk([]) == []


def test_many_long_candidates_agree_with_sacrebleu():
    rng = random.Random(1)
    candidates = [" ".join(rng.choices(["cat", "sat", "mat", "gingerly", "가게"], k=40)) for _ in range(6)]
    chrf = CHRF()
    expected = [np.mean([chrf.sentence_score(a, [b]).score for b in candidates]) for a in candidates]
    assert expected_chrf(candidates).tolist() == pytest.approx(expected)
