"""Fonts for pictures: whatever the script, a letter is drawn; above all Hangul is.

Latin, Greek, Cyrillic and the piece marker `▁` come from DejaVu Sans, which matplotlib brings along. Kana and 30,000
Han characters, simplified and traditional, come from Noto Sans SC, which the package zhplot holds, and Hangul from
NanumGothic, which koreanize-matplotlib holds. These packages change matplotlib's settings when they are imported; so
they never are, only their font files are used.
"""

from __future__ import annotations

import functools
import importlib.util
from pathlib import Path

from matplotlib import font_manager

LATIN = "DejaVu Sans"
# Han before Hangul: NanumGothic has some Han too, and two characters of one word shall look alike.
_BUNDLED = {"zhplot": "NotoSansSC-Regular.ttf", "koreanize_matplotlib": "NanumGothic.ttf"}
# Used too where the machine has them: for rare characters, or for lack of those packages.
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
    for file in _bundled_files():
        manager.addfont(file)
        families.append(font_manager.get_font(file).family_name)
    installed = set(manager.get_font_names())
    return (*families, *(name for name in _SYSTEM_FAMILIES if name in installed))


def drawable(text: str) -> str:
    """The text with a box in the place of each character that no font here has."""
    covered = _covered()
    return "".join(c if ord(c) in covered else _NOT_DRAWABLE for c in text)


def _bundled_files() -> list[Path]:
    files = []
    for package, name in _BUNDLED.items():
        spec = importlib.util.find_spec(package)  # finds a top-level package without running it
        folders = spec.submodule_search_locations if spec else None
        files += [Path(folder) / "fonts" / name for folder in folders or ()]
    return [file for file in files if file.exists()]


@functools.cache
def _covered() -> frozenset[int]:
    files = [font_manager.findfont(family, fallback_to_default=False) for family in font_families()]
    return frozenset(code for file in files for code in font_manager.get_font(file).get_charmap())
