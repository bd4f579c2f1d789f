"""Who may attend to whom.

A mask is boolean and **True means "may attend"**, as in `F.scaled_dot_product_attention`. It has a shape that
broadcasts to the scores (B, H, Q, M). Where it is False the score becomes −∞ *before* the softmax, so that the
weight is exactly 0 and the other weights still sum to 1.
"""

from __future__ import annotations

import torch
from torch import Tensor


def padding_mask(ids: Tensor, pad_id: int) -> Tensor:
    """Hide the padding that fills short sentences up to the longest one of the batch."""
    return (ids != pad_id)[:, None, None, :]  # (B, M) -> (B, 1, 1, M)


def causal_mask(length: int, device: torch.device | None = None) -> Tensor:
    """Hide the future: position t sees the positions 0 … t.

    Paper: Vaswani et al. 2017, section 3.2.3, third bullet.
    """
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()  # (Q, M)
