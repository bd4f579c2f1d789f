"""Terms said where they belong: in place of the word that the model would have said for the same source words.

The translation without the terms is at hand, and a look back at it tells which word came from the source's term. What
stands before that word is kept, the term is said, and the search goes on from there; then the next term. Where terms
have been placed so, no other search is needed.

Paper: the alignment decides where a constraint applies, as in Alkhouli et al. 2018.
Differs: read off the finished translation's attention, word by word, instead of an alignment model beside the search.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from jumok.config import DecodingConfig
from jumok.decoding.hypothesis import Hypothesis
from jumok.decoding.look_back import look_back
from jumok.decoding.sentence import Sentence
from jumok.errors import UsageError
from jumok.models.interface import TranslationModel
from jumok.text.glossary import Term

# The prefix of each row, and the pieces that must not follow it, to the hypotheses of each.
SearchOn = Callable[[dict[int, list[int]], dict[int, frozenset[int]]], dict[int, list[Hypothesis]]]


@dataclass
class _Draft:
    """A translation into which terms are being put, from left to right."""

    hypotheses: list[Hypothesis]
    num_fixed: int  # pieces that stay as they are
    to_do: list[Term]


def place_terms(
    model: TranslationModel,
    sentences: Sequence[Sentence],
    found: dict[int, list[Hypothesis]],
    config: DecodingConfig,
    search_on: SearchOn,
) -> dict[int, list[Hypothesis]]:
    """New hypotheses for those of the sentences found so far whose terms say which source pieces they are for."""
    drafts = {
        row: _Draft(hypotheses, len(sentences[row].prefix), list(sentences[row].terms))
        for row, hypotheses in found.items()
        if all(term.at for term in sentences[row].terms)
    }
    while open_rows := [row for row, draft in drafts.items() if draft.to_do]:
        try:
            best = [drafts[row].hypotheses[:1] for row in open_rows]
            seen = look_back(model, [sentences[row] for row in open_rows], best, config)
        except UsageError:  # no attention to tell where a term belongs
            return {}
        prefixes: dict[int, list[int]] = {}
        not_next: dict[int, frozenset[int]] = {}
        for row, (hypothesis,) in zip(open_rows, seen, strict=True):
            term, place = _next_place(drafts[row], hypothesis)
            if term is None:  # nowhere left to put it
                del drafts[row]
                continue
            drafts[row].to_do.remove(term)
            spelling = _spelling_at(term, hypothesis.ids, place)
            if spelling is None:
                spelling = term.spellings[0 if place == 0 else -1]  # the last is the one for the middle of a sentence
                prefixes[row], not_next[row] = [*hypothesis.ids[:place], *spelling], term.not_before
            drafts[row].num_fixed = place + len(spelling)
        for row, hypotheses in search_on(prefixes, not_next).items():
            drafts[row].hypotheses = hypotheses
    return {row: draft.hypotheses for row, draft in drafts.items()}


def _next_place(draft: _Draft, hypothesis: Hypothesis) -> tuple[Term | None, int]:
    """The term that comes first, and the piece that it takes the place of."""
    assert hypothesis.attention is not None
    places: list[tuple[int, int]] = []
    for number, term in enumerate(draft.to_do):
        starts = [
            place
            for place, piece in enumerate(hypothesis.ids)
            if place == 0 or term.word_starts is None or piece in term.word_starts
        ]
        looks = hypothesis.attention[: len(hypothesis.ids), list(term.at)].sum(axis=1)
        words = [
            (looks[start:end].mean(), -start)
            for start, end in pairwise([*starts, len(hypothesis.ids)])
            if start >= draft.num_fixed
        ]
        if words:
            places.append((-max(words)[1], number))
    if len(places) < len(draft.to_do):
        return None, 0
    place, number = min(places)
    return draft.to_do[number], place


def _spelling_at(term: Term, ids: list[int], place: int) -> tuple[int, ...] | None:
    """The spelling of a term that stands there already."""
    for spelling in term.spellings:
        end = place + len(spelling)
        if tuple(ids[place:end]) == spelling and not set(ids[end : end + 1]) & term.not_before:
            return spelling
    return None
