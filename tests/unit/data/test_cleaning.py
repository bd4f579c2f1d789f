"""Pairs are left out for a counted reason, never in silence."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from jumok.config import DataConfig
from jumok.data.cleaning import Cleaner, Counts


def cleaner(only_length: bool = False, **changes: Any) -> Cleaner:
    return Cleaner(DataConfig(source="ko", target="en", train="t", valid="v", **changes), only_length)


def accepted(judge: Cleaner, *lengths: tuple[int, int]) -> list[bool]:
    src, tgt = np.array(lengths, dtype=np.int32).T
    return list(judge.accept_lengths(src, tgt).tolist())


def test_summary_names_every_reason_with_its_count() -> None:
    judge = cleaner(max_length=50)
    texts = [("a", "b"), ("", "b"), ("a", ""), ("a", "b"), ("c", "d"), ("e", "f"), ("g", "h")]
    is_later = np.array([False, False, False, True, False, False, False])
    assert judge.accept_texts(texts, is_later) == [("a", "b"), ("c", "d"), ("e", "f"), ("g", "h")]
    assert accepted(judge, (3, 3), (51, 3), (4, 20), (1, 11)) == [True, False, False, True]
    expected = "7 pairs read, 2 kept; left out: 2 empty, 1 duplicate, 1 too long, 1 length ratio"
    assert judge.counts.summary() == expected


def test_summary_without_anything_left_out() -> None:
    judge = cleaner()
    pairs = [(f"s{i}", "t") for i in range(1234)]
    assert judge.accept_texts(pairs) == pairs
    assert judge.counts.summary() == "1,234 pairs read, 1,234 kept"


def test_validation_is_judged_by_length_alone() -> None:
    judge = cleaner(only_length=True, max_length=50)
    assert judge.accept_texts([("", "b"), ("a", "b")]) == [("", "b"), ("a", "b")]
    assert accepted(judge, (1, 50), (51, 50)) == [True, False]
    assert judge.counts.summary() == "2 pairs read, 1 kept; left out: 1 too long"


def test_counts_add_up_and_survive_the_disk() -> None:
    total = Counts()
    for _ in range(2):
        judge = cleaner()
        judge.accept_texts([("", "b"), ("a", "b")])
        total.add(Counts.from_json(json.loads(json.dumps(judge.counts.to_json()))))
    assert total.summary() == "4 pairs read, 2 kept; left out: 2 empty"


@pytest.mark.parametrize(("src", "tgt", "is_kept"), [(10, 10, True), (11, 1, False), (1, 11, False), (200, 200, True)])
def test_limit_is_inclusive_on_both_sides(src: int, tgt: int, is_kept: bool) -> None:
    assert accepted(cleaner(max_length=10 if src < 100 else 200), (src, tgt)) == [is_kept]


@pytest.mark.parametrize(
    ("src", "tgt", "is_kept"),
    [(1, 11, True), (2, 12, True), (1, 12, False), (10, 40, True), (10, 41, False), (41, 10, False)],
)
def test_ratio_counts_only_beyond_ten_pieces_of_difference(src: int, tgt: int, is_kept: bool) -> None:
    assert accepted(cleaner(), (src, tgt)) == [is_kept]
