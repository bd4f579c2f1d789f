"""Who may attend to whom.

A mask is boolean and **True means "may attend"**, as in `F.scaled_dot_product_attention`. It has a shape that
broadcasts to the scores (B, H, Q, M). Where it is False the score becomes −∞ *before* the softmax, so that the
weight is exactly 0 and the other weights still sum to 1.

Two mistakes can be made on purpose (`model.masking`), with padding and the future alike:

zero_before   the score becomes 0: the weight is e⁰ / Σ, like that of any key that is neither sought nor avoided, and
              what was to be hidden is read.
zero_after    the weight becomes 0 after the softmax: the others sum to less than 1, by a share that depends on what is
              hidden.

In training both tell the decoder of words that it is to predict. Prediction step by step has no future keys, so there
the same weights do something else: that the two differ is what is wrong with them.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

Masking = Literal["minus_infinity", "zero_before", "zero_after"]


def padding_mask(ids: Tensor, pad_id: int) -> Tensor:
    """Hide the padding that fills short sentences up to the longest one of the batch."""
    return (ids != pad_id)[:, None, None, :]  # (B, M) -> (B, 1, 1, M)


def causal_mask(length: int, device: torch.device | None = None) -> Tensor:
    """Hide the future: position t sees the positions 0 … t.

    Paper: Vaswani et al. 2017, section 3.2.3, third bullet.
    """
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()  # (Q, M)
