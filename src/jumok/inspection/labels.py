"""Pieces as a person reads them: bytes as the character they spell, nothing that would not show."""

from __future__ import annotations

import re
from collections.abc import Sequence

CONTINUED = "·"  # label of a byte that belongs to the character before it
_BYTE = re.compile(r"<0x([0-9A-F]{2})>")
_SPECIAL = {"<s>", "</s>", "<pad>", "<unk>"}


def label_pieces(pieces: Sequence[str]) -> list[str]:
    """One label a piece; where bytes spell a character, the first shows it and the others `CONTINUED`."""
    labels: list[str] = []
    while len(labels) < len(pieces):
        character, num_pieces = _character_at(pieces, len(labels))
        labels.append(character or pieces[len(labels)])
        labels += [CONTINUED] * (num_pieces - 1)
    return labels


def join_pieces(pieces: Sequence[str]) -> str:
    """The text that the pieces spell, without begin and end."""
    text, position = "", 0
    while position < len(pieces):
        character, num_pieces = _character_at(pieces, position)
        piece = pieces[position]
        text += character or ("" if piece in _SPECIAL else piece)
        position += num_pieces
    return text.replace("▁", " ").strip()


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
