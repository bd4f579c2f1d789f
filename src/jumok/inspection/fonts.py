"""Fonts for pictures: whatever the script, a letter is drawn; above all Hangul is.

Latin, Greek, Cyrillic and the piece marker `▁` come from DejaVu Sans, which matplotlib brings along. Hangul,
Kana and 4,620 Han characters come from NanumGothic, which the package koreanize-matplotlib holds. That package
changes matplotlib's settings when it is imported; so it is never imported, only its font file is used.
"""

from __future__ import annotations

import functools
import importlib.util
from pathlib import Path

from matplotlib import font_manager

LATIN = "DejaVu Sans"
_HANGUL_PACKAGE, _HANGUL_FILE = "koreanize_matplotlib", "NanumGothic.ttf"
# Used too where the machine has them: for Han characters that NanumGothic lacks, or for lack of NanumGothic.
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
    families = [LATIN]
    if file := _bundled_file():
        manager.addfont(file)
        families.append(font_manager.get_font(file).family_name)
    installed = set(manager.get_font_names())
    return (*families, *(name for name in _SYSTEM_FAMILIES if name in installed))


def drawable(text: str) -> str:
    """The text with a box in the place of each character that no font here has."""
    covered = _covered()
    return "".join(c if ord(c) in covered else _NOT_DRAWABLE for c in text)


def _bundled_file() -> Path | None:
    spec = importlib.util.find_spec(_HANGUL_PACKAGE)  # finds a top-level package without running it
    folders = spec.submodule_search_locations if spec else None
    files = [Path(folder) / "fonts" / _HANGUL_FILE for folder in folders or ()]
    return next((file for file in files if file.exists()), None)


@functools.cache
def _covered() -> frozenset[int]:
    files = [font_manager.findfont(family, fallback_to_default=False) for family in font_families()]
    return frozenset(code for file in files for code in font_manager.get_font(file).get_charmap())
