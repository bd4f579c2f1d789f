"""Arcs of one word: drawn for every kind, in any script, in colours that a head keeps."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable

import numpy as np
import pytest
from PIL import Image

from jumok.inspection.arcs import arcs_sheet, head_colors
from jumok.inspection.kinds import Kind
from jumok.inspection.selection import Selection, choose_word
from jumok.inspection.trace import AttentionTrace


@pytest.mark.parametrize(
    ("kind", "word"), [("cross", "cafe"), ("cross", "카페"), ("encoder", "1"), ("decoder", "like")]
)
def test_every_kind_shows_something(trace: AttentionTrace, kind: Kind, word: str) -> None:
    sheet = arcs_sheet(trace, Selection.of(trace, kind), choose_word(trace, kind, word), num_heads=4)
    with Image.open(io.BytesIO(sheet.render("png"))) as image:
        pixels = np.asarray(image.convert("RGB")).astype(int)
    assert len(np.unique(pixels.max(axis=2) - pixels.min(axis=2))) > 20  # colours, not only grey


def test_no_glyph_is_missing(make_trace: Callable[[str, str], AttentionTrace]) -> None:
    trace = make_trace("뷁은 さくら와 漢字 天气", "昨日 카페 ü $5")
    sheet = arcs_sheet(trace, Selection.of(trace, "cross", [0]), choose_word(trace, "cross", "카페"), num_heads=4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        svg = sheet.render("svg")
    assert b"<text" not in svg and svg == sheet.render("svg")  # letters are outlines; the same bytes each time


def test_a_panel_a_layer(trace: AttentionTrace) -> None:
    word = choose_word(trace, "encoder", "1")
    one, three = (arcs_sheet(trace, Selection.of(trace, "encoder", layers), word, 4) for layers in ([0], None))
    assert three.width * three.height > 1.8 * one.width * one.height


@pytest.mark.parametrize("num_heads", [1, 6, 8, 16])
def test_a_colour_a_head(num_heads: int) -> None:
    colors = head_colors(num_heads)
    assert len(set(colors)) == num_heads
    assert all(len(color) == 7 and color.startswith("#") for color in colors)
