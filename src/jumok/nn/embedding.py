"""Token embeddings, scaled by √d_model, and the output projection that may share their weights.

Paper: Vaswani et al. 2017, section 3.4; Press and Wolf 2017 for the sharing.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class ScaledEmbedding(nn.Module):
    """A vector for every piece of the vocabulary, multiplied by √d_model when it is looked up.

    The weights start small (variance 1 / d_model), which suits them as output projection too; the factor
    brings the looked-up vectors to the size of the positions that are added.

    Paper: Vaswani et al. 2017, section 3.4.
    """

    def __init__(self, vocab_size: int, d_model: int) -> None:
        super().__init__()
        self.scale = math.sqrt(d_model)
        self.weight = nn.Parameter(torch.empty(vocab_size, d_model))
        nn.init.normal_(self.weight, std=d_model**-0.5)

    def forward(self, ids: Tensor) -> Tensor:
        """Look the ids up and scale."""
        return F.embedding(ids, self.weight) * self.scale  # (B, T) -> (B, T, D)
