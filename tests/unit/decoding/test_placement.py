from __future__ import annotations

import numpy as np
import pytest

from jumok.config import DecodingConfig
from jumok.decoding import placement
from jumok.decoding.batches import search
from jumok.decoding.hypothesis import Hypothesis
from jumok.decoding.sentence import Sentence
from jumok.text.glossary import Term

# Pieces of a target language: these begin a word, those go on with one.
A, MAN, HAT, BOY = 10, 11, 12, 13
S, DERS = 20, 21
STARTS, CONTINUE = frozenset([A, MAN, HAT, BOY]), frozenset([S, DERS])
GENTLE, LAD = 30, 31


def _term(*pieces: int, at: tuple[int, ...]) -> Term:
    return Term((pieces,), CONTINUE, STARTS | {GENTLE, LAD}, at)


def _place(monkeypatch, ids: list[int], attention: list[list[float]], *terms: Term, num_fixed: int = 0):
    """The prefixes that the search is asked to go on from, where each target piece looked as the table says."""
    asked = []

    def look_back(model, sentences, hypotheses, config):
        rows = np.array(attention + [[0.0, 0.0, 0.0, 1.0]] * 9, dtype=np.float32)
        return [[Hypothesis(h.ids, 0.0, 0.0, attention=rows[: len(h.ids) + 1])] for (h,) in hypotheses]

    def search_on(prefixes, not_next):
        asked.extend(prefixes.values())
        assert all(pieces == CONTINUE for pieces in not_next.values())
        return {row: [Hypothesis([*prefix, *ids[len(prefix) :]], 0.0, 0.0)] for row, prefix in prefixes.items()}

    monkeypatch.setattr(placement, "look_back", look_back)
    sentence = Sentence([5, 6, 7], ids[:num_fixed], terms)
    found = placement.place_terms(None, [sentence], {0: [Hypothesis(ids, 0.0, 0.0)]}, DecodingConfig(), search_on)
    return asked, {row: hypotheses[0].ids for row, hypotheses in found.items()}


LOOKS = [[0.5, 0.1, 0.0, 0.4], [0.1, 0.8, 0.0, 0.1], [0.0, 0.2, 0.7, 0.1], [0.0, 0.0, 0.9, 0.1]]


def test_a_term_takes_the_place_of_the_word_that_looked_at_its_source(monkeypatch):
    asked, found = _place(monkeypatch, [A, MAN, HAT, S], LOOKS, _term(GENTLE, at=(1,)))
    assert asked == [[A, GENTLE]]
    assert found == {0: [A, GENTLE, HAT, S]}


def test_it_takes_the_place_of_a_whole_word(monkeypatch):
    asked, _ = _place(monkeypatch, [A, MAN, HAT, S], LOOKS, _term(GENTLE, at=(2,)))
    assert asked == [[A, MAN, GENTLE]]  # not behind HAT, though S looked there most


def test_several_are_put_in_from_left_to_right(monkeypatch):
    asked, found = _place(monkeypatch, [A, MAN, HAT], LOOKS, _term(LAD, at=(2,)), _term(GENTLE, at=(1,)))
    assert asked == [[A, GENTLE], [A, GENTLE, LAD]]
    assert found == {0: [A, GENTLE, LAD]}


def test_one_that_stands_there_already_needs_no_search_unless_its_word_goes_on(monkeypatch):
    asked, found = _place(monkeypatch, [A, LAD, HAT], LOOKS, _term(LAD, at=(1,)))
    assert (asked, found) == ([], {0: [A, LAD, HAT]})
    asked, _ = _place(monkeypatch, [A, LAD, DERS], LOOKS, _term(LAD, at=(1,)))
    assert asked == [[A, LAD]]


def test_the_prefix_of_the_sentence_stays(monkeypatch):
    asked, _ = _place(monkeypatch, [A, MAN, HAT, S], LOOKS, _term(GENTLE, at=(1,)), num_fixed=2)
    assert asked == [[A, MAN, GENTLE]]


def test_where_there_is_no_room_or_no_source_it_is_left_to_the_constrained_search(monkeypatch):
    assert _place(monkeypatch, [A, MAN], LOOKS, _term(GENTLE, at=(1,)), num_fixed=2) == ([], {})
    assert _place(monkeypatch, [A, MAN], LOOKS, _term(GENTLE, at=())) == ([], {})


def test_without_attention_terms_are_said_all_the_same(prefix_model):
    model = prefix_model(lambda source, said: [0, 0, 0, 0.4, 0.5, 0.1])
    ((best,),) = search(model, [Sentence([5], terms=(Term(((5,),), at=(0,)),))], DecodingConfig(beam=1))
    assert 5 in best.ids


@pytest.mark.parametrize("beam", [1, 4])
def test_what_does_not_fit_the_model_is_left_to_the_constrained_search(tiny_transformer, beam):
    model = tiny_transformer(position="learned", max_length=12)
    sentence = Sentence([5, 6, 7], terms=tuple(Term(((piece,) * 3,), at=(0,)) for piece in (8, 9, 10)))
    (found,) = search(model, [sentence], DecodingConfig(beam=beam))
    for hypothesis in found:
        assert len(hypothesis.ids) <= 11
        assert all(str([piece] * 3)[1:-1] in str(hypothesis.ids) for piece in (8, 9, 10))
