from __future__ import annotations

import pytest

from jumok.decoding.length_penalty import length_penalty


def test_values_by_hand():
    assert length_penalty(1, 0.6) == 1.0  # (5 + 1) / 6
    assert length_penalty(7, 1.0) == pytest.approx(2.0)
    assert length_penalty(7, 0.5) == pytest.approx(2**0.5)
    assert length_penalty(19, 0.6) == pytest.approx(4**0.6)


def test_alpha_zero_ranks_by_probability_alone():
    assert {length_penalty(n, 0.0) for n in (1, 5, 100)} == {1.0}


def test_a_longer_translation_is_divided_by_more():
    values = [length_penalty(n, 0.6) for n in range(1, 50)]
    assert values == sorted(values)
