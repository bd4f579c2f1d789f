"""The PNG files: there, the same every time, and names apart from each other."""

from __future__ import annotations

import itertools

import pytest

from jumok.comparison.label_placement import Box, _box_of, place_labels, spread, text_width
from jumok.comparison.plots import draw_bleu_flops, write_plots


def test_three_pictures_of_a_comparison_the_same_every_time(tmp_path, a_comparison, some_measures):
    paths = write_plots(a_comparison(), tmp_path, some_measures)
    assert [path.name for path in paths] == ["bleu-flops.png", "bleu-length.png", "table1.png"]
    first = [path.read_bytes() for path in paths]
    assert all(data.startswith(b"\x89PNG") and len(data) > 10_000 for data in first)
    assert [path.read_bytes() for path in write_plots(a_comparison(), tmp_path, some_measures)] == first
    assert len(list(tmp_path.iterdir())) == 3


def test_what_has_no_figures_has_no_picture(tmp_path, a_comparison):
    failed = a_comparison().systems[2]
    assert write_plots(a_comparison(systems=(failed,)), tmp_path) == []


def test_equal_cost_of_all_is_drawn_too(tmp_path, a_comparison, a_system):
    systems = tuple(a_system(str(i), f"체계 {i}", 20 + i / 3, 4e14) for i in range(8))
    draw_bleu_flops(a_comparison(systems=systems, baseline="0"), tmp_path / "equal.png")


@pytest.mark.parametrize("is_column", [True, False], ids=["one above the other", "in a crowd"])
def test_names_cover_neither_each_other_nor_a_point(is_column):
    points = [(240.0 if is_column else 200.0 + 13 * (i % 4), 60.0 + 14 * i) for i in range(14)]
    texts = [f"Luong attention, 체계 {i}" for i in range(14)]
    labels = place_labels(points, texts, Box(0, 0, 480, 320), 11)
    boxes = [_box_of(label, text_width(label.text, 11), 11) for label in labels]
    assert all(one.overlap(other) == 0 for one, other in itertools.combinations(boxes, 2))
    assert all(box.overlap(Box(x - 3, y - 3, x + 3, y + 3)) == 0 for box in boxes for x, y in points)
    assert all(box.outside(Box(0, 0, 480, 320)) == 0 for box in boxes)


def test_names_at_the_ends_of_lines_keep_their_order_and_their_gap():
    placed = spread([50, 10, 52, 51, 200], gap=15, low=0, high=220)
    assert sorted(range(5), key=lambda i: placed[i]) == [1, 0, 3, 2, 4]
    ordered = sorted(placed)
    assert all(after - before >= 14.9 for before, after in itertools.pairwise(ordered))
    assert ordered[0] >= 0 and ordered[-1] <= 220
    assert len(spread([5.0] * 40, gap=15, low=0, high=100)) == 40  # more than have room: closer, but all inside
