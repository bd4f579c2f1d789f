"""What holds for every search, on random models and on models whose every probability is written down."""

from __future__ import annotations

import itertools
import math
import random

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from jumok.config import DecodingConfig
from jumok.decoding.batches import search
from jumok.decoding.beam import beam_search
from jumok.decoding.length_penalty import length_penalty
from jumok.decoding.sentence import Sentence
from jumok.models.transformer import Transformer
from jumok.text.tokenizer import BOS_ID, EOS_ID, PAD_ID, UNK_ID

WORDS = (4, 5)
SOURCES = [[*range(5, 5 + length), EOS_ID] for length in (1, 6, 3, 10)]
VARIANTS = [{"norm": "pre"}, {"norm": "post", "tie_embeddings": "none", "position": "learned", "max_length": 40}]


def _pad(rows: list[list[int]]) -> torch.Tensor:
    width = max(map(len, rows))
    return torch.tensor([row + [PAD_ID] * (width - len(row)) for row in rows])


@torch.no_grad()
def _greedy(model: Transformer, source: list[int], max_length: int) -> tuple[list[int], float, bool]:
    """Independent of the search and of the caches: the whole pass again for every piece."""
    ids, total = [BOS_ID], 0.0
    for _ in range(max_length):
        log_probs = model.project(model(torch.tensor([source]), torch.tensor([ids])))[0, -1].log_softmax(-1)
        log_probs[[PAD_ID, UNK_ID, BOS_ID]] = -math.inf
        piece = int(log_probs.argmax())
        total += float(log_probs[piece])
        if piece == EOS_ID:
            return ids[1:], total, True
        ids.append(piece)
    return ids[1:], total, False


@pytest.mark.parametrize("variant", VARIANTS, ids=["pre", "post-learned"])
@pytest.mark.parametrize("seed", range(4))
def test_a_beam_of_one_is_greedy_search(tiny_transformer, variant, seed):
    model = tiny_transformer(seed=seed, **variant)
    found = beam_search(model, _pad(SOURCES), 1, 0.6, [12, 9, 15, 4])
    for source, limit, (best,) in zip(SOURCES, [12, 9, 15, 4], found, strict=True):
        ids, log_prob, is_complete = _greedy(model, source, limit)
        assert (best.ids, best.is_complete) == (ids, is_complete)
        assert best.log_prob == pytest.approx(log_prob, abs=1e-4)


@pytest.mark.parametrize("variant", VARIANTS, ids=["pre", "post-learned"])
@pytest.mark.parametrize("beam", [1, 2, 4, 30])  # 30 is more than the vocabulary
def test_a_batch_is_translated_as_its_sentences_alone(tiny_transformer, variant, beam):
    for seed in range(2):
        model = tiny_transformer(seed=seed, **variant)
        together = beam_search(model, _pad(SOURCES), beam, 0.6, [12, 9, 15, 4])
        for source, limit, hypotheses in zip(SOURCES, [12, 9, 15, 4], together, strict=True):
            (alone,) = beam_search(model, torch.tensor([source]), beam, 0.6, [limit])
            assert [(h.ids, h.is_complete) for h in hypotheses] == [(h.ids, h.is_complete) for h in alone]
            assert [h.score for h in hypotheses] == pytest.approx([h.score for h in alone], abs=1e-4)


@pytest.mark.parametrize("beam", [1, 3, 5])
def test_log_probs_are_what_a_teacher_forced_pass_gives(tiny_transformer, beam):
    model = tiny_transformer(norm="pre")
    for source, hypotheses in zip(SOURCES, beam_search(model, _pad(SOURCES), beam, 0.6, [8] * 4), strict=True):
        for hypothesis in hypotheses:
            tgt = torch.tensor([[BOS_ID, *hypothesis.ids]])
            with torch.no_grad():
                log_probs = model.project(model(torch.tensor([source]), tgt))[0].log_softmax(-1)
            said = [*hypothesis.ids, EOS_ID] if hypothesis.is_complete else hypothesis.ids
            total = sum(float(log_probs[t, piece]) for t, piece in enumerate(said))
            assert hypothesis.log_prob == pytest.approx(total, abs=1e-4)
            assert hypothesis.score == pytest.approx(total / length_penalty(len(said), 0.6), abs=1e-4)


# --- against an exhaustive search ---------------------------------------------------------------------------------


def _random_probabilities(seed: int):
    """Three to say (the end and two words), differently likely after every prefix and for every source."""

    def probabilities(source, prefix):
        rng = random.Random(f"{seed} {source} {prefix}")
        weights = [rng.random() ** 3 + 1e-3 for _ in range(3)]
        return [0.0, 0.0, 0.0, *(weight / sum(weights) for weight in weights)]

    return probabilities


