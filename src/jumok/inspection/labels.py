"""Pieces as a person reads them: bytes as characters, words where they stand, nothing that would not show."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jumok.decoding.alignment import word_of_piece
from jumok.text.normalization import normalize
from jumok.text.tokenizer import UNKNOWN
from jumok.text.words import as_written

CONTINUED = "·"  # label of a byte that belongs to the character before it
_BYTE = re.compile(r"<0x([0-9A-F]{2})>")
_ENDS = {"<s>", "</s>", "<pad>"}


@dataclass(frozen=True)
class Span:
    """A text and the pieces that spell it."""

    text: str
    start: int
    end: int  # behind the last


def label_pieces(pieces: Sequence[str]) -> list[str]:
    """One label a piece; where bytes spell a character, the first shows it and the others `CONTINUED`."""
    return [label for span in _units(pieces) for label in (span.text, *[CONTINUED] * (span.end - span.start - 1))]


def join_pieces(pieces: Sequence[str]) -> str:
    """The text that the pieces spell, without begin and end."""
    return _text(_units(pieces))


def words_of(pieces: Sequence[str], has_spaces: bool = True) -> list[Span]:
    """The words as spaces cut them; without spaces the pieces. Begin and end are no words."""
    units = [unit for unit in _units(pieces) if unit.text not in _ENDS]
    numbers = word_of_piece([unit.text for unit in units], has_spaces)
    parts: dict[int, list[Span]] = {}
    for number, unit in zip(numbers, units, strict=True):
        parts.setdefault(number, []).append(unit)
    words = [Span(_text(of_word), of_word[0].start, of_word[-1].end) for of_word in parts.values()]
    return [word for word in words if word.text]


def find_text(pieces: Sequence[str], wanted: str, has_spaces: bool = True) -> list[Span]:
    """Where this text stands: as whole words if it does, else as pieces of words, else the words that hold it."""
    if wanted in _ENDS:
        return [Span(wanted, i, i + 1) for i, piece in enumerate(pieces) if piece == wanted]
    wanted, units = normalize(wanted).casefold(), list(_units(pieces))
    found: dict[int, tuple[int, int]] = {}  # by the end: a ▁ by itself belongs to what it stands before
    for first in range(len(units)):
        for end in range(first + 1, len(units) + 1):
            text = _text(units[first:end]).casefold()
            if text == wanted and wanted and _text(units[end - 1 : end]):
                found.setdefault(end, (first, end))
            if len(text) > len(wanted):
                break
    if not found:
        return [word for word in words_of(pieces, has_spaces) if wanted and wanted in word.text.casefold()]
    whole = [place for place in found.values() if _is_whole(units, *place)]
    return [
        Span(_text(units[first:end]), units[first].start, units[end - 1].end)
        for first, end in whole or list(found.values())
    ]


def _is_whole(units: Sequence[Span], first: int, end: int) -> bool:
    """Whether no letter touches it."""
    before = units[first - 1].text if first and not units[first].text.startswith("▁") else ""
    behind = units[end].text if end < len(units) and units[end].text not in _ENDS else ""
    return not before[-1:].isalnum() and not behind[:1].isalnum()


def _text(units: Iterator[Span] | Sequence[Span]) -> str:
    return "".join(unit.text for unit in units if unit.text not in _ENDS).replace("▁", " ").strip()


def _units(pieces: Sequence[str]) -> Iterator[Span]:
    """The pieces, those that spell a character together as one."""
    written = as_written(f"▁{UNKNOWN}" if piece == "<unk>" else piece for piece in pieces)
    start = 0
    while start < len(written):
        character, num_pieces = _character_at(written, start)
        yield Span(character or written[start], start, start + num_pieces)
        start += num_pieces


def _character_at(pieces: Sequence[str], start: int) -> tuple[str | None, int]:
    """The character that byte pieces spell from `start` on, if they do, and how many pieces it takes."""
    spelled = b""
    for piece in pieces[start : start + 4]:  # UTF-8 has four bytes a character at most
        byte = _BYTE.fullmatch(piece)
        if not byte:
            break
        spelled += bytes.fromhex(byte.group(1))
        try:
            character = spelled.decode()
        except UnicodeDecodeError:
            continue
        return (character, len(spelled)) if character.isprintable() else (None, 1)  # it has to show
    return None, 1
