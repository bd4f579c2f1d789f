"""What holds for every rule, term and look back, on random models."""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from jumok.config import DecodingConfig
from jumok.decoding.batches import search
from jumok.decoding.beam import beam_search
from jumok.decoding.constrained import constrained_beam_search
from jumok.decoding.look_back import look_back
from jumok.decoding.rules import Rules
from jumok.decoding.sampling import Sampling
from jumok.decoding.sentence import Sentence
from jumok.decoding.terms import Terms
from jumok.text.glossary import Term
from jumok.text.tokenizer import EOS_ID

WORDS = (4, 5)
SRC = torch.tensor([[9, 3]])
SEEDS = st.integers(0, 10_000)
NUM_MODELS = 4
MODELS = st.integers(0, NUM_MODELS - 1)
BEAMS = st.integers(1, 5)
PIECES = st.integers(4, 22)
SPELLINGS = st.lists(st.lists(PIECES, min_size=1, max_size=3).map(tuple), min_size=1, max_size=2).map(tuple)
TERMS = st.lists(st.builds(Term, SPELLINGS, st.frozensets(PIECES, max_size=3)), min_size=1, max_size=3).map(tuple)
SOURCES = st.lists(st.lists(PIECES, max_size=6), min_size=1, max_size=3)
SAMPLINGS = st.sampled_from([None, Sampling(seed=1, top_k=5)])
FEW = settings(max_examples=12, deadline=None)


def _at_the_first_piece(terms: tuple[Term, ...]) -> tuple[Term, ...]:
    """Terms that know their source: its first piece, which is the end mark where there is none."""
    return tuple(replace(term, at=(0,)) for term in terms)


def _ngrams(ids: list[int], n: int) -> list[tuple[int, ...]]:
    return [tuple(ids[i : i + n]) for i in range(len(ids) - n + 1)]


@given(model=MODELS, sources=SOURCES, beam=BEAMS, n=st.integers(1, 4), sampling=SAMPLINGS)
@FEW
def test_no_ngram_occurs_twice(model, sources, beam, n, sampling):
    config = DecodingConfig(beam=beam, no_repeat_ngram=n, max_extra_length=12)
    for hypotheses in search(_MODELS[model], [Sentence(ids) for ids in sources], config, sampling):
        assert hypotheses
        for hypothesis in hypotheses:
            assert len(set(_ngrams(hypothesis.ids, n))) == len(_ngrams(hypothesis.ids, n))


@given(model=MODELS, sources=SOURCES, beam=BEAMS, min_length=st.integers(0, 20), sampling=SAMPLINGS)
@FEW
def test_nothing_is_shorter_than_the_minimum(model, sources, beam, min_length, sampling):
    config = DecodingConfig(beam=beam, min_length=min_length, max_extra_length=5)
    for hypotheses in search(_MODELS[model], [Sentence(ids) for ids in sources], config, sampling):
        assert hypotheses
        assert all(len(hypothesis.ids) >= min_length for hypothesis in hypotheses)


@given(
    model=MODELS,
    asked=st.lists(st.tuples(st.lists(PIECES, max_size=6), st.lists(PIECES, max_size=15)), min_size=1, max_size=4),
    beam=BEAMS,
    n=st.integers(0, 2),
    sampling=SAMPLINGS,
)
@FEW
def test_every_translation_begins_with_its_prefix(model, asked, beam, n, sampling):
    config = DecodingConfig(beam=beam, max_extra_length=2, no_repeat_ngram=n)
    found = search(_MODELS[model], [Sentence(ids, prefix) for ids, prefix in asked], config, sampling)
    for (_, prefix), hypotheses in zip(asked, found, strict=True):
        assert hypotheses
        assert all(hypothesis.ids[: len(prefix)] == prefix for hypothesis in hypotheses)


