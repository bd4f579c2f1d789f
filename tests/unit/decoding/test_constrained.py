from __future__ import annotations

import math

import pytest
import torch

from jumok.config import DecodingConfig
from jumok.decoding.batches import search
from jumok.decoding.constrained import constrained_beam_search
from jumok.decoding.rules import Rules
from jumok.decoding.sampling import Sampling
from jumok.decoding.sentence import Sentence
from jumok.decoding.terms import Terms
from jumok.errors import UsageError
from jumok.text.glossary import Term

A, B, C = 4, 5, 6
SRC = torch.tensor([[9, 3]])


def _terms(*rows: list[int]) -> Terms:
    return Terms(tuple(Term((tuple(row),)) for row in rows))


def _next(eos: float, *words: float) -> list[float]:
    return [0.0, 0.0, 0.0, eos, *words]


def _says_three_words(source, said):
    """Rather A three times, and then the end; B where C came before; C never of its own accord."""
    if len(said) == 3:
        return _next(0.9, 0.05, 0.03, 0.02)
    return _next(0.05, 0.2, 0.73, 0.02) if said[-1:] == (C,) else _next(0.05, 0.83, 0.1, 0.02)


@pytest.mark.parametrize("beam", [1, 4])
def test_a_term_is_said_where_the_model_minds_least(prefix_model, beam):
    found = constrained_beam_search(prefix_model(_says_three_words), SRC, beam, 0.0, [10], [_terms([C, B])])
    best = found[0][0]
    assert [C, B] in [best.ids[i : i + 2] for i in range(2)]
    assert best.log_prob == pytest.approx(math.log(0.02 * 0.73 * 0.83 * 0.9))
    assert best.is_complete


@pytest.mark.parametrize("beam", [1, 2, 5])
def test_a_search_that_never_would_say_a_term_says_all_at_the_limit(prefix_model, beam):
    model = prefix_model(lambda source, said: _next(0.0, 1 - 2e-6, 1e-6, 1e-6))
    terms = _terms([C, B, C], [B, B], [B, B])
    (found,) = constrained_beam_search(model, SRC, beam, 0.6, [7], [terms])
    assert found
    for hypothesis in found:
        assert terms.are_in(hypothesis.ids)
        assert len(hypothesis.ids) == 7


def test_a_term_may_repeat_an_ngram_and_say_an_unknown_piece(prefix_model):
    model = prefix_model(lambda source, said: [0.0, 0.1, 0.0, 0.4, 0.3, 0.2])
    terms = _terms([B, B], [B, B], [1])
    (found,) = constrained_beam_search(model, SRC, 2, 0.6, [12], [terms], Rules(no_repeat_ngram=2))
    assert terms.are_in(found[0].ids)
    assert A in found[0].ids or len(found[0].ids) == 5


def test_a_prefix_comes_before_the_terms_and_may_say_them(prefix_model):
    model = prefix_model(lambda source, said: _next(0.5, 0.3, 0.1, 0.1))
    ((best,),) = constrained_beam_search(model, SRC, 1, 0.6, [9], [_terms([C])], Rules(prefixes=[[A, B, A]]))
    assert best.ids[:3] == [A, B, A] and C in best.ids
    ((best,),) = constrained_beam_search(model, SRC, 1, 0.6, [9], [_terms([B])], Rules(prefixes=[[A, B, A]]))
    assert best.ids == [A, B, A]


def test_a_prefix_may_make_another_word_of_a_term_which_is_then_said_behind_it(prefix_model):
    model = prefix_model(lambda source, said: _next(0.5, 0.3, 0.1, 0.1))
    terms = Terms((Term(((B,),), not_before=frozenset([A])),))
    ((best,),) = constrained_beam_search(model, SRC, 1, 0.6, [9], [terms], Rules(prefixes=[[B, A]]))
    assert best.ids[:2] == [B, A]
    assert terms.are_in(best.ids)


def test_a_term_once_said_is_not_made_another_word(prefix_model):
    # After B the model wants A above all, which would make another word of it.
    model = prefix_model(lambda source, said: _next(0.01, 0.97, 0.01, 0.01) if said else _next(0.3, 0.3, 0.3, 0.1))
    terms = Terms((Term(((B,),), not_before=frozenset([A])),))
    (found,) = constrained_beam_search(model, SRC, 2, 0.6, [6], [terms])
    assert found and all(terms.are_in(hypothesis.ids) for hypothesis in found)


def test_sentences_with_and_without_terms_in_one_call(tiny_transformer):
    model = tiny_transformer()
    config = DecodingConfig(beam=3, max_extra_length=8)
    plain = search(model, [Sentence([5, 6]), Sentence([7]), Sentence([8, 9, 10])], config)
    terms = _terms([11, 12], [13]).terms
    mixed = search(model, [Sentence([5, 6]), Sentence([7], terms=terms), Sentence([8, 9, 10])], config)
    assert (mixed[0], mixed[2]) == (plain[0], plain[2])
    assert mixed[1] and all(Terms(terms).are_in(hypothesis.ids) for hypothesis in mixed[1])


def test_terms_cannot_be_sampled(tiny_transformer):
    with pytest.raises(UsageError, match="terms of a glossary cannot be drawn at random; leave out the sampling or"):
        search(tiny_transformer(), [Sentence([5], terms=(Term(((6,),)),))], DecodingConfig(), Sampling())
