"""The seam: what every translation model offers, and all that trainer and search know of it.

Training:    hidden = model(src, tgt)              teacher-forced, all positions at once
             logits = model.project(hidden)
Prediction:  state = model.start(src)              the source is read once
             log_probs, state = model.step(last_ids, state)
             state = state.select(rows)            beams reordered, repeated or dropped
Looking back:
             hidden, weights = model.forward_with_weights(src, tgt)       what every head looked at
             hidden, attn_weights = model.forward_with_alignment(src, tgt)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar, Protocol, Self

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


@dataclass(frozen=True)
class AttentionWeights:
    """What was looked at, one tensor (B, H, Q, M) a layer; a model has those of the three that it has."""

    encoder: list[Tensor] = field(default_factory=list)  # source looks at source
    decoder: list[Tensor] = field(default_factory=list)  # target looks at target
    cross: list[Tensor] = field(default_factory=list)  # target looks at source


@dataclass(frozen=True)
class BatchShape:
    """How much there is to compute in a teacher-forced pass."""

    num_rows: int
    src_length: int  # padding included
    tgt_length: int
    num_src_tokens: int  # padding left out
    num_tgt_tokens: int  # as many reach the projection to the vocabulary


class TranslationModel(nn.Module, ABC):
    """Reads source ids, writes target ids. Knows tensors only: no files, no vocabulary."""

    has_attention: ClassVar[bool] = False  # to the source

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

    @abstractmethod
    def multiply_adds(self, shape: BatchShape) -> int:
        """Multiplications, each with its addition, in the matrix products of one `forward` and `project`."""

    def forward_with_penalty(self, src: Tensor, tgt: Tensor) -> tuple[Tensor, Tensor | None]:
        """What `forward` returns, and what the model itself wants kept small beside the loss, a token, if anything."""
        return self(src, tgt), None

    def forward_with_weights(self, src: Tensor, tgt: Tensor) -> tuple[Tensor, AttentionWeights]:
        """What `forward` returns, and what every head of every layer looked at."""
        raise UsageError(
            f"{type(self).__name__} has no attention to the source, and so there are no word alignments and no "
            "coverage penalty with this architecture; leave them out"
        )

    def forward_with_alignment(self, src: Tensor, tgt: Tensor) -> tuple[Tensor, Tensor]:
        """What `forward` returns, and how much each position of `tgt` looked at each of `src` (B, T, S), summing to 1.

        Of several layers the last but one is taken, of several heads the mean.

        Paper: Garg et al. 2019, section 3: of six layers this one aligns best; the last prepares the next piece.
        """
        hidden, weights = self.forward_with_weights(src, tgt)
        return hidden, weights.cross[max(0, len(weights.cross) - 2)].mean(dim=1)  # (B, H, T, S) -> (B, T, S)

    def project(self, hidden: Tensor) -> Tensor:
        """Logits of hidden vectors."""
        return F.linear(hidden, self.output_weight, self.output_bias)

    def num_parameters(self) -> int:
        """How many numbers are learned; shared ones count once."""
        return sum(parameter.numel() for parameter in self.parameters())