@given(
    model=MODELS,
    asked=st.lists(st.tuples(st.lists(PIECES, max_size=6), TERMS), min_size=1, max_size=4),
    beam=BEAMS,
    n=st.integers(0, 2),
    min_length=st.sampled_from([0, 0, 10]),
    prefix=st.lists(PIECES, max_size=3),
    is_placed=st.booleans(),
)
@settings(max_examples=20, deadline=None)
def test_every_term_occurs(model, asked, beam, n, min_length, prefix, is_placed):
    config = DecodingConfig(beam=beam, max_extra_length=2, no_repeat_ngram=n, min_length=min_length)
    sentences = [Sentence(ids, prefix, _at_the_first_piece(terms) if is_placed else terms) for ids, terms in asked]
    for sentence, hypotheses in zip(sentences, search(_MODELS[model], sentences, config), strict=True):
        assert 1 <= len(hypotheses) <= beam
        for hypothesis in hypotheses:
            assert hypothesis.ids[: len(prefix)] == prefix
            for term in sentence.terms:
                assert any(spelling in _ngrams(hypothesis.ids, len(spelling)) for spelling in term.spellings)
            assert Terms(sentence.terms).are_in(hypothesis.ids)


@given(model=MODELS, beam=BEAMS, limits=st.lists(st.integers(1, 9), min_size=3, max_size=3), n=st.integers(0, 2))
@FEW
def test_a_constrained_search_without_terms_is_a_plain_one(model, beam, limits, n):
    src = torch.tensor([[5, 6, 7, 3], [8, 9, 3, 0], [10, 3, 0, 0]])
    rules = Rules(no_repeat_ngram=n)
    plain = beam_search(_MODELS[model], src, beam, 0.6, limits, rules)
    assert constrained_beam_search(_MODELS[model], src, beam, 0.6, limits, [Terms(())] * 3, rules) == plain


@given(model=MODELS, sources=SOURCES, beam=BEAMS, place=st.integers(0, 10), length=st.integers(1, 3))
@FEW
def test_terms_that_are_said_anyway_change_nothing(model, sources, beam, place, length):
    model = _MODELS[model]
    config = DecodingConfig(beam=beam, max_extra_length=5)
    plain = search(model, [Sentence(ids) for ids in sources], config)
    terms = [tuple(hypotheses[0].ids[place : place + length]) for hypotheses in plain]
    sentences = [
        Sentence(ids, terms=(Term((term,)),) if term else ()) for ids, term in zip(sources, terms, strict=True)
    ]
    for sentence, hypotheses, expected in zip(sentences, search(model, sentences, config), plain, strict=True):
        assert hypotheses[0] == expected[0]
        assert hypotheses == [one for one in expected if Terms(sentence.terms).are_in(one.ids)]


@given(
    model=MODELS,
    asked=st.lists(st.tuples(st.lists(PIECES, max_size=6), TERMS), min_size=2, max_size=3),
    beam=BEAMS,
    is_placed=st.booleans(),
)
@FEW
def test_sentences_with_terms_are_translated_together_as_each_alone(model, asked, beam, is_placed):
    config = DecodingConfig(beam=beam, max_extra_length=3)
    sentences = [Sentence(ids, terms=_at_the_first_piece(terms) if is_placed else terms) for ids, terms in asked]
    together = search(_MODELS[model], sentences, config)
    for sentence, hypotheses in zip(sentences, together, strict=True):
        (alone,) = search(_MODELS[model], [sentence], config)
        assert [hypothesis.ids for hypothesis in hypotheses] == [hypothesis.ids for hypothesis in alone]
        assert [h.score for h in hypotheses] == pytest.approx([h.score for h in alone], abs=1e-4)


# --- against an exhaustive search ---------------------------------------------------------------------------------


def _random_probabilities(seed: int):
    def probabilities(source, prefix):
        rng = random.Random(f"{seed} {source} {prefix}")
        weights = [rng.random() ** 3 + 1e-3 for _ in range(3)]
        return [0.0, 0.0, 0.0, *(weight / sum(weights) for weight in weights)]

    return probabilities


