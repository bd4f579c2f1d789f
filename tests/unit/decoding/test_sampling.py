from __future__ import annotations

import math
from collections import Counter

import pytest
import torch

from jumok.decoding.beam import beam_search
from jumok.decoding.sampling import Sampling, sample
from jumok.errors import UsageError

SRC = torch.tensor([[5, 6, 7, 3], [8, 9, 3, 0]])
LIMITS = [12, 12]


def _ids(found) -> list[list[list[int]]]:
    return [[hypothesis.ids for hypothesis in hypotheses] for hypotheses in found]


def test_the_same_seed_draws_the_same_and_another_draws_otherwise(tiny_transformer):
    model = tiny_transformer()

    def draw(seed: int | None) -> list[list[list[int]]]:
        return _ids(sample(model, SRC, Sampling(seed=seed), 4, LIMITS))

    assert draw(1) == draw(1)
    assert draw(1) != draw(2)
    assert draw(None) != draw(None)


def test_sampling_leaves_torchs_own_generator_alone(tiny_transformer):
    model = tiny_transformer()
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    sample(model, SRC, Sampling(seed=1), 2, LIMITS)
    assert torch.equal(torch.rand(3), expected)


@pytest.mark.parametrize(
    "sampling", [Sampling(temperature=1e-4), Sampling(top_k=1), Sampling(top_p=1e-6)], ids=["cold", "top_k", "top_p"]
)
@pytest.mark.parametrize("seed", range(3))
def test_without_any_freedom_sampling_is_greedy_search(tiny_transformer, sampling, seed):
    model = tiny_transformer(seed=seed)
    greedy = beam_search(model, SRC, 1, 0.0, LIMITS)
    drawn = sample(model, SRC, sampling, 3, LIMITS)
    for (best,), draws in zip(greedy, drawn, strict=True):
        assert len(draws) == 3
        for draw in draws:
            assert (draw.ids, draw.is_complete) == (best.ids, best.is_complete)
            assert draw.log_prob == pytest.approx(best.log_prob, abs=1e-4)


def _one_word(prefix_model, *probabilities: float, **options):
    """Draw the first of two pieces 2000 times: a word, or the end at once (None)."""

    def next_piece(source, prefix):
        return [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0] if prefix else [0.0, 0.0, 0.0, *probabilities]

    (drawn,) = sample(prefix_model(next_piece), SRC[:1], Sampling(seed=3, **options), 2000, [5])
    counts = Counter(hypothesis.ids[0] if hypothesis.ids else None for hypothesis in drawn)
    return {piece: count / 2000 for piece, count in counts.items()}


def test_draws_follow_the_probabilities(prefix_model):
    shares = _one_word(prefix_model, 0.4, 0.3, 0.2, 0.1)
    assert shares == pytest.approx({None: 0.4, 4: 0.3, 5: 0.2, 6: 0.1}, abs=0.05)


def test_temperature_sharpens_by_hand(prefix_model):
    # At 0.5 probabilities are squared: 16, 9, 4, 1 thirtieths.
    shares = _one_word(prefix_model, 0.4, 0.3, 0.2, 0.1, temperature=0.5)
    assert shares == pytest.approx({None: 16 / 30, 4: 9 / 30, 5: 4 / 30, 6: 1 / 30}, abs=0.05)


def test_top_k_draws_from_the_k_likeliest_in_their_proportion(prefix_model):
    shares = _one_word(prefix_model, 0.1, 0.3, 0.2, 0.4, top_k=2)
    assert shares == pytest.approx({6: 4 / 7, 4: 3 / 7}, abs=0.05)


def test_top_k_beyond_the_vocabulary_is_no_limit(prefix_model):
    assert set(_one_word(prefix_model, 0.1, 0.3, 0.2, 0.4, top_k=500)) == {None, 4, 5, 6}


def test_top_p_keeps_the_piece_that_crosses_p_and_none_after_it(prefix_model):
    shares = _one_word(prefix_model, 0.1, 0.3, 0.2, 0.4, top_p=0.5)  # 0.4 is not enough, 0.4 + 0.3 is
    assert shares == pytest.approx({6: 4 / 7, 4: 3 / 7}, abs=0.05)


def test_top_p_counts_what_top_k_left(prefix_model):
    # top_k leaves 0.4 and 0.3, that is 4/7 and 3/7: 0.55 is reached by the first alone.
    assert _one_word(prefix_model, 0.1, 0.3, 0.2, 0.4, top_k=2, top_p=0.55) == {6: 1.0}


def test_log_probs_are_the_models_own_not_the_shaped_ones(prefix_model):
    model = prefix_model(lambda source, prefix: [0, 0, 0, 1.0, 0.0] if prefix else [0, 0, 0, 0.25, 0.75])
    for hypothesis in sample(model, SRC[:1], Sampling(seed=1, temperature=2.0), 20, [5])[0]:
        assert hypothesis.log_prob == pytest.approx(math.log(0.75 if hypothesis.ids else 0.25))


def test_special_pieces_are_never_drawn(prefix_model):
    model = prefix_model(lambda source, prefix: [0.3, 0.3, 0.3, 0.05, 0.05])
    for hypothesis in sample(model, SRC[:1], Sampling(seed=1), 50, [5])[0]:
        assert set(hypothesis.ids) <= {4}


def test_the_likeliest_draw_stands_first_and_limits_hold_for_each_sentence(tiny_transformer):
    found = sample(tiny_transformer(), SRC, Sampling(seed=1), 10, [3, 7])
    for hypotheses, limit in zip(found, [3, 7], strict=True):
        scores = [hypothesis.score for hypothesis in hypotheses]
        assert scores == sorted(scores, reverse=True)
        assert all(len(h.ids) < limit if h.is_complete else len(h.ids) == limit for h in hypotheses)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"temperature": 0}, r"temperature = 0 must be above 0 and finite; use beam 1 for the likeliest pieces"),
        ({"temperature": -1.5}, r"temperature = -1.5 must be above 0"),
        ({"temperature": math.nan}, r"temperature = nan must be above 0"),
        ({"temperature": math.inf}, r"temperature = inf must be above 0 and finite"),
        ({"top_k": -1}, r"top_k = -1 must not be negative; 0 means no limit"),
        ({"top_p": 0.0}, r"top_p = 0.0 must be above 0 and at most 1"),
        ({"top_p": 1.1}, r"top_p = 1.1 must be above 0 and at most 1"),
        ({"top_p": math.nan}, r"top_p = nan must be above 0 and at most 1"),
    ],
)
def test_values_that_make_no_sense_are_refused(options, message):
    with pytest.raises(UsageError, match=message):
        Sampling(**options)
