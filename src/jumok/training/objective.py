"""What is learned: a batch becomes a summed loss and a count of tokens.

The trainer knows nothing else of the task, so that other objectives come in through the same door.
"""

from __future__ import annotations

from typing import Protocol

from torch import Tensor

from jumok.data.batching import Batch
from jumok.models.interface import TranslationModel
from jumok.text.tokenizer import PAD_ID
from jumok.training.loss import projected_cross_entropy


class Objective(Protocol):
    """Turns a batch into a loss, summed over its tokens, and the number of those tokens."""

    def __call__(self, batch: Batch) -> tuple[Tensor, int]:
        """The summed loss, and over how many tokens it was summed."""
        ...


class TranslationObjective:
    """Predict each target piece from the source and the target pieces before it (teacher forcing)."""

    def __init__(self, model: TranslationModel, label_smoothing: float) -> None:
        self.model = model
        self.label_smoothing = label_smoothing

    def __call__(self, batch: Batch) -> tuple[Tensor, int]:
        """Padding is dropped before the projection, which is the widest product of all."""
        hidden = self.model(batch.src, batch.tgt_in).flatten(0, 1)  # (B, T, D) -> (B·T, D)
        targets = batch.tgt_out.flatten()
        if batch.num_tgt_tokens < targets.numel():
            is_piece = targets != PAD_ID
            hidden, targets = hidden[is_piece], targets[is_piece]
        loss = projected_cross_entropy(
            hidden, self.model.output_weight, self.model.output_bias, targets, self.label_smoothing
        )
        return loss, batch.num_tgt_tokens
