"""Convolutions over the positions of a sentence: looking both ways or back only, dilated, all positions or one.

A convolution of kernel k is a matrix product with k neighbours laid side by side, and is computed as one. On a CPU, at
the 20 words of a usual sentence, that trains faster than torch's `conv1d`, and vectors stay in one piece (B, T, D) as
everywhere else.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class NormalizedLinear(nn.Module):
    """A linear mapping whose rows are learned as direction and length: w = g · v / ‖v‖.

    It begins with weights from N(0, std²) and g = ‖v‖. A plain mapping at first, which learns faster then, because
    no step along v changes how long w is.

    Paper: Salimans and Kingma 2016, "Weight Normalization", section 2, equation 2.
    """

    def __init__(self, d_in: int, d_out: int, std: float, bias: bool = True) -> None:
        super().__init__()
        self.direction = nn.Parameter(torch.empty(d_out, d_in))
        nn.init.normal_(self.direction, std=std)
        self.length = nn.Parameter(torch.linalg.vector_norm(self.direction.detach(), dim=1, keepdim=True))
        self.bias = nn.Parameter(torch.zeros(d_out)) if bias else None

    @property
    def weight(self) -> Tensor:
        """The matrix (d_out, d_in) that this is at present."""
        return torch._weight_norm(self.direction, self.length, 0)  # fused, a third of the time of written out

    def forward(self, x: Tensor) -> Tensor:
        """Map the last dimension."""
        return F.linear(x, self.weight, self.bias)


class Convolution(nn.Module):
    """y_t = mapping([x_(t+o) for every offset o]), where what lies outside the sentence is zero.

    A causal one looks at t and k − 1 positions before it, another one equally far to both sides; neighbours are
    `dilation` positions apart. Padding behind a sentence has to be zero already, if the convolution is not causal.

    Paper: Kalchbrenner et al. 2016 (second version), sections 3.4 (masked) and 3.5 (dilated).
    """

    def __init__(
        self, mapping: nn.Linear | NormalizedLinear, kernel: int, dilation: int = 1, is_causal: bool = False
    ) -> None:
        super().__init__()
        self.mapping = mapping  # from kernel · d_in numbers, the earliest position first
        num_before = kernel - 1 if is_causal else (kernel - 1) // 2
        self.offsets = tuple(dilation * (i - num_before) for i in range(kernel))
        self.dilation = dilation
        self.is_causal = is_causal

    def forward(self, x: Tensor) -> Tensor:
        """Every position of a sentence: (B, T, d_in) -> (B, T, d_out)."""
        first, last = self._within(x.size(1))
        weight, d_in = self.mapping.weight, x.size(-1)
        if last - first < len(self.offsets):
            weight = weight[:, first * d_in : last * d_in]
        return F.linear(gather_neighbours(x, self.offsets[first:last]), weight, self.mapping.bias)

    def start(self, num_rows: int) -> Tensor:
        """What a causal convolution remembers before the first position: nothing, as zeros (R, window, d_in)."""
        assert self.is_causal, "a convolution that looks ahead cannot go step by step"
        weight = self.mapping.weight
        return weight.new_zeros(num_rows, -self.offsets[0], weight.size(1) // len(self.offsets))

    def step(self, x: Tensor, window: Tensor) -> tuple[Tensor, Tensor]:
        """One position of every row, (R, d_in) -> (R, d_out), and the inputs to remember for the next."""
        seen = torch.cat((window, x[:, None]), dim=1)
        return self.mapping(seen[:, :: self.dilation].flatten(1)), seen[:, 1:]

    def multiply_adds(self, num_rows: int, length: int) -> int:
        """Of `forward` over so many sentences of so many positions, padded ones counted."""
        first, last = self._within(length)
        return num_rows * length * self.mapping.weight.numel() * (last - first) // len(self.offsets)

    def _within(self, length: int) -> tuple[int, int]:
        """The range of offsets that reach anything in a sentence so long; the others would multiply zeros."""
        reaching = [i for i, offset in enumerate(self.offsets) if abs(offset) < max(length, 1)]
        return reaching[0], reaching[-1] + 1


def gather_neighbours(x: Tensor, offsets: tuple[int, ...]) -> Tensor:
    """At each position t the vectors of the positions t + offset, side by side: (B, T, D) -> (B, T, k·D)."""
    assert 0 in offsets and all(abs(offset) < max(x.size(1), 1) for offset in offsets)
    neighbours: Tensor = _Neighbours.apply(x, offsets)  # type: ignore[no-untyped-call]
    return neighbours


class _Neighbours(torch.autograd.Function):
    """Copies, and sums of copies on the way back; torch's own padding and joining would copy everything twice."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, offsets: tuple[int, ...]) -> Tensor:
        ctx.offsets = offsets
        batch, length, d_in = x.shape
        joined = x.new_empty(batch, length, len(offsets), d_in)
        for i, offset in enumerate(offsets):
            here, there = _overlap(length, offset)
            joined[:, here, i] = x[:, there]
            joined[:, _outside(length, offset), i] = 0
        return joined.flatten(2)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        batch, length, _ = grads[0].shape
        parts = grads[0].view(batch, length, len(ctx.offsets), -1)
        grad = parts[:, :, ctx.offsets.index(0)].clone()
        for i, offset in enumerate(ctx.offsets):
            if offset:
                here, there = _overlap(length, offset)
                grad[:, there] += parts[:, here, i]
        return grad, None


def _overlap(length: int, offset: int) -> tuple[slice, slice]:
    """Positions that have a neighbour at this offset, and the neighbours."""
    start, end = max(0, -offset), length - max(0, offset)
    return slice(start, end), slice(start + offset, end + offset)


def _outside(length: int, offset: int) -> slice:
    """Positions whose neighbour at this offset would lie outside the sentence."""
    return slice(0, -offset) if offset < 0 else slice(length - offset, length)
