"""Noisy top-k gating, its two losses, and that computing a few experts is computing all with most gates at zero."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from jumok.nn.mixture import MixtureOfExperts, expected_load, squared_variation


def _mixture(num_experts: int = 5, num_used: int = 2, seed: int = 0, **changes: Any) -> MixtureOfExperts:
    """With random gates, which would start at zero."""
    torch.manual_seed(seed)
    mixture = MixtureOfExperts(
        8, 12, num_experts, num_used, **{"importance_weight": 0.1, "load_weight": 0.1, **changes}
    )
    with torch.no_grad():
        mixture.gate.normal_()
        mixture.noise.normal_()
    return mixture


@pytest.mark.parametrize("is_training", [True, False])
@pytest.mark.parametrize(("num_experts", "num_used"), [(5, 2), (4, 1), (3, 3), (1, 1)])
def test_each_token_has_exactly_k_experts_whose_gates_sum_to_one(num_experts, num_used, is_training):
    mixture = _mixture(num_experts, num_used).train(is_training)
    routing = mixture.route(torch.randn(40, 8))
    assert routing.gates.shape == routing.experts.shape == (40, num_used)
    assert all(len(set(row)) == num_used for row in routing.experts.tolist())
    assert (routing.gates > 0).all()
    torch.testing.assert_close(routing.gates.sum(dim=1), torch.ones(40))
    torch.testing.assert_close(routing.importance.sum(), torch.tensor(40.0))


def test_without_noise_the_gates_are_the_softmax_of_the_two_highest_scores():
    mixture = _mixture(num_experts=3).eval()
    with torch.no_grad():
        mixture.gate.zero_()
        mixture.gate[:, 0] = torch.tensor([0.0, math.log(3), math.log(9)])
    routing = mixture.route(torch.eye(1, 8))
    assert routing.experts.tolist() == [[2, 1]]
    torch.testing.assert_close(routing.gates, torch.tensor([[0.75, 0.25]]))
    torch.testing.assert_close(routing.importance, torch.tensor([0.0, 0.25, 0.75]))


@torch.no_grad()
def test_sparse_is_dense_with_the_other_gates_at_zero():
    mixture = _mixture().eval()
    x = torch.randn(3, 7, 8)
    y, penalty = mixture(x)
    scores = x @ mixture.gate.T
    kept = scores.masked_fill(scores < scores.topk(2).values[..., -1:], -math.inf)
    dense = sum(kept.softmax(-1)[..., i, None] * expert(x) for i, expert in enumerate(mixture.experts))
    torch.testing.assert_close(y, dense)
    assert penalty == 0


@torch.no_grad()
def test_prediction_is_without_noise_and_sees_each_token_alone():
    mixture = _mixture().eval()
    x = torch.randn(2, 6, 8)
    together, _ = mixture(x)
    torch.testing.assert_close(together, mixture(x)[0], atol=0, rtol=0)
    for row in range(2):
        for t in range(6):
            torch.testing.assert_close(mixture(x[row : row + 1, t : t + 1])[0][0, 0], together[row, t])


def test_a_seed_decides_the_noise():
    mixture, x = _mixture(), torch.randn(2, 6, 8)
    results = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        results.append(mixture(x))
    assert torch.equal(results[0][0], results[1][0]) and torch.equal(results[0][1], results[1][1])
    assert not torch.equal(results[0][0], results[2][0])


def test_new_gates_let_the_noise_choose_evenly():
    torch.manual_seed(0)
    mixture = MixtureOfExperts(8, 12, 4, 2, 1.0, 1.0)
    routing = mixture.route(torch.randn(4000, 8))
    counts = routing.experts.flatten().bincount(minlength=4)
    assert counts.sum() == 8000
    assert ((counts - 2000).abs() < 150).all()  # five standard deviations


def test_the_load_by_hand():
    # One token, three experts, k = 1. Scores with noise: 2, 1, 0. Expert 0 must pass 1, the others must pass 2.
    clean, spread = torch.tensor([[1.5, 2.0, 0.0]]), torch.tensor([[0.5, 1.0, 2.0]])
    scores = torch.tensor([[2.0, 1.0, 0.0]])
    load = expected_load(clean, spread, scores, scores.topk(2).values)
    # Φ((1.5 − 1) / 0.5) = Φ(1), Φ((2 − 2) / 1) = Φ(0), Φ((0 − 2) / 2) = Φ(−1)
    torch.testing.assert_close(load, torch.tensor([0.8413447, 0.5, 0.1586553]))


def test_the_load_is_how_often_an_expert_is_chosen_when_only_its_noise_is_drawn_again():
    torch.manual_seed(3)
    clean, spread = torch.randn(4, 5), torch.rand(4, 5) + 0.5
    scores = clean + torch.randn(4, 5) * spread
    load = expected_load(clean, spread, scores, scores.topk(3).values)  # k = 2
    draws = 20_000
    counted = torch.zeros(5)
    for i in range(5):
        drawn = scores.expand(draws, 4, 5).clone()
        drawn[..., i] = clean[:, i] + torch.randn(draws, 4) * spread[:, i]
        counted[i] = (drawn.topk(2).indices == i).any(-1).float().mean(0).sum()
    torch.testing.assert_close(load, counted, atol=0.03, rtol=0)


def test_the_load_has_a_gradient_that_lightens_the_heaviest():
    mixture = _mixture(num_experts=4, num_used=1)
    with torch.no_grad():
        mixture.gate.zero_()
        mixture.gate[0] = 0.3
    x = torch.ones(50, 8)
    load = mixture.route(x).load
    assert load is not None and load.argmax() == 0
    squared_variation(load).backward()
    assert mixture.gate.grad is not None and (mixture.gate.grad[0] > 0).all()  # a step down the slope lowers it


def test_even_amounts_have_no_variation():
    assert squared_variation(torch.full((7,), 3.0)) == 0
    # mean 2, variance 1
    torch.testing.assert_close(squared_variation(torch.tensor([1.0, 3.0])), torch.tensor(0.25))
    assert squared_variation(torch.zeros(4)) == 0


@pytest.mark.parametrize(("importance_weight", "load_weight"), [(0.0, 0.0), (0.3, 0.0), (0.0, 0.7), (0.3, 0.7)])
def test_the_penalty_is_both_variations_by_their_weights(importance_weight, load_weight):
    mixture = _mixture(importance_weight=importance_weight, load_weight=load_weight)
    x = torch.randn(1, 30, 8)
    torch.manual_seed(5)
    routing = mixture.route(x[0])
    torch.manual_seed(5)
    _, penalty = mixture(x)
    assert routing.load is not None
    by_hand = importance_weight * squared_variation(routing.importance) + load_weight * squared_variation(routing.load)
    torch.testing.assert_close(penalty, by_hand)


def test_where_every_expert_is_used_there_is_no_load_to_even_out():
    mixture = _mixture(num_experts=3, num_used=3, importance_weight=0.0)
    assert mixture.route(torch.randn(9, 8)).load is None
    assert mixture(torch.randn(1, 9, 8))[1] == 0


def test_padding_is_sent_to_no_expert_and_counts_for_none():
    mixture, x = _mixture(), torch.randn(2, 5, 8)
    is_word = torch.tensor([[True] * 5, [True] * 2 + [False] * 3])
    seen = []
    for expert in mixture.experts:
        expert.register_forward_hook(lambda _, inputs, __: seen.append(len(inputs[0])))
    torch.manual_seed(1)
    y, penalty = mixture(x, is_word)
    assert sum(seen) == 2 * 7
    assert (y[~is_word] == 0).all() and (y[is_word] != 0).any(-1).all()
    torch.manual_seed(1)
    words_alone, same_penalty = mixture(x[is_word][None])
    torch.testing.assert_close(y[is_word], words_alone[0], atol=0, rtol=0)
    assert penalty == same_penalty


def test_every_parameter_has_a_gradient_even_of_experts_without_tokens():
    mixture = _mixture(num_experts=8)
    x = torch.randn(1, 2, 8)  # two tokens see at most four of the eight
    y, _ = mixture(x)  # without the penalty
    y.square().sum().backward()
    gradients = {name: parameter.grad for name, parameter in mixture.named_parameters()}
    assert all(gradient is not None for gradient in gradients.values())
    assert gradients["gate"].abs().sum() > 0 and gradients["noise"].abs().sum() > 0
    is_used = [expert.expand.weight.grad.abs().sum() > 0 for expert in mixture.experts]
    assert 2 <= sum(is_used) <= 4


def test_gradients_are_those_of_differences():
    """In double precision, with the same noise each time; the choice of experts is constant around a point."""
    mixture = _mixture(num_experts=4).double()
    x = torch.randn(1, 3, 8, dtype=torch.double, requires_grad=True)

    def mixed(x: torch.Tensor) -> torch.Tensor:
        torch.manual_seed(11)
        y, _ = mixture(x)
        return y

    # gates are computed in float32 whatever the model is in, hence the coarse step
    assert torch.autograd.gradcheck(mixed, (x,), eps=1e-3, atol=1e-2, rtol=1e-2, fast_mode=True)


def test_experts_without_tokens_are_left_out_in_prediction():
    mixture = _mixture(num_experts=8).eval()
    called = []
    for expert in mixture.experts:
        expert.register_forward_hook(lambda *_: called.append(1))
    with torch.no_grad():
        mixture(torch.randn(1, 1, 8))
    assert len(called) == 2


def test_bfloat16_goes_through():
    mixture, x = _mixture(), torch.randn(2, 5, 8)
    is_word = torch.tensor([[True] * 5, [True] * 2 + [False] * 3])
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y, penalty = mixture(x, is_word)
    (y.sum() + penalty).backward()
    assert y.isfinite().all() and penalty.isfinite()


def test_more_experts_used_than_there_are_is_our_own_mistake():
    with pytest.raises(AssertionError, match="no more experts can be used than there are"):
        MixtureOfExperts(8, 12, 2, 3, 0.0, 0.0)
