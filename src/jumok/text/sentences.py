"""Splitting a long text where a sentence ends, and joining what was made of the parts."""

from __future__ import annotations

import re
from collections.abc import Callable

from jumok.text.languages import language

# A sentence ends after . ! ? … and closing quotes before a space, or after 。！？ anywhere.
_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’“»)\]]*\s+|(?<=[。！？])(?![。！？])[」』”’）]*\s*")


_SPACE = re.compile(r"\s+")


def split_sentences(text: str) -> list[str]:
    """Sentences in order, nothing lost but the white space between them."""
    return [part.strip() for part in _cut(text, _SENTENCE_END) if part.strip()]


def pack_sentences(text: str, usual_pieces: int, count_pieces: Callable[[str], int]) -> list[str]:
    """Neighbouring sentences together while they are no longer than usual; one that is longer stays as it is.

    A model that has only seen short texts leaves most of a long one out, though it could read all of it.
    """
    parts: list[str] = []
    for sentence in split_sentences(text):
        if parts and count_pieces(f"{parts[-1]} {sentence}") <= usual_pieces:
            parts[-1] += f" {sentence}"
        else:
            parts.append(sentence)
    return parts


def split_long(text: str, max_pieces: int, count_pieces: Callable[[str], int]) -> list[str]:
    """Cut a text into parts of at most `max_pieces`: at sentence ends, else at spaces, else between characters."""
    if count_pieces(text) <= max_pieces:
        return [text]
    for boundary in (_SENTENCE_END, _SPACE):
        units = _cut(text, boundary)
        if len(units) > 1:
            return _pack(units, max_pieces, count_pieces)
    if len(text) < 2:
        return [text]
    middle = len(text) // 2
    return [part for half in (text[:middle], text[middle:]) for part in split_long(half, max_pieces, count_pieces)]


def join_parts(parts: list[str], target: str) -> str:
    """Put the translations of the parts of one text together again."""
    return (" " if language(target).has_spaces else "").join(part for part in parts if part)


def _cut(text: str, boundary: re.Pattern[str]) -> list[str]:
    """Cut behind every boundary; put together, the parts are the text again."""
    ends = [match.end() for match in boundary.finditer(text)] + [len(text)]
    starts = [0, *ends[:-1]]
    return [text[start:end] for start, end in zip(starts, ends, strict=True) if start < end]


def _pack(units: list[str], max_pieces: int, count_pieces: Callable[[str], int]) -> list[str]:
    """As many neighbouring units in a part as fit; a unit that is too long by itself is split further."""
    parts: list[str] = []
    current = ""
    for unit in units:
        if count_pieces((current + unit).strip()) <= max_pieces:
            current += unit
            continue
        if current.strip():
            parts.append(current.strip())
        current = ""
        if count_pieces(unit.strip()) <= max_pieces:
            current = unit
        else:
            parts.extend(split_long(unit.strip(), max_pieces, count_pieces))
    if current.strip():
        parts.append(current.strip())
    return parts
