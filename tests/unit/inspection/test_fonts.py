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
    "昨日はカフェに行きました。駅の前で友達を待っています。",
    "我昨天去了咖啡馆，天气很好。他们在学校里学习中文，这个问题怎么说？",
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


def test_every_hangul_syllable_is_in_a_bundled_font() -> None:
    assert {chr(code) for code in range(ord("가"), ord("힣") + 1)} <= bundled_characters()


@pytest.mark.parametrize(
    ("encoding", "leads", "count"),
    [("gb2312", range(0xB0, 0xF8), 6763), ("euc_jp", range(0xB0, 0xF5), 6355), ("big5", range(0xA4, 0xC7), 5401)],
)
def test_common_han_of_china_japan_and_taiwan_is_in_a_bundled_font(encoding: str, leads: range, count: int) -> None:
    pairs = (bytes([lead, trail]) for lead in leads for trail in range(0x40, 0xFF))
    characters = {pair.decode(encoding, errors="ignore") for pair in pairs} - {""}
    assert sum(len(character) == 1 and character >= "一" for character in characters) >= count
    assert {character for character in characters if character >= "一"} <= bundled_characters()


def bundled_characters() -> set[str]:
    files = fonts._bundled_files()
    assert len(files) == 2, "zhplot and koreanize-matplotlib belong to the dependencies"
    return {chr(code) for file in files for code in font_manager.get_font(file).get_charmap()}


def test_character_that_no_font_has_becomes_a_box() -> None:
    unassigned = "\U000e0fff"
    assert fonts.drawable(f"가{unassigned}a") == "가□a"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        draw(fonts.drawable(f"가{unassigned}a"))


def test_packages_with_the_fonts_are_not_imported() -> None:
    fonts.font_families()
    assert not {"koreanize_matplotlib", "zhplot"} & set(sys.modules)
