"""Where a token stands: sinusoidal and learned positions.

Paper: Vaswani et al. 2017, section 3.5.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from jumok.errors import DataError


def sinusoids(num_positions: int, d_model: int) -> Tensor:
    """PE(pos, 2i) = sin(pos / 10000^(2i/d_model)), PE(pos, 2i+1) = cos of the same.

    The wavelengths grow from 2π to 10000·2π, and PE(t+k) is a rotation of PE(t) that depends on k alone.

    Paper: Vaswani et al. 2017, section 3.5.
    """
    position = torch.arange(num_positions, dtype=torch.float64)[:, None]
    frequency = torch.exp(-math.log(10000.0) * torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    angle = position * frequency  # (T, D / 2)
    return torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1).float()  # (T, D), sin and cos interleaved


class SinusoidalPositions(nn.Module):
    """Adds the sinusoids; the table is computed, never learned, and grows when a longer sentence comes."""

    table: Tensor

    def __init__(self, d_model: int, num_positions: int = 512) -> None:
        super().__init__()
        self.d_model = d_model
        self.register_buffer("table", sinusoids(num_positions, d_model), persistent=False)

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        """Add the position of each token to its embedding; `start` is the position of the first one."""
        end, table = start + x.size(1), self.table
        if end > table.size(0):
            table = self.table = sinusoids(2 * end, self.d_model).to(table)  # another thread may put its own there
        return x + table[start:end]


class LearnedPositions(nn.Module):
    """Adds a learned vector for each position up to a fixed length.

    Paper: Vaswani et al. 2017, section 3.5 and row (E) of Table 3.
    """

    def __init__(self, d_model: int, num_positions: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(num_positions, d_model)
        nn.init.normal_(self.embedding.weight, std=d_model**-0.5)

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        """Add the learned vector of each position; `start` is the position of the first token."""
        end = start + x.size(1)
        if end > self.embedding.num_embeddings:
            raise DataError(
                f"a sentence of {end} pieces is longer than the {self.embedding.num_embeddings} learned positions; "
                'raise model.max_length and train again, or use position = "sinusoidal"'
            )
        return x + self.embedding.weight[start:end]
