"""Pictures are written, show something, and are the same each time."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from jumok.errors import UsageError
from jumok.inspection.kinds import Kind
from jumok.inspection.pictures import draw_attention, draw_attention_grid, draw_attention_map
from jumok.inspection.selection import Selection
from jumok.inspection.sheet import label_size, picture_labels
from jumok.inspection.trace import AttentionTrace

KINDS: tuple[Kind, ...] = ("encoder", "decoder", "cross")


def assert_shows_something(path: Path, width: int, height: int) -> None:
    with Image.open(path) as image:
        assert image.width >= width and image.height >= height
        assert not {"Software", "Creation Time", "date:create"} & set(image.info)
        pixels = np.asarray(image.convert("L"))
    assert len(np.unique(pixels)) > 50
    assert (pixels < 250).mean() > 0.02


def test_grid_shows_every_head(trace: AttentionTrace, tmp_path: Path) -> None:
    heights = {}
    for kind in KINDS:
        path = tmp_path / f"{kind}.png"
        draw_attention_grid(trace, Selection.of(trace, kind), path)
        assert_shows_something(path, 1000, 500)
        with Image.open(path) as image:
            heights[kind] = image.height
    assert heights["encoder"] > heights["decoder"]  # three layers, two layers


def test_figure_for_newcomers(make_trace: Callable[[str, str], AttentionTrace], tmp_path: Path) -> None:
    draw_attention(make_trace("뷁은 さ와 葉", "<b> $5 and $6 ü"), tmp_path / "attention.png")
    assert_shows_something(tmp_path / "attention.png", 1000, 700)


def test_chosen_heads_take_less_room(trace: AttentionTrace, tmp_path: Path) -> None:
    draw_attention_grid(trace, Selection.of(trace, "encoder"), tmp_path / "all.png")
    draw_attention_grid(trace, Selection.of(trace, "encoder", [1], [0, 3]), tmp_path / "two.png")
    with Image.open(tmp_path / "all.png") as every, Image.open(tmp_path / "two.png") as two:
        assert two.height < every.height and two.width <= every.width


def test_one_head(trace: AttentionTrace, tmp_path: Path) -> None:
    draw_attention_map(trace, Selection.of(trace, "cross", [1], [2]), tmp_path / "one.png")
    assert_shows_something(tmp_path / "one.png", 1000, 700)


def test_labels_of_a_long_sentence_do_not_touch() -> None:
    for step in (0.5, 0.17, 0.1, 0.03, 0.01):
        size, every = label_size(step, 12)
        assert size >= 3.5 and size <= 72 * step * every


def test_bytes_are_drawn_as_their_characters_and_none_as_a_box(
    make_trace: Callable[[str, str], AttentionTrace],
) -> None:
    pieces = make_trace("뷁은 さくら와 漢字 天气很好", "a").src_pieces
    assert any(piece.startswith("<0x") for piece in pieces)
    labels = picture_labels(pieces)
    assert {*"뷁さくら漢字天气很好"} <= {*"".join(labels)}
    assert "□" not in "".join(labels) and not any(label.startswith("<0x") for label in labels)


def test_long_and_empty_sentences(make_trace: Callable[[str, str], AttentionTrace], tmp_path: Path) -> None:
    draw_attention(make_trace("어제 카페에 갔어요. " * 6, ""), tmp_path / "long.png")
    draw_attention(make_trace("", "I see."), tmp_path / "empty.png")
    assert all((tmp_path / name).stat().st_size > 5000 for name in ("long.png", "empty.png"))


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_same_trace_gives_same_bytes(trace: AttentionTrace, suffix: str, tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.{suffix}" for name in "ab"]
    for path in paths:
        draw_attention(trace, path)
    first, second = (path.read_bytes() for path in paths)
    assert first == second
    if suffix == "svg":
        assert b"<dc:date>" not in first and b"<text" not in first  # letters are outlines: no font is needed


def test_other_formats_are_refused(trace: AttentionTrace, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"a\.gif: a picture is written as \.png or \.svg"):
        draw_attention(trace, tmp_path / "a.gif")
    assert list(tmp_path.iterdir()) == []


def test_no_global_figure(trace: AttentionTrace, tmp_path: Path) -> None:
    draw_attention(trace, tmp_path / "a.png")
    assert "matplotlib.pyplot" not in sys.modules or not sys.modules["matplotlib.pyplot"].get_fignums()
