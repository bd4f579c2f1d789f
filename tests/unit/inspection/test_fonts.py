"""No letter is missing from a picture, whatever the machine has installed."""

from __future__ import annotations

import io
import sys
import warnings

import pytest
from matplotlib import font_manager
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from jumok.inspection import fonts

TEXTS = [
    "어제 카페에 갔어요. 뷁 힣 ㄱㅏ",
    "The quick brown fox, 0123456789",
    "▁카페 _cafe · …",
    "¿“Quoted”? (yes) [no] {so} ‘it’ – — ! ; : % & @ # § € → ² ₂",
    "Äpfel, Öl, Übung, Straße, café, ñ, Łódź, Привет, Ελλάδα",
    "ひらがな カタカナ 日本語 漢字 學校",
]


def draw(text: str) -> None:
    figure = Figure(figsize=(6, 1))
    FigureCanvasAgg(figure)
    figure.text(0.1, 0.5, text, family=fonts.font_families(), parse_math=False)
    figure.savefig(io.BytesIO(), format="png")


@pytest.mark.parametrize("text", TEXTS)
def test_no_glyph_is_missing(text: str) -> None:
    assert fonts.drawable(text) == text
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # "Glyph … missing from font(s)"
        draw(text)


def test_every_hangul_syllable_is_in_the_bundled_font() -> None:
    file = fonts._bundled_file()
    assert file is not None, "koreanize-matplotlib belongs to the dependencies"
    covered = font_manager.get_font(file).get_charmap()
    assert all(code in covered for code in range(ord("가"), ord("힣") + 1))


def test_character_that_no_font_has_becomes_a_box() -> None:
    unassigned = "\U000e0fff"
    assert fonts.drawable(f"가{unassigned}a") == "가□a"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        draw(fonts.drawable(f"가{unassigned}a"))


def test_package_with_the_font_is_not_imported() -> None:
    fonts.font_families()
    assert "koreanize_matplotlib" not in sys.modules
