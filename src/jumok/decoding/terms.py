"""Which terms a translation has said so far, and what it could say next to say the others.

A row of pieces can be read in several ways: after `New York` it may have said the term `New York`, or be in the middle
of `New York City`, or neither. All readings are followed side by side, so that what counts is the best one, terms may
begin alike or hold each other, and two terms never share a piece.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from jumok.text.glossary import Term


@dataclass(frozen=True)
class Reading:
    """One way to read what was said: the terms in it, and perhaps one more that has begun."""

    said: frozenset[int] = frozenset()
    last: int | None = None  # the term that the last piece completed, if it did
    begun: int | None = None  # a term of which only the first pieces have been said
    rest: tuple[int, ...] = ()  # its pieces that must follow, or it is broken off and this reading is wrong


Readings = frozenset[Reading]


@dataclass(frozen=True)
class Terms:
    """The terms that one translation must hold."""

    terms: tuple[Term, ...]

    def __post_init__(self) -> None:
        assert all(term.spellings and all(term.spellings) for term in self.terms), "a term has at least a piece"

    @property
    def start(self) -> Readings:
        """Nothing has been said."""
        return frozenset([Reading()])

    @cached_property
    def num_pieces(self) -> int:
        """How many pieces it takes to say all of them."""
        return self.num_missing(self.start)

    def advance(self, readings: Readings, piece: int) -> Readings:
        """How it reads with one more piece."""
        following = set()
        for reading in readings:
            if reading.begun is not None:
                if reading.rest[0] == piece:
                    following.add(_after(reading.said, reading.begun, reading.rest[1:]))
                continue
            if reading.last is not None and self._is_other_word(reading.last, piece):
                continue
            following.add(Reading(reading.said))
            for term in self._open(reading.said):
                for spelling in self.terms[term].spellings:
                    if spelling[0] == piece:
                        following.add(_after(reading.said, term, spelling[1:]))
        return frozenset(reading for reading in following if not any(_says_more(other, reading) for other in following))

    def num_missing(self, readings: Readings) -> int:
        """How many pieces it takes at least to say what has not been said; 0: all terms are in it."""
        return min(self._missing(reading) for reading in readings)

    def next_pieces(self, readings: Readings) -> set[int]:
        """The pieces that begin a term, or go on with the one that has begun, where it reads best."""
        pieces: set[int] = set()
        for reading in readings:
            if self._missing(reading) > self.num_missing(readings):
                continue
            if reading.begun is not None:
                pieces.add(reading.rest[0])
            else:
                pieces |= {spelling[0] for term in self._open(reading.said) for spelling in self.terms[term].spellings}
        return pieces

    def not_next(self, readings: Readings) -> frozenset[int]:
        """The pieces that would make another word of the term that was said last."""
        last = [reading.last for reading in readings if reading.last is not None]
        return self.terms[last[0]].not_before if last else frozenset()

    def are_in(self, ids: Sequence[int]) -> bool:
        """Whether a translation holds all terms, none of them sharing a piece with another."""
        readings = self.start
        for piece in ids:
            readings = self.advance(readings, piece)
        return self.num_missing(readings) == 0

    def _is_other_word(self, term: int, piece: int) -> bool:
        """Whether a term with this piece behind it is none; what begins a term may always follow."""
        return piece in self.terms[term].not_before and piece not in self._first_pieces

    @cached_property
    def _first_pieces(self) -> frozenset[int]:
        return frozenset(spelling[0] for term in self.terms for spelling in term.spellings)

    def _missing(self, reading: Reading) -> int:
        others = (term for place, term in enumerate(self.terms) if place not in reading.said and place != reading.begun)
        return len(reading.rest) + sum(min(map(len, term.spellings)) for term in others)

    def _open(self, said: frozenset[int]) -> list[int]:
        """The terms that can begin: of equal ones only the first, or there would be as many readings of one text."""
        unsaid = {self.terms[place].spellings: place for place in reversed(range(len(self.terms))) if place not in said}
        return list(unsaid.values())


def _after(said: frozenset[int], term: int, rest: tuple[int, ...]) -> Reading:
    return Reading(said, begun=term, rest=rest) if rest else Reading(said | {term}, last=term)


def _says_more(other: Reading, reading: Reading) -> bool:
    """Whether a reading is of no use beside another that stands where it stands and has said all that it has."""
    return (
        other.said > reading.said
        and (other.begun, other.rest) == (reading.begun, reading.rest)
        and other.last in (None, reading.last)
    )
