"""Label-smoothed cross-entropy, plain and fused with the projection to the vocabulary.

Paper: Vaswani et al. 2017, section 5.4; Szegedy et al. 2016 for the smoothing.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

# Rows of logits that are held at a time: few enough to stay in a CPU's cache, enough for a fast product.
_CHUNK_ROWS = 512


def label_smoothed_cross_entropy(logits: Tensor, targets: Tensor, smoothing: float) -> Tensor:
    """−Σ_v q(v)·log p(v), summed over rows, where q is (1 − ε) on the target and ε / V on every piece.

    Paper: Vaswani et al. 2017, section 5.4, "Label Smoothing".
    """
    log_probs = logits.float().log_softmax(dim=-1)  # (R, V)
    at_target = log_probs.gather(1, targets[:, None]).sum()
    return -(1 - smoothing) * at_target - smoothing * log_probs.mean(dim=-1).sum()


def projected_cross_entropy(
    hidden: Tensor, weight: Tensor, bias: Tensor | None, targets: Tensor, smoothing: float
) -> Tensor:
    """The same loss from hidden vectors (R, D) and the output matrix (V, D).

    On a CPU in training the logits of all rows never exist at once: chunk by chunk they are turned into their own
    gradient while they are in the cache.
    """
    is_fused = hidden.device.type == "cpu" and torch.is_grad_enabled() and bias is None
    if is_fused and hidden.dtype == torch.float32 and not torch.is_autocast_enabled("cpu"):
        loss: Tensor = _ProjectedCrossEntropy.apply(hidden, weight, targets, smoothing)  # type: ignore[no-untyped-call]
        return loss
    return label_smoothed_cross_entropy(F.linear(hidden, weight, bias), targets, smoothing)


class _ProjectedCrossEntropy(torch.autograd.Function):
    """∂loss/∂logits = softmax(logits) − q, so the gradient is known as soon as the loss is."""

    @staticmethod
    def forward(ctx: Any, hidden: Tensor, weight: Tensor, targets: Tensor, smoothing: float) -> Tensor:
        num_pieces = weight.size(0)
        loss = hidden.new_zeros(())
        grad_hidden = torch.empty_like(hidden)
        grad_weight = torch.zeros_like(weight)
        for start in range(0, hidden.size(0), _CHUNK_ROWS):
            rows = slice(start, start + _CHUNK_ROWS)
            h, target = hidden[rows], targets[rows, None]
            log_probs = F.linear(h, weight).log_softmax(dim=-1)
            loss -= (1 - smoothing) * log_probs.gather(1, target).sum()
            if smoothing:
                loss -= smoothing / num_pieces * log_probs.sum()
            grad_logits = log_probs.exp_()
            if smoothing:
                grad_logits.sub_(smoothing / num_pieces)
            grad_logits.scatter_add_(1, target, grad_logits.new_full((1, 1), smoothing - 1).expand_as(target))
            torch.mm(grad_logits, weight, out=grad_hidden[rows])
            grad_weight.addmm_(grad_logits.t(), h)
        ctx.save_for_backward(grad_hidden, grad_weight)
        return loss

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, None, None]:
        grad_hidden, grad_weight = ctx.saved_tensors
        return grad_hidden.mul_(grads[0]), grad_weight.mul_(grads[0]), None, None
