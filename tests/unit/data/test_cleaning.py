"""Pairs are left out for a counted reason, never in silence."""

from __future__ import annotations

from typing import Any

import pytest

from jumok.config import DataConfig
from jumok.data.cleaning import Cleaner


def cleaner(**changes: Any) -> Cleaner:
    return Cleaner(DataConfig(source="ko", target="en", train="t", valid="v", **changes))


def test_summary_names_every_reason_with_its_count() -> None:
    judge = cleaner(max_length=50)
    texts = [("a", "b"), ("", "b"), ("a", ""), ("a", "b"), ("c", "d"), ("e", "f"), ("g", "h")]
    accepted = [pair for pair in texts if judge.accept_text(*pair)]
    assert accepted == [("a", "b"), ("c", "d"), ("e", "f"), ("g", "h")]
    lengths = [(3, 3), (51, 3), (4, 20), (1, 11)]
    assert [judge.accept_pieces([0] * s, [0] * t) for s, t in lengths] == [True, False, False, True]
    assert judge.summary() == "7 pairs read, 2 kept; left out: 2 empty, 1 duplicate, 1 too long, 1 length ratio"


def test_summary_without_anything_left_out() -> None:
    judge = cleaner()
    for i in range(1234):
        assert judge.accept_text(f"s{i}", "t")
    assert judge.summary() == "1,234 pairs read, 1,234 kept"


def test_duplicates_are_kept_on_request() -> None:
    judge = cleaner(keep_duplicates=True)
    assert [judge.accept_text("a", "b") for _ in range(3)] == [True] * 3


def test_same_source_with_another_target_is_no_duplicate() -> None:
    judge = cleaner()
    assert judge.accept_text("a", "b") and judge.accept_text("a", "c") and judge.accept_text("b", "a")


def test_tab_inside_a_text_does_not_make_two_pairs_alike() -> None:
    judge = cleaner()
    assert judge.accept_text("a\tb", "c") and judge.accept_text("a", "b\tc")


@pytest.mark.parametrize(("src", "tgt", "is_kept"), [(10, 10, True), (11, 1, False), (1, 11, False), (200, 200, True)])
def test_limit_is_inclusive_on_both_sides(src: int, tgt: int, is_kept: bool) -> None:
    judge = cleaner(max_length=10 if src < 100 else 200)
    assert judge.accept_pieces([0] * src, [0] * tgt) is is_kept


@pytest.mark.parametrize(
    ("src", "tgt", "is_kept"),
    [(1, 11, True), (2, 12, True), (1, 12, False), (10, 40, True), (10, 41, False), (41, 10, False)],
)
def test_ratio_counts_only_beyond_ten_pieces_of_difference(src: int, tgt: int, is_kept: bool) -> None:
    assert cleaner().accept_pieces([0] * src, [0] * tgt) is is_kept
