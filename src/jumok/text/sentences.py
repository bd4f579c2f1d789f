"""Splitting a long text where a sentence ends, and joining what was made of the parts."""

from __future__ import annotations

import re
from collections.abc import Callable

from jumok.text.languages import language

# A sentence ends after . ! ? … and closing quotes before a space, or after 。！？ anywhere.
_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’“»)\]]*\s+|(?<=[。！？])(?![。！？])[」』”’）]*\s*")


def split_sentences(text: str) -> list[str]:
    """Sentences in order, nothing lost but the white space between them."""
    parts, start = [], 0
    for match in _SENTENCE_END.finditer(text):
        closing = match.group().rstrip()
        parts.append(text[start : match.start()] + closing)
        start = match.end()
    parts.append(text[start:])
    return [part for part in (part.strip() for part in parts) if part]


def split_long(text: str, max_pieces: int, count_pieces: Callable[[str], int]) -> list[str]:
    """Cut a text into parts of at most `max_pieces`: at sentence ends, else at spaces, else between characters."""
    if count_pieces(text) <= max_pieces:
        return [text]
    sentences = split_sentences(text)
    units = sentences if len(sentences) > 1 else text.split()
    if len(units) > 1:
        return _pack(units, max_pieces, count_pieces)
    if len(text) < 2:
        return [text]
    middle = len(text) // 2
    return [part for half in (text[:middle], text[middle:]) for part in split_long(half, max_pieces, count_pieces)]


def join_parts(parts: list[str], target: str) -> str:
    """Put the translations of the parts of one text together again."""
    return (" " if language(target).has_spaces else "").join(part for part in parts if part)


def _pack(units: list[str], max_pieces: int, count_pieces: Callable[[str], int]) -> list[str]:
    """As many neighbouring units in a part as fit; a unit that is too long by itself is split further."""
    parts: list[str] = []
    current: list[str] = []
    size = 0
    for unit in units:
        cost = count_pieces(unit)
        if current and size + cost > max_pieces:
            parts.append(" ".join(current))
            current, size = [], 0
        if cost > max_pieces:
            parts.extend(split_long(unit, max_pieces, count_pieces))
            continue
        current.append(unit)
        size += cost
    if current:
        parts.append(" ".join(current))
    return parts