def _all_finished(probabilities, max_length: int, terms: Terms) -> list[tuple[float, tuple[int, ...]]]:
    """Every translation of at most max_length pieces, the end mark counted, that holds the terms, best first."""
    found = []
    for num_words in range(max_length):
        for words in itertools.product(WORDS, repeat=num_words):
            if terms.are_in(words):
                said = (*words, EOS_ID)
                log_prob = sum(math.log(probabilities((9, 3), words[:t])[piece]) for t, piece in enumerate(said))
                found.append((log_prob, words))
    return sorted(found, reverse=True)


WORD_ROWS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=2).map(tuple)
WORD_SPELLINGS = st.lists(WORD_ROWS, min_size=1, max_size=2).map(tuple)
WORD_TERMS = st.lists(st.builds(Term, WORD_SPELLINGS), min_size=1, max_size=2).map(tuple)


@given(seed=SEEDS, max_length=st.integers(4, 5), terms=WORD_TERMS)
@settings(max_examples=25, deadline=None)
def test_a_beam_that_holds_everything_finds_all_that_holds_the_terms(seed, max_length, terms):
    probabilities = _random_probabilities(seed)
    expected = _all_finished(probabilities, max_length, Terms(terms))
    (found,) = constrained_beam_search(_prefix_model(probabilities), SRC, 64, 0.0, [max_length], [Terms(terms)])
    complete = [hypothesis for hypothesis in found if hypothesis.is_complete]
    assert [tuple(hypothesis.ids) for hypothesis in complete] == [words for _, words in expected]
    assert [hypothesis.score for hypothesis in complete] == pytest.approx([score for score, _ in expected], abs=1e-4)
    assert all(hypothesis.log_prob == pytest.approx(hypothesis.score) for hypothesis in complete)


@given(seed=SEEDS, beam=BEAMS, terms=WORD_TERMS)
@settings(max_examples=30, deadline=None)
def test_what_any_beam_returns_is_sound(seed, beam, terms):
    probabilities = _random_probabilities(seed)
    truth = {words: log_prob for log_prob, words in _all_finished(probabilities, 6, Terms(terms))}
    (found,) = constrained_beam_search(_prefix_model(probabilities), SRC, beam, 0.6, [6], [Terms(terms)])
    assert 1 <= len(found) <= beam
    assert len({tuple(hypothesis.ids) for hypothesis in found}) == len(found)
    for hypothesis in found:
        assert Terms(terms).are_in(hypothesis.ids)
        if hypothesis.is_complete:
            assert hypothesis.log_prob == pytest.approx(truth[tuple(hypothesis.ids)], abs=1e-4)


# --- the look back ------------------------------------------------------------------------------------------------


@given(model=MODELS, sources=SOURCES, beam=BEAMS, batch_tokens=st.sampled_from([1, 30, 4096]), sampling=SAMPLINGS)
@FEW
def test_a_look_back_finds_the_probabilities_of_the_search(model, sources, beam, batch_tokens, sampling):
    config = DecodingConfig(beam=beam, max_extra_length=5, batch_tokens=batch_tokens)
    sentences = [Sentence(ids) for ids in sources]
    found = search(_MODELS[model], sentences, config, sampling)
    for sentence, before, after in zip(
        sentences, found, look_back(_MODELS[model], sentences, found, config), strict=True
    ):
        assert after == before  # and in what is not compared:
        for hypothesis in after:
            num_said = len(hypothesis.ids) + hypothesis.is_complete
            assert len(hypothesis.piece_log_probs) == num_said
            assert sum(hypothesis.piece_log_probs) == pytest.approx(hypothesis.log_prob, abs=1e-4)
            assert hypothesis.attention.shape == (num_said, len(sentence.ids) + 1)
            assert hypothesis.attention.sum(axis=1) == pytest.approx([1.0] * num_said, abs=1e-5)


_MODEL_CLASS = []
_MODELS = []


@pytest.fixture(autouse=True)
def _remember_models(prefix_model, tiny_transformer):
    """Hypothesis and function fixtures do not mix; these never change."""
    _MODEL_CLASS[:] = [prefix_model]
    _MODELS[:] = [tiny_transformer(seed=seed) for seed in range(NUM_MODELS)]


def _prefix_model(probabilities):
    return _MODEL_CLASS[0](probabilities)
