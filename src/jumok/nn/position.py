"""Where a token stands: sinusoidal and learned positions, and simpler ways that serve less well.

Paper: Vaswani et al. 2017, section 3.5.
"""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import Tensor, nn

from jumok.errors import DataError

SimplePosition = Literal["none", "counts", "scaled_counts", "bits"]


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

    def forward(self, x: Tensor, start: int = 0, lengths: Tensor | None = None) -> Tensor:
        """Add the position of each token to its embedding; `start` is the position of the first one."""
        end, table = start + x.size(1), self.table
        if end > table.size(0):
            with torch.inference_mode(False):  # training may go on with it; another thread may put its own there
                table = self.table = sinusoids(2 * end, self.d_model).to(table.device, table.dtype)
        return x + table[start:end]


class LearnedPositions(nn.Module):
    """Adds a learned vector for each position up to a fixed length.

    Paper: Vaswani et al. 2017, section 3.5 and row (E) of Table 3.
    """

    def __init__(self, d_model: int, num_positions: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(num_positions, d_model)
        nn.init.normal_(self.embedding.weight, std=d_model**-0.5)

    def forward(self, x: Tensor, start: int = 0, lengths: Tensor | None = None) -> Tensor:
        """Add the learned vector of each position; `start` is the position of the first token."""
        end = start + x.size(1)
        if end > self.embedding.num_embeddings:
            raise DataError(
                f"a sentence of {end} pieces is longer than the {self.embedding.num_embeddings} learned positions; "
                "raise model.max_length and train again"
            )
        return x + self.embedding.weight[start:end]


class SimplePositions(nn.Module):
    """Adds what one might try first.

    none           nothing: a source is a bag of words, and only the future's absence tells a target's order
    counts         0, 1, 2, … to every dimension: soon larger than any embedding, and never seen in longer sentences
    scaled_counts  position / (length − 1), so 0 … 1, to every dimension: a step forward is smaller in a longer sentence
    bits           digit i of the binary number to dimension i, 0 to those left over: neighbours may differ in many

    One number on every dimension is what a layer norm takes away: counts reach the first layer of a post-norm stack,
    and a pre-norm stack is as if there were none.

    A length is that of the sentence, without padding. Scaled counts need it, and step by step a translation's is not
    known before it ends: there the source's stands in, right only where both are equally long.
    """

    def __init__(self, d_model: int, kind: SimplePosition) -> None:
        super().__init__()
        self.d_model = d_model
        self.kind = kind

    def forward(self, x: Tensor, start: int = 0, lengths: Tensor | None = None) -> Tensor:
        """Add the position of each token; `lengths` (B,) are wanted for scaled counts only."""
        position = torch.arange(start, start + x.size(1), device=x.device)[:, None]  # (T, 1)
        match self.kind:
            case "none":
                return x
            case "counts":
                return x + position
            case "scaled_counts":
                assert lengths is not None, "scaled counts need lengths"
                return x + position / (lengths - 1).clamp(min=1)[:, None, None]  # (T, 1), (B, 1, 1) -> (B, T, 1)
            case "bits":
                dimension = torch.arange(self.d_model, device=x.device)
                digits = position.bitwise_right_shift(dimension.clamp(max=62)) & 1  # (T, 1), (D,) -> (T, D)
                return x + digits
