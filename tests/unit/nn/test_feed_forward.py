from __future__ import annotations

import math

import pytest
import torch

from jumok.nn.feed_forward import FeedForward


def test_equation_2_by_hand():
    ffn = FeedForward(1, 2)
    with torch.no_grad():
        ffn.expand.weight.copy_(torch.tensor([[2.0], [-1.0]]))
        ffn.expand.bias.copy_(torch.tensor([1.0, 0.5]))
        ffn.contract.weight.copy_(torch.tensor([[3.0, 10.0]]))
        ffn.contract.bias.copy_(torch.tensor([-4.0]))
    # x = 1: max(0, 3)·3 + max(0, −0.5)·10 − 4 = 5.   x = −1: max(0, −1)·3 + max(0, 1.5)·10 − 4 = 11.
    torch.testing.assert_close(ffn(torch.tensor([[[1.0], [-1.0]]])), torch.tensor([[[5.0], [11.0]]]))


def test_every_position_is_treated_alike_and_alone():
    ffn, x = FeedForward(8, 16), torch.randn(2, 5, 8)
    permutation = torch.tensor([3, 1, 4, 0, 2])
    torch.testing.assert_close(ffn(x[:, permutation]), ffn(x)[:, permutation])


def test_the_input_is_left_as_it_was_and_the_gradient_is_right():
    ffn, x = FeedForward(4, 6).double(), torch.randn(2, 3, 4, dtype=torch.float64, requires_grad=True)
    before = x.detach().clone()
    assert torch.autograd.gradcheck(ffn, x)
    assert torch.equal(x.detach(), before)


def test_dropout_stands_between_the_two_products():
    torch.manual_seed(0)
    ffn = FeedForward(1, 4096, dropout=0.5)
    with torch.no_grad():
        for parameter in ffn.parameters():
            parameter.zero_()
        ffn.expand.bias.fill_(1.0)
        ffn.contract.weight.fill_(1.0)
    assert ffn.eval()(torch.zeros(1, 1, 1)).item() == 4096
    sums = [ffn.train()(torch.zeros(1, 1, 1)).item() for _ in range(20)]
    assert len(set(sums)) > 1
    assert all(total % 2 == 0 for total in sums)  # each unit that stays counts 2
    assert abs(sum(sums) / 20 - 4096) < 5 * 64 / 20**0.5


@pytest.mark.parametrize(
    ("activation", "by_hand"),
    [
        ("relu", lambda x: max(0.0, x)),
        ("swish", lambda x: x / (1 + math.exp(-x))),
        ("gelu", lambda x: x * (1 + math.erf(x / math.sqrt(2))) / 2),
    ],
)
def test_each_activation_by_hand(activation, by_hand):
    ffn = FeedForward(1, 1, activation=activation)
    with torch.no_grad():
        for linear in (ffn.expand, ffn.contract):
            linear.weight.fill_(1.0)
            linear.bias.zero_()
    for x in (-2.0, -0.3, 0.0, 1.7):
        assert ffn(torch.full((1, 1, 1), x)).item() == pytest.approx(by_hand(x), abs=1e-6)


@pytest.mark.parametrize("activation", ["swish", "gelu"])
def test_the_gradient_of_the_other_activations_is_right(activation):
    ffn = FeedForward(4, 6, activation=activation).double()
    assert torch.autograd.gradcheck(ffn, torch.randn(2, 3, 4, dtype=torch.float64, requires_grad=True))
