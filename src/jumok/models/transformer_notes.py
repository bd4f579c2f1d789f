"""What a Transformer tells of a pass beside its output: on request, all that there is to see of it.

Notes come back from the very code that trains and translates, and change nothing of what it computes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from jumok.models.interface import AttentionWeights
from jumok.nn.attention import Attended


class LayerNotes(NamedTuple):
    """What a layer tells beside its output: the experts' penalty, and on request all that can be looked at."""

    penalty: Tensor | None = None  # how unevenly experts were used, where there are any
    attended: tuple[Attended, ...] = ()  # of each attention
    stream: tuple[Tensor, ...] = ()  # (B, T, D) after each sub-layer


@dataclass(frozen=True)
class PassNotes:
    """What there is to see of one teacher-forced pass."""

    src_embedded: Tensor  # (B, S, D), positions added
    tgt_embedded: Tensor  # (B, T, D)
    encoder: list[LayerNotes]
    decoder: list[LayerNotes]

    def penalty(self) -> Tensor | None:
        """Of the experts of all layers, where there are any."""
        penalties = [layer.penalty for layer in (*self.encoder, *self.decoder) if layer.penalty is not None]
        return torch.stack(penalties).sum() if penalties else None

    def weights(self) -> AttentionWeights:
        """What every head of every layer looked at."""
        return AttentionWeights(
            encoder=[layer.attended[0].weights for layer in self.encoder],
            decoder=[layer.attended[0].weights for layer in self.decoder],
            cross=[layer.attended[1].weights for layer in self.decoder],
        )
