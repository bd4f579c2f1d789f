from __future__ import annotations

import torch
from torch import nn

from jumok.nn.normalization import LayerNorm


def test_two_numbers_by_hand():
    # mean 3, variance 1: (2, 4) -> (-1, 1), then gain 2 and bias 10.
    norm = LayerNorm(2, eps=0.0)
    with torch.no_grad():
        norm.gain.fill_(2.0)
        norm.bias.fill_(10.0)
    torch.testing.assert_close(norm(torch.tensor([[2.0, 4.0]])), torch.tensor([[8.0, 12.0]]))


def test_layer_norm_is_torchs_in_value_and_gradient():
    torch.manual_seed(0)
    ours, theirs = LayerNorm(16), nn.LayerNorm(16)
    with torch.no_grad():
        ours.gain.normal_()
        ours.bias.normal_()
        theirs.weight.copy_(ours.gain)
        theirs.bias.copy_(ours.bias)
    x = torch.randn(2, 3, 16, requires_grad=True)
    torch.testing.assert_close(ours(x), theirs(x))
    (a,) = torch.autograd.grad(ours(x).square().sum(), x)
    (b,) = torch.autograd.grad(theirs(x).square().sum(), x)
    torch.testing.assert_close(a, b)
