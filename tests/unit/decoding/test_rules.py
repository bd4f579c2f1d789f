from __future__ import annotations

import math

import pytest
import torch

from jumok.config import DecodingConfig
from jumok.decoding.batches import search
from jumok.decoding.beam import beam_search
from jumok.decoding.rules import Rules
from jumok.decoding.sampling import Sampling, sample
from jumok.decoding.sentence import Sentence
from jumok.errors import UsageError
from jumok.text.glossary import Term

BOS, EOS, A, B, C = 2, 3, 4, 5, 6
SRC = torch.tensor([[9, 3]])


def _allowed(rules: Rules, said: list[int], live: tuple[int, ...] = (0,), vocab_size: int = 7) -> set[int]:
    """What may follow these pieces."""
    log_probs = torch.full((1, 1, vocab_size), -1.0)
    rules.apply(log_probs, torch.tensor([[[BOS, *said]]]), live)
    assert set(log_probs.unique().tolist()) <= {-1.0, -math.inf}
    return set(log_probs[0, 0].isfinite().nonzero().flatten().tolist())


def test_padding_unknown_and_begin_are_never_said():
    assert _allowed(Rules(), [A, A, A]) == {EOS, A, B, C}


def test_the_end_has_to_wait_for_the_minimum_length():
    assert [EOS in _allowed(Rules(min_length=2), [A] * length) for length in range(4)] == [False, False, True, True]


@pytest.mark.parametrize(
    ("n", "said", "forbidden"),
    [
        (1, [], set()),
        (1, [A, C], {A, C}),
        (2, [A], set()),
        (2, [A, A], {A}),
        (2, [A, B, A, C, A], {B, C}),
        (2, [A, B, C], set()),
        (3, [A, B, C, A, B], {C}),
        (3, [A, B, C, B], set()),
        (3, [A, A, A], {A}),
    ],
)
def test_no_ngram_is_said_twice(n, said, forbidden):
    assert _allowed(Rules(no_repeat_ngram=n), said) == {EOS, A, B, C} - forbidden


def test_each_row_has_its_own_repetitions():
    log_probs = torch.zeros(2, 2, 7)
    ids = torch.tensor([[[BOS, A, A], [BOS, A, B]], [[BOS, B, B], [BOS, C, C]]])
    Rules(no_repeat_ngram=2).apply(log_probs, ids, [0, 1])
    assert log_probs[:, :, 4:].isneginf().tolist() == [
        [[True, False, False], [False, False, False]],
        [[False, True, False], [False, False, True]],
    ]


def test_where_everything_would_repeat_and_the_end_is_too_early_it_is_the_end():
    assert _allowed(Rules(min_length=9, no_repeat_ngram=1), [A, B]) == {C}
    assert _allowed(Rules(min_length=9, no_repeat_ngram=1), [A, B, C]) == {EOS}


def test_inside_its_prefix_a_sentence_says_that_and_nothing_else():
    rules = Rules(min_length=5, no_repeat_ngram=1, prefixes=[[A, A, 1], [], [C]])
    assert _allowed(rules, []) == {A}
    assert _allowed(rules, [A]) == {A}  # although it repeats,
    assert _allowed(rules, [A, A]) == {1}  # and although it is unknown to the vocabulary
    assert _allowed(rules, [A, A, 1]) == {B, C}
    assert _allowed(rules, [], live=(1,)) == {A, B, C}
    assert _allowed(rules, [], live=(2,)) == {C}


def test_what_must_not_follow_a_prefix_may_come_later():
    rules = Rules(prefixes=[[A], [A]], not_after_prefix=[frozenset([B, C]), frozenset()])
    assert _allowed(rules, []) == {A}
    assert _allowed(rules, [A]) == {EOS, A}
    assert _allowed(rules, [A, A]) == _allowed(rules, [A], live=(1,)) == {EOS, A, B, C}


def test_pieces_of_a_prefix_score_as_the_model_has_them(prefix_model):
    model = prefix_model(lambda source, said: [0, 0, 0, 0.5, 0.3, 0.2] if len(said) < 2 else [0, 0, 0, 0.9, 0.05, 0.05])
    ((best, *_),) = beam_search(model, SRC, 2, 0.0, [9], Rules(prefixes=[[B, A]]))
    assert best.ids == [B, A]
    assert best.log_prob == pytest.approx(math.log(0.2 * 0.3 * 0.9))


def test_the_rules_hold_for_draws_too(tiny_transformer):
    model = tiny_transformer()
    src = torch.tensor([[5, 6, 7, 3], [8, 9, 3, 0]])
    rules = Rules(min_length=6, no_repeat_ngram=2, prefixes=[[10, 11, 10], []])
    found = sample(model, src, Sampling(seed=1), 20, [25, 25], rules=rules)
    assert all(hypothesis.ids[:3] == [10, 11, 10] for hypothesis in found[0])
    for hypothesis in found[0] + found[1]:
        bigrams = list(zip(hypothesis.ids, hypothesis.ids[1:], strict=False))
        assert len(set(bigrams)) == len(bigrams)
        assert len(hypothesis.ids) >= 6


def test_a_prefix_and_a_minimum_length_raise_the_limit(tiny_transformer):
    config = DecodingConfig(beam=2, max_extra_length=1, min_length=30)
    ((best, *_),) = search(tiny_transformer(), [Sentence([5], prefix=[7] * 40)], config)
    assert best.ids[:40] == [7] * 40
    ((best, *_),) = search(tiny_transformer(), [Sentence([5])], config)
    assert len(best.ids) >= 30


@pytest.mark.parametrize(
    "asked", [{"prefix": [5] * 20}, {"terms": (Term(((5,) * 12,)), Term(((6,) * 8,)))}], ids=["prefix", "terms"]
)
def test_what_a_model_cannot_say_is_refused(tiny_transformer, asked):
    model = tiny_transformer(position="learned", max_length=21)
    with pytest.raises(
        UsageError, match="ask for 21 pieces with the end mark, but this model says at most 20; ask for"
    ):
        search(model, [Sentence([5], **asked)], DecodingConfig())


def test_a_minimum_length_that_a_model_cannot_say_is_refused(tiny_transformer):
    model = tiny_transformer(position="learned", max_length=21)
    with pytest.raises(UsageError, match="decoding.min_length ask for 21 pieces"):
        search(model, [Sentence([5])], DecodingConfig(min_length=20))
