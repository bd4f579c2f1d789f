"""The position-wise feed-forward network.

Paper: Vaswani et al. 2017, section 3.3.
"""

from __future__ import annotations

from typing import Any, Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from jumok.nn.dropout import Dropout

Activation = Literal["relu", "swish", "gelu"]


class FeedForward(nn.Module):
    """FFN(x) = max(0, x·W_1 + b_1)·W_2 + b_2, the same at every position.

    Paper: Vaswani et al. 2017, section 3.3, equation 2.
    Differs: swish or gelu can stand in the place of max(0, ·), because published models have them.
    """

    def __init__(self, d_model: int, d_ff: int, dropout: float = 0.0, activation: Activation = "relu") -> None:
        super().__init__()
        self.activation = activation
        self.expand = nn.Linear(d_model, d_ff)  # W_1, b_1
        self.contract = nn.Linear(d_ff, d_model)  # W_2, b_2
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Widen to d_ff, cut off below zero, come back to d_model."""
        rows = x.flatten(0, -2)  # (B, T, D) -> (B·T, D): only then can the cut be made in place
        y: Tensor = self.contract(self.dropout(self._activate(self.expand(rows))))
        return y.view_as(x)

    def _activate(self, x: Tensor) -> Tensor:
        if self.activation == "swish":
            return F.silu(x)  # x·sigmoid(x)
        if self.activation == "gelu":
            return F.gelu(x)  # x·Φ(x), not its approximation by tanh
        y: Tensor = _Relu.apply(x)  # type: ignore[no-untyped-call]
        return y


class _Relu(torch.autograd.Function):
    """max(0, x) in place, whose gradient is cut in place too: two passes over (B·T, d_ff) fewer."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        y = x.relu_()
        ctx.mark_dirty(y)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        (y,) = ctx.saved_tensors
        torch.ops.aten.threshold_backward.grad_input(grads[0], y, 0, grad_input=grads[0])
        return grads[0]
