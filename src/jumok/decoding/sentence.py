"""What a search is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jumok.text.glossary import Term


@dataclass(frozen=True)
class Sentence:
    """A source in pieces, and what its translation has to hold."""

    ids: Sequence[int]
    prefix: Sequence[int] = ()  # the translation begins with these pieces
    terms: tuple[Term, ...] = ()  # each occurs in it; a term given twice occurs twice
