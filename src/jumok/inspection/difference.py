"""Which words of a translation differ from the reference."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

# With the space before it: a word, or a character that is none; in a script without spaces every character.
_WORD = re.compile(r"\s*(?:\w+(?:['’]\w+)*|[^\w\s]|$)")
_LETTER = re.compile(r"\s*(?:\S|$)")
Marked = list[tuple[str, bool]]  # parts of a text in order, and whether each differs


def mark_differences(text: str, other: str, has_spaces: bool = True) -> tuple[Marked, Marked]:
    """Both texts in parts, those that the other lacks being marked; the parts together are the text."""
    unit = _WORD if has_spaces else _LETTER
    left, right = unit.findall(text), unit.findall(other)
    matcher = difflib.SequenceMatcher(None, _bare(left), _bare(right), autojunk=False)
    marked_left: Marked = []
    marked_right: Marked = []
    for kind, left_from, left_to, right_from, right_to in matcher.get_opcodes():
        marked_left += _mark(left[left_from:left_to], kind != "equal")
        marked_right += _mark(right[right_from:right_to], kind != "equal")
    return marked_left, marked_right


def _bare(words: Sequence[str]) -> list[str]:
    return [word.strip() for word in words]


def _mark(words: Sequence[str], differs: bool) -> Marked:
    """The space before a difference is no part of it."""
    text = "".join(words)
    bare = text.lstrip() if differs else text
    space = text[: len(text) - len(bare)]
    return [part for part in ((space, False), (bare, differs)) if part[0]]
