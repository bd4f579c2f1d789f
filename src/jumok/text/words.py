"""Words and punctuation marks as pieces, for vocabularies of whole words.

    (Hund.    ->   ▁(￭  ▁Hund  .      in the vocabulary
              ->   ▁(   Hund   .      as they stand in the text, ▁ where there is a space

A word is spelled the same wherever it stands: which side has no space is said by the punctuation mark. One without ▁
follows directly, behind one with ￭ the next word does. So "Hund." and "(Hund" have the word "Hund", and every text can
be put together again.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import groupby, pairwise

_START, _JOIN = "▁", "￭"
_TAKEN = str.maketrans({_START: " ", _JOIN: "■"})  # what a text may not hold, as it comes back


def split_words(text: str) -> list[str]:
    """Words, and punctuation marks one by one, as they stand in the text."""
    pieces: list[str] = []
    for chunk in text.translate(_TAKEN).split():
        if chunk.isalnum():
            pieces.append(_START + chunk)
            continue
        parts = [
            part
            for is_mark, characters in groupby(chunk, _is_mark)
            for part in (characters if is_mark else ["".join(characters)])
        ]
        pieces += [_START + parts[0], *parts[1:]]
    return pieces


def as_known(pieces: Sequence[str]) -> list[str]:
    """Pieces of a text as the vocabulary spells them."""
    known = []
    for piece, following in pairwise([*pieces, _START]):
        if is_word(piece):
            known.append(_START + piece.removeprefix(_START))
        else:
            known.append(piece + _JOIN if is_word(following) and not following.startswith(_START) else piece)
    return known


def as_written(known: Iterable[str]) -> list[str]:
    """Pieces of the vocabulary as they stand in a text: the inverse of `as_known`."""
    pieces = []
    is_joined = False
    for piece in known:
        pieces.append(piece.removesuffix(_JOIN).removeprefix(_START if is_joined else ""))
        is_joined = piece.endswith(_JOIN)
    return pieces


def join_words(known: Iterable[str]) -> str:
    """The text of pieces of the vocabulary."""
    return "".join(as_written(known)).replace(_START, " ").strip()


def is_word(piece: str) -> bool:
    """Whether a piece is a word: letters, digits or anything else that is no punctuation mark and no symbol."""
    character = piece.removeprefix(_START)[:1]
    return bool(character) and not _is_mark(character)


@lru_cache(maxsize=4096)
def _is_mark(character: str) -> bool:
    return unicodedata.category(character)[0] in "PS"
