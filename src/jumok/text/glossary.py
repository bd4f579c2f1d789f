"""A glossary: terms of the source that must come out as given terms of the target.

A file of two columns with a tab between them, UTF-8, a term a line; empty lines and lines with # in front are skipped:

    카페	coffee house
    NATO	OTAN

What counts as an occurrence:

- Capitals do not matter, unless the term has one behind its first letter: `NATO` and `iPhone` are found as they are
  written, `cafe` and `Cafe` are the same term and also found in `CAFE`.
- A term is whole words: `cafe` is not in `cafeteria`. A Korean noun carries its particles, so that a Korean term is
  found at the beginning of a word (카페 in 카페에서). Where words are not separated by spaces a term is found anywhere.
  Only letters that have capitals, and digits, are never cut apart: `IT` is in `IT는` and not in `ITEM`.
- The longest term wins, from left to right, and no two share a letter. A longer term shields a word from a shorter one:
  with 카페인 in the glossary it is no longer 카페.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate
from pathlib import Path

from jumok.errors import DataError, UsageError
from jumok.text.languages import language
from jumok.text.normalization import normalize
from jumok.text.tokenizer import UNK_ID, Tokenizer

_NOT_IN_ANY_VOCABULARY = "\ue000"  # private use: spelled in bytes or unknown, so that nothing is joined to it
_BYTE = re.compile("<0x[0-9A-F]{2}>")


@dataclass(frozen=True)
class Entry:
    """A term, its translation, and where it was read."""

    source: str
    target: str
    line: int = 0


class Glossary:
    """Terms to look for in texts of one language."""

    def __init__(self, entries: Iterable[Entry], source_language: str, name: str = "glossary") -> None:
        self._has_spaces = language(source_language).has_spaces
        self._has_particles = language(source_language).code == "ko"
        self._as_written: dict[str, Entry] = {}
        self._in_small: dict[str, Entry] = {}
        for entry in entries:
            if _has_inner_capital(entry.source):
                known = self._as_written.setdefault(entry.source, entry)
            else:
                known = self._in_small.setdefault(entry.source.lower(), entry)
            if known.target != entry.target:
                raise DataError(
                    f"{name}:{entry.line}: {entry.source!r} is to become {entry.target!r}, but by line {known.line} "
                    f"it is to become {known.target!r}; keep one of them"
                )
        terms = [*self._as_written, *self._in_small]
        self._lengths = sorted(set(map(len, terms)), reverse=True)

    @classmethod
    def read(cls, path: str | Path, source_language: str) -> Glossary:
        """Read a file of two columns; what is wrong with it is said with its line."""
        entries = list(_read(Path(path)))
        if not entries:
            raise DataError(f"{path}: has no terms; expected lines of a source term, a tab and a target term")
        return cls(entries, source_language, str(path))

    def __len__(self) -> int:
        return len(self._as_written) + len(self._in_small)

    def find(self, text: str) -> list[str]:
        """The target term of each occurrence of a source term, in the order of the text."""
        return [target for target, _, _ in self._occurrences(_tidy(text))]

    def terms(
        self, text: str, src_tokenizer: Tokenizer, tgt_tokenizer: Tokenizer, target_language: str
    ) -> tuple[Term, ...]:
        """The same in pieces of the target, each with the pieces of the source that it stands for."""
        text = re.sub(" +", " ", normalize(text))  # as SentencePiece does it, to which other white space is no space
        occurrences = list(self._occurrences(re.sub(r"\s", " ", text)))
        if not occurrences:
            return ()
        ends = _piece_ends(src_tokenizer.pieces(text))
        terms = []
        for target, start, end in occurrences:
            first, last = (len(f" {text[:place]}".encode()) for place in (start, end))  # in bytes, as the pieces' ends
            at = [place for place, piece_end in enumerate(ends) if piece_end > first and [0, *ends][place] < last]
            terms.append(replace(term_ids(tgt_tokenizer, target, target_language), at=tuple(at)))
        return tuple(terms)

    def _occurrences(self, text: str) -> Iterator[tuple[str, int, int]]:
        """Target term, start and end of each."""
        place = 0
        while place < len(text):
            target, length = self._longest_at(text, place)
            if target is not None:
                yield target, place, place + length
            place += length

    def _longest_at(self, text: str, start: int) -> tuple[str | None, int]:
        """The target of the longest term that begins here, and how far to go on.

        Looked up once for each length that a term has: the time does not grow with the number of terms.
        """
        is_free = not self._has_spaces
        if start and self._is_one_word(text[start - 1], text[start], is_free):
            return None, 1
        for length in self._lengths:
            end = start + length
            part = text[start:end]
            entry = self._as_written.get(part) or self._in_small.get(part.lower())
            is_at_end = end >= len(text)
            if entry and (is_at_end or not self._is_one_word(part[-1], text[end], is_free or self._has_particles)):
                return entry.target, len(part)
        return None, 1

    @staticmethod
    def _is_one_word(before: str, after: str, is_free: bool) -> bool:
        """Whether two neighbouring characters belong together; where terms are free, only cased letters and digits."""
        return all(_has_case(char) if is_free else _is_of_word(char) for char in (before, after))


@dataclass(frozen=True)
class Term:
    """A target term in pieces: it must occur in a translation in one of its spellings."""

    spellings: tuple[tuple[int, ...], ...]
    not_before: frozenset[int] = frozenset()  # pieces that right behind it would make another word of it
    word_starts: frozenset[int] | None = None  # pieces that it can stand in place of; None: all
    at: tuple[int, ...] = ()  # places of the source's pieces that it is the translation of, if they are known


def term_ids(tokenizer: Tokenizer, term: str, target_language: str) -> Term:
    """Spell a target term in the pieces of a tokenizer, in every way that it can stand in a translation.

    Where words are separated by spaces, a term is whole words: it begins one, and no letter or digit follows it
    (`lad`, `ders` would be ladders). A Korean noun may carry its particles. Without spaces, a term has a ▁ before it at
    the beginning of a sentence and none elsewhere, and anything may follow.
    """
    own = tuple(tokenizer.encode([term])[0])
    if UNK_ID in own:
        raise UsageError(f"glossary: {term!r}: the model's vocabulary cannot spell it")
    if language(target_language).has_spaces:
        starts, continuing = _pieces_of_words(tokenizer)
        return Term((own,), frozenset() if language(target_language).code == "ko" else continuing, starts)
    before, whole = tokenizer.encode([_NOT_IN_ANY_VOCABULARY, _NOT_IN_ANY_VOCABULARY + term])
    return Term(tuple(dict.fromkeys((own, tuple(whole[len(before) :])))))


@lru_cache(maxsize=4)
def _pieces_of_words(tokenizer: Tokenizer) -> tuple[frozenset[int], frozenset[int]]:
    """Pieces that begin a word, and pieces that go on with one: letters, digits and the bytes that can spell them."""
    pieces = list(enumerate(tokenizer.id_to_piece(range(tokenizer.vocab_size))))
    return (
        frozenset(place for place, piece in pieces if piece.startswith("▁")),
        frozenset(place for place, piece in pieces if _is_of_word(piece[0]) or _BYTE.fullmatch(piece)),
    )


def _piece_ends(pieces: list[str]) -> list[int]:
    """How many bytes of the text each piece ends behind; a text begins with the space that its first ▁ stands for."""
    sizes = [1 if _BYTE.fullmatch(piece) else len(piece.replace("▁", " ").encode()) for piece in pieces]
    return list(accumulate(sizes))


def _read(path: Path) -> Iterator[Entry]:
    try:
        lines = path.read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n")
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}; expected a glossary of two columns") from None
    for number, raw in enumerate(lines, 1):
        try:
            line = raw.decode("utf-8").removesuffix("\r")
        except UnicodeDecodeError:
            raise DataError(f"{path}:{number}: is not UTF-8; save the glossary as UTF-8") from None
        if not line.strip() or line.startswith("#"):
            continue
        columns = [_tidy(column) for column in line.split("\t")]
        if len(columns) != 2:
            raise DataError(
                f"{path}:{number}: expected two columns, a source term, a tab and a target term; found {len(columns)}"
            )
        if not all(columns):
            side = "target" if columns[0] else "source"
            raise DataError(f"{path}:{number}: the {side} term is empty; write it or delete the line")
        yield Entry(columns[0], columns[1], number)


def _tidy(text: str) -> str:
    return " ".join(normalize(text).split())


def _has_inner_capital(term: str) -> bool:
    return term[1:] != term[1:].lower()


def _is_of_word(char: str) -> bool:
    return char.isalnum() or unicodedata.category(char).startswith("M")  # vowel signs and accents too


def _has_case(char: str) -> bool:
    return char.isdigit() or char.lower() != char.upper()
