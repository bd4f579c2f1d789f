"""Fonts for pictures: whatever the script, a letter is drawn; above all Hangul is.

Latin, Greek, Cyrillic and the piece marker `▁` come from DejaVu Sans, which matplotlib brings along. Hangul, Kana
and 4,620 Han characters come from NanumGothic, whose files the package koreanize-matplotlib holds. That package
changes matplotlib's settings when it is imported; so it is never imported, only its files are used.
"""

from __future__ import annotations

import functools
import importlib.util
from pathlib import Path

from matplotlib import font_manager

_LATIN = "DejaVu Sans"
_PACKAGE, _FILES = "koreanize_matplotlib", ("NanumGothic.ttf", "NanumGothicBold.ttf")
# Used too where the machine has them: for the Han characters that NanumGothic lacks, and for lack of NanumGothic.
_SYSTEM_FAMILIES = (
    "Noto Sans CJK KR",
    "Noto Sans KR",
    "Noto Sans CJK JP",
    "Noto Sans CJK SC",
    "Apple SD Gothic Neo",
    "Malgun Gothic",
    "Microsoft YaHei",
    "Arial Unicode MS",
)
_NOT_DRAWABLE = "□"


@functools.cache
def font_families() -> tuple[str, ...]:
    """Families for matplotlib's `family=`, tried in this order for each character."""
    manager = font_manager.fontManager
    families = [_LATIN]
    for file in _bundled_files():
        manager.addfont(file)
        name = font_manager.get_font(file).family_name
        if name not in families:
            families.append(name)
    installed = set(manager.get_font_names())
    return (*families, *(name for name in _SYSTEM_FAMILIES if name in installed))


def drawable(text: str) -> str:
    """The text with a box in the place of each character that no font here has."""
    covered = _covered()
    return "".join(c if ord(c) in covered else _NOT_DRAWABLE for c in text)


def _bundled_files() -> list[Path]:
    spec = importlib.util.find_spec(_PACKAGE)  # finds a top-level package without running it
    folders = spec.submodule_search_locations if spec else None
    files = [Path(folder) / "fonts" / name for folder in folders or () for name in _FILES]
    return [file for file in files if file.exists()]


@functools.cache
def _covered() -> frozenset[int]:
    files = [font_manager.findfont(family, fallback_to_default=False) for family in font_families()]
    return frozenset(code for file in files for code in font_manager.get_font(file).get_charmap())
