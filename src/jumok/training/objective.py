"""What is learned: a batch becomes a summed loss and a count of tokens.

The trainer knows nothing else of the task, so that other objectives come in through the same door.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from torch import Tensor, nn

from jumok.config import TrainingConfig
from jumok.data.batching import Batch
from jumok.evaluation.cost import training_flops
from jumok.models.interface import TranslationModel
from jumok.text.tokenizer import PAD_ID
from jumok.training.loss import projected_cross_entropy


def build_objective(model: TranslationModel, config: TrainingConfig) -> Objective:
    """The objective that a configuration names."""
    if config.objective == "reinforced":
        from jumok.training.reinforced import ReinforcedObjective

        return ReinforcedObjective(model, config)
    return TranslationObjective(model, config.label_smoothing)


class Objective(nn.Module, ABC):
    """Holds the model and turns a batch into a loss, summed over its tokens, and the number of those tokens.

    A module around the model, so that whatever joins the gradients of many processes sees the whole computation.
    """

    def __init__(self, model: TranslationModel, label_smoothing: float) -> None:
        super().__init__()
        self.model = model
        self.label_smoothing = label_smoothing

    @abstractmethod
    def forward(self, batch: Batch) -> tuple[Tensor, int]:
        """The summed loss, and over how many tokens it was summed."""

    def flops(self, batch: Batch) -> int:
        """Floating-point operations of `forward` and its backward pass over this batch."""
        return training_flops(self.model, batch)


class TranslationObjective(Objective):
    """Predict each target piece from the source and the target pieces before it (teacher forcing)."""

    def forward(self, batch: Batch) -> tuple[Tensor, int]:
        """Padding is dropped before the projection, which is the widest product of all.

        Labels are smoothed in training only: the validation loss is the plain one.
        """
        hidden, penalty = self.model.forward_with_penalty(batch.src, batch.tgt_in)
        hidden = hidden.flatten(0, 1)  # (B, T, D) -> (B·T, D)
        targets = batch.tgt_out.flatten()
        if batch.num_tgt_tokens < targets.numel():
            is_piece = targets != PAD_ID
            hidden, targets = hidden[is_piece], targets[is_piece]
        smoothing = self.label_smoothing if self.training else 0.0
        loss = projected_cross_entropy(hidden, self.model.output_weight, self.model.output_bias, targets, smoothing)
        if penalty is not None and self.training:
            loss = loss + penalty * batch.num_tgt_tokens
        return loss, batch.num_tgt_tokens
