"""Label-smoothed cross-entropy, plain and fused with the projection to the vocabulary.

Paper: Vaswani et al. 2017, section 5.4; Szegedy et al. 2016 for the smoothing.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

# Rows of logits that are held at a time: enough for a fast product, few enough to need little memory.
_CHUNK_ROWS = 512
# Below this a probability is too small a number to take its logarithm.
_SMALLEST = torch.finfo(torch.float32).tiny


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
    gradient and forgotten.
    """
    is_fused = hidden.device.type == "cpu" and torch.is_grad_enabled() and bias is None
    if is_fused and hidden.dtype == torch.float32 and not torch.is_autocast_enabled("cpu"):
        loss: Tensor = _ProjectedCrossEntropy.apply(hidden, weight, targets, smoothing)  # type: ignore[no-untyped-call]
        return loss
    return label_smoothed_cross_entropy(F.linear(hidden, weight, bias), targets, smoothing)


class _ProjectedCrossEntropy(torch.autograd.Function):
    """∂loss/∂logits = softmax(logits) − q, so the gradient is known as soon as the loss is.

    Only softmax − (1 − ε)·one-hot is computed for every logit. The uniform part of q, ε / V, is the same for all of
    them, so that what it adds to loss and gradients comes from sums over the rows of hidden and weight.
    """

    @staticmethod
    def forward(ctx: Any, hidden: Tensor, weight: Tensor, targets: Tensor, smoothing: float) -> Tensor:
        num_pieces = weight.size(0)
        at_target = hidden.new_zeros(())  # Σ log p(target)
        grad_hidden = torch.empty_like(hidden)
        grad_weight = torch.zeros_like(weight)
        logits = hidden.new_empty(min(_CHUNK_ROWS, hidden.size(0)), num_pieces)
        for start in range(0, hidden.size(0), _CHUNK_ROWS):
            rows = slice(start, start + _CHUNK_ROWS)
            h, target = hidden[rows], targets[rows, None]
            probs = torch.mm(h, weight.t(), out=logits[: h.size(0)])
            torch.softmax(probs, dim=-1, out=probs)
            of_target = probs.gather(1, target)
            if of_target.min() < _SMALLEST:
                at_target += F.linear(h, weight).log_softmax(dim=-1).gather(1, target).sum()
            else:
                at_target += of_target.log_().sum()
            probs.scatter_add_(1, target, probs.new_full((1, 1), smoothing - 1).expand_as(target))  # ∂loss/∂logits
            torch.mm(probs, weight, out=grad_hidden[rows])
            grad_weight.addmm_(probs.t(), h)
        loss = -(1 - smoothing) * at_target
        if smoothing:
            sum_weight, sum_hidden = weight.sum(0), hidden.sum(0)
            log_normalizers = (hidden * weight[targets]).sum() - at_target  # Σ log Σ_v exp(logit)
            loss += smoothing * (log_normalizers - sum_hidden @ sum_weight / num_pieces)
            grad_hidden -= smoothing / num_pieces * sum_weight
            grad_weight -= smoothing / num_pieces * sum_hidden
        ctx.save_for_backward(grad_hidden, grad_weight)
        return loss

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, None, None]:
        grad_hidden, grad_weight = ctx.saved_tensors
        return grad_hidden.mul_(grads[0]), grad_weight.mul_(grads[0]), None, None