def _all_finished(probabilities, source, max_length: int, alpha: float) -> list[tuple[float, tuple[int, ...]]]:
    """Every finished translation of at most max_length pieces, the end mark counted, best first."""
    found = []
    for num_words in range(max_length):
        for words in itertools.product(WORDS, repeat=num_words):
            log_prob = sum(
                math.log(probabilities(source, words[:t])[piece]) for t, piece in enumerate((*words, EOS_ID))
            )
            found.append((log_prob / length_penalty(num_words + 1, alpha), words))
    return sorted(found, reverse=True)


@given(seed=st.integers(0, 10_000), max_length=st.integers(1, 4), alpha=st.sampled_from([0.0, 0.6, 1.0]))
@settings(max_examples=60, deadline=None)
def test_a_beam_that_holds_everything_finds_everything_in_order(seed, max_length, alpha):
    probabilities = _random_probabilities(seed)
    expected = _all_finished(probabilities, (9, 3), max_length, alpha)
    model = _prefix_model(probabilities)
    (found,) = beam_search(model, torch.tensor([[9, 3]]), 32, alpha, [max_length])
    complete = [h for h in found if h.is_complete]
    assert [tuple(h.ids) for h in complete] == [words for _, words in expected]
    assert [h.score for h in complete] == pytest.approx([score for score, _ in expected], abs=1e-4)
    cut_off = {tuple(h.ids) for h in found if not h.is_complete}
    assert cut_off == set(itertools.product(WORDS, repeat=max_length)) or len(found) == 32


@given(seed=st.integers(0, 10_000), beam=st.integers(1, 9), alpha=st.sampled_from([0.0, 0.6]))
@settings(max_examples=80, deadline=None)
def test_what_any_beam_returns_is_sound(seed, beam, alpha):
    """Finite, scored right, never twice, sorted, finished ones first, at most N, within the limit."""
    probabilities = _random_probabilities(seed)
    truth = {words: score for score, words in _all_finished(probabilities, (9, 3), 5, alpha)}
    (found,) = beam_search(_prefix_model(probabilities), torch.tensor([[9, 3]]), beam, alpha, [5])
    assert 1 <= len(found) <= beam
    assert len({tuple(h.ids) for h in found}) == len(found)
    assert [(h.is_complete, h.score) for h in found] == sorted(((h.is_complete, h.score) for h in found), reverse=True)
    for hypothesis in found:
        assert math.isfinite(hypothesis.score)
        if hypothesis.is_complete:
            assert hypothesis.score == pytest.approx(truth[tuple(hypothesis.ids)], abs=1e-4)
        else:
            assert len(hypothesis.ids) == 5


@given(seed=st.integers(0, 10_000), beam=st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_dropping_finished_rows_changes_no_result(seed, beam):
    """Sentences that end at very different times, together and each alone."""
    base = _random_probabilities(seed)

    def probabilities(source, prefix):
        row = list(base(source, prefix))
        row[EOS_ID] *= (source[0] - 9) ** 2  # some sentences end at once, some hardly ever
        return [p / sum(row) for p in row]

    sources, limits = [[9 + i, EOS_ID] for i in (1, 5, 0, 2)], [7, 3, 8, 5]
    together = beam_search(_prefix_model(probabilities), torch.tensor(sources), beam, 0.6, limits)
    for source, limit, hypotheses in zip(sources, limits, together, strict=True):
        (alone,) = beam_search(_prefix_model(probabilities), torch.tensor([source]), beam, 0.6, [limit])
        assert hypotheses == alone


@given(
    lengths=st.lists(st.integers(0, 9), min_size=1, max_size=6),
    beam=st.integers(1, 4),
    batch_tokens=st.sampled_from([1, 15, 60, 4096]),
)
@settings(max_examples=25, deadline=None)
def test_results_come_back_in_order_whatever_the_lengths_and_batches(lengths, beam, batch_tokens):
    def probabilities(source, prefix):  # says one word for each of the source
        return [0, 0, 0, 1.0, 0.0] if len(prefix) == len(source) - 1 else [0, 0, 0, 0.0, 1.0]

    model = _prefix_model(probabilities)
    config = DecodingConfig(beam=beam, batch_tokens=batch_tokens)
    found = search(model, [Sentence([7] * length) for length in lengths], config)
    assert [hypotheses[0].ids for hypotheses in found] == [[4] * length for length in lengths]


_MODEL_CLASS = []


@pytest.fixture(autouse=True)
def _remember_model_class(prefix_model):
    """Hypothesis and function fixtures do not mix; the class itself never changes."""
    _MODEL_CLASS[:] = [prefix_model]


def _prefix_model(probabilities):
    return _MODEL_CLASS[0](probabilities)
