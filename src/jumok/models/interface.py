"""The seam: what every translation model offers, and all that trainer and search know of it.

Training:    hidden = model(src, tgt)              teacher-forced, all positions at once
             logits = model.project(hidden)
Prediction:  state = model.start(src)              the source is read once
             log_probs, state = model.step(last_ids, state)
             state = state.select(rows)            beams reordered, repeated or dropped
Looking back:
             hidden, attn_weights = model.forward_with_alignment(src, tgt)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Protocol, Self

import torch.nn.functional as F
from torch import Tensor, nn

from jumok.errors import UsageError


class DecoderState(Protocol):
    """What a model remembers between two steps of prediction, one row a hypothesis."""

    def select(self, rows: Tensor) -> Self:
        """The state of these rows, in this order; a row may be repeated.

        Rows stay grouped: all rows of one source sentence stand side by side, equally many for each sentence.
        """
        ...


class TranslationModel(nn.Module, ABC):
    """Reads source ids, writes target ids. Knows tensors only: no files, no vocabulary."""

    @property
    @abstractmethod
    def output_weight(self) -> Tensor:
        """The matrix (V, D) that turns a hidden vector into logits."""

    @property
    def output_bias(self) -> Tensor | None:
        """What is added to the logits, if anything."""
        return None

    @property
    @abstractmethod
    def max_length(self) -> int | None:
        """The longest sentence in pieces that the model can take, None where there is no limit."""

    @abstractmethod
    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        """Hidden vectors (B, T, D) that predict, at each position of `tgt`, the piece that follows."""

    @abstractmethod
    def start(self, src: Tensor) -> DecoderState:
        """Read the source (B, S) and get ready to predict."""

    @abstractmethod
    def step(self, last_ids: Tensor, state: DecoderState) -> tuple[Tensor, DecoderState]:
        """Log-probabilities (R, V) of the next piece of each row, given the piece that was chosen last."""

    def forward_with_alignment(self, src: Tensor, tgt: Tensor) -> tuple[Tensor, Tensor]:
        """What `forward` returns, and how much each position of `tgt` looked at each of `src` (B, T, S), summing to 1.

        For models that have an attention to the source.
        """
        raise UsageError(
            f"{type(self).__name__} has no attention to the source, and so there are no word alignments and no "
            "coverage penalty with this architecture; leave them out"
        )

    def project(self, hidden: Tensor) -> Tensor:
        """Logits of hidden vectors."""
        return F.linear(hidden, self.output_weight, self.output_bias)

    def num_parameters(self) -> int:
        """How many numbers are learned; shared ones count once."""
        return sum(parameter.numel() for parameter in self.parameters())
