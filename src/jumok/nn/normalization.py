"""Layer normalisation.

Paper: Ba et al. 2016; Vaswani et al. 2017, section 5.4 (where it stands) and figure 1.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class LayerNorm(nn.Module):
    """Centre and scale each position's vector over its own d_model numbers, then gain and bias.

    Unlike batch normalisation it never looks at another sentence, so that training and prediction, long and
    short batches, all do the same.
    """

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.gain = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        """(x − mean) / √(variance + ε) · gain + bias, over the last dimension."""
        return F.layer_norm(x, self.gain.shape, self.gain, self.bias, self.eps)
