from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from jumok.nn.convolution import Convolution, NormalizedLinear, gather_neighbours


def _convolution(kernel: int = 3, dilation: int = 1, is_causal: bool = False, d_in: int = 4, d_out: int = 6):
    torch.manual_seed(0)
    return Convolution(nn.Linear(kernel * d_in, d_out), kernel, dilation, is_causal)


def _by_torch(convolution: Convolution, x: torch.Tensor) -> torch.Tensor:
    """The same with `conv1d`, on a sentence that is filled up with zeros at both ends."""
    offsets = convolution.offsets
    weight = convolution.mapping.weight.view(-1, len(offsets), x.size(-1)).transpose(1, 2)
    filled = F.pad(x, (0, 0, -offsets[0], offsets[-1])).transpose(1, 2)
    return F.conv1d(filled, weight, convolution.mapping.bias, dilation=convolution.dilation).transpose(1, 2)


def _seen_by(convolution: Convolution, position: int, length: int) -> list[int]:
    x = torch.randn(1, length, 4, requires_grad=True)
    convolution(x)[0, position].sum().backward()
    return x.grad[0].abs().sum(dim=-1).nonzero().flatten().tolist()


@pytest.mark.parametrize("is_causal", [True, False], ids=["causal", "both ways"])
@pytest.mark.parametrize(("kernel", "dilation"), [(1, 1), (2, 1), (3, 1), (3, 4), (5, 2), (4, 3)])
@pytest.mark.parametrize("length", [1, 2, 5, 13])
def test_it_is_torchs_convolution_and_so_is_its_gradient(kernel, dilation, is_causal, length):
    convolution = _convolution(kernel, dilation, is_causal)
    x = torch.randn(3, length, 4, requires_grad=True)
    results = []
    for compute in (convolution, lambda x: _by_torch(convolution, x)):
        y = compute(x)
        weight, bias = convolution.mapping.weight, convolution.mapping.bias
        results.append([y, *torch.autograd.grad((y * y.detach().cos()).sum(), [x, weight, bias])])
    for ours, theirs in zip(*results, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)


def test_a_causal_one_sees_itself_and_what_lies_before():
    assert _seen_by(_convolution(3, 1, is_causal=True), 5, 9) == [3, 4, 5]
    assert _seen_by(_convolution(3, 4, is_causal=True), 8, 12) == [0, 4, 8]
    assert _seen_by(_convolution(3, 4, is_causal=True), 5, 12) == [1, 5]


def test_another_one_sees_equally_far_to_both_sides():
    assert _seen_by(_convolution(3, 1), 5, 9) == [4, 5, 6]
    assert _seen_by(_convolution(5, 2), 5, 12) == [1, 3, 5, 7, 9]


@pytest.mark.parametrize(("kernel", "dilation"), [(1, 1), (2, 1), (3, 1), (3, 4), (4, 2)])
def test_steps_are_the_whole_convolution_one_position_at_a_time(kernel, dilation):
    convolution = _convolution(kernel, dilation, is_causal=True)
    x = torch.randn(3, 15, 4)
    whole, window = convolution(x), convolution.start(3)
    for t in range(15):
        assert window.shape == (3, (kernel - 1) * dilation, 4)
        y, window = convolution.step(x[:, t], window)
        torch.testing.assert_close(y, whole[:, t], atol=1e-6, rtol=1e-5)


def test_one_that_looks_ahead_cannot_go_step_by_step():
    with pytest.raises(AssertionError, match="a convolution that looks ahead cannot go step by step"):
        _convolution().start(2)


@pytest.mark.parametrize("length", [1, 4, 8, 20])
@pytest.mark.parametrize(("dilation", "is_causal"), [(1, True), (4, False), (4, True), (16, True)])
def test_products_are_counted_and_offsets_beyond_the_sentence_cost_nothing(dilation, is_causal, length):
    convolution = _convolution(3, dilation, is_causal)
    with FlopCounterMode(display=False) as counter:
        convolution(torch.randn(2, length, 4))
    assert 2 * convolution.multiply_adds(2, length) == counter.get_total_flops()
    reaching = sum(abs(offset) < length for offset in convolution.offsets)
    assert convolution.multiply_adds(2, length) == 2 * length * reaching * 4 * 6


def test_neighbours_by_hand():
    x = torch.tensor([[[1.0], [2.0], [3.0]]])
    assert gather_neighbours(x, (-2, -1, 0)).tolist() == [[[0, 0, 1], [0, 1, 2], [1, 2, 3]]]
    assert gather_neighbours(x, (-1, 0, 1)).tolist() == [[[0, 1, 2], [1, 2, 3], [2, 3, 0]]]


def test_gradients_of_neighbours_are_numerically_right():
    x = torch.randn(2, 5, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: gather_neighbours(x, (-4, -1, 0, 2)).sin(), (x,))


def test_weight_normalisation_is_torchs():
    torch.manual_seed(0)
    ours = NormalizedLinear(5, 7, std=0.3)
    with torch.no_grad():
        ours.length.add_(torch.rand_like(ours.length))
        ours.bias.normal_()
    theirs = nn.utils.parametrizations.weight_norm(nn.Linear(5, 7))
    theirs.parametrizations.weight.original0.data = ours.length.detach().clone()
    theirs.parametrizations.weight.original1.data = ours.direction.detach().clone()
    theirs.bias.data = ours.bias.detach().clone()
    x = torch.randn(4, 5)
    torch.testing.assert_close(ours(x), theirs(x))
    torch.testing.assert_close(ours.weight.norm(dim=1), ours.length[:, 0])
    for layer in (ours, theirs):
        layer(x).square().sum().backward()
    original = theirs.parametrizations.weight
    torch.testing.assert_close(ours.length.grad, original.original0.grad)
    torch.testing.assert_close(ours.direction.grad, original.original1.grad)
    torch.testing.assert_close((ours.direction.grad * ours.direction).sum(1), torch.zeros(7), atol=1e-4, rtol=0)


def test_a_normalised_mapping_begins_as_a_plain_one_of_the_given_spread():
    torch.manual_seed(0)
    layer = NormalizedLinear(200, 300, std=math.sqrt(4 * 0.9 / 200))
    torch.testing.assert_close(layer.weight, layer.direction)
    assert layer.weight.std().item() == pytest.approx(math.sqrt(4 * 0.9 / 200), rel=0.02)
    assert not layer.bias.any()
    assert NormalizedLinear(2, 3, std=1.0, bias=False).bias is None
