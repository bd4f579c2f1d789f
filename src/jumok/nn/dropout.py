"""Dropout that does not cost a fifth of a training step on a CPU.

`nn.Dropout` draws one random number an element there. Here one 64-bit draw serves eight elements: an element is
dropped where its byte is below p·256. p is therefore rounded to 256ths, and the scale 1 / (1 − p) is exact for the
rounded p. The numbers come from torch's generator, so `torch.manual_seed` decides them. On other devices the
library's own dropout runs.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def random_keep_mask(num_elements: int, threshold: int) -> Tensor:
    """1 with probability 1 − threshold / 256, else 0, as bytes."""
    words = torch.empty((num_elements + 7) // 8, dtype=torch.int64).random_(-(2**63), None)
    return words.view(torch.uint8)[:num_elements].ge_(threshold)


class _ByteDropoutAdd(torch.autograd.Function):
    """x·mask·scale (+ residual) in as few passes over memory as eager torch allows."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, residual: Tensor | None, threshold: int) -> Tensor:
        keep = random_keep_mask(x.numel(), threshold).view(x.shape)
        ctx.save_for_backward(keep)
        ctx.scale = 256.0 / (256 - threshold)
        if residual is None:
            return torch.mul(x, keep).mul_(ctx.scale)
        return torch.addcmul(residual, x, keep.to(x.dtype), value=ctx.scale)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor | None, None]:
        (keep,) = ctx.saved_tensors
        grad = grads[0]
        return torch.mul(grad, keep).mul_(ctx.scale), grad if ctx.needs_input_grad[1] else None, None


class Dropout(nn.Module):
    """Sets each element to zero with probability p in training and scales the rest up; does nothing otherwise.

    Paper: Vaswani et al. 2017, section 5.4.
    """

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        """Drop elements of x."""
        if not self.training or self.p == 0.0:
            return x
        if x.device.type != "cpu":
            return F.dropout(x, self.p)
        return _apply(x, None, self.p)

    def add(self, x: Tensor, residual: Tensor) -> Tensor:
        """Return residual + dropout(x), in one go."""
        if not self.training or self.p == 0.0:
            return residual + x
        if x.device.type != "cpu":
            return residual + F.dropout(x, self.p)
        return _apply(x, residual, self.p)


def _apply(x: Tensor, residual: Tensor | None, p: float) -> Tensor:
    result: Tensor = _ByteDropoutAdd.apply(x, residual, min(255, round(p * 256)))  # type: ignore[no-untyped-call]
    return result
