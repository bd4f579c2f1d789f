"""Several models that predict together as one: the mean of their probabilities.

Paper: Sutskever et al. 2014, "Sequence to Sequence Learning with Neural Networks", section 3.6 (an ensemble of five).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NoReturn, Self

import torch
from torch import Tensor, nn

from jumok.errors import UsageError
from jumok.models.interface import AttentionWeights, BatchShape, DecoderState, TranslationModel


@dataclass(frozen=True)
class EnsembleState:
    """What each model remembers, in the order of the models."""

    members: list[DecoderState]

    def select(self, rows: Tensor) -> Self:
        """The same rows of every model."""
        return type(self)([member.select(rows) for member in self.members])


class Ensemble(TranslationModel):
    """Models with the same vocabularies, whatever else they are."""

    def __init__(self, models: Sequence[TranslationModel]) -> None:
        super().__init__()
        assert models, "an ensemble has at least one model"
        sizes = [model.output_weight.size(0) for model in models]
        if len(set(sizes)) > 1:
            raise UsageError(f"models of {' and '.join(map(str, sizes))} target pieces cannot predict together")
        self.models = nn.ModuleList(models)

    @property
    def output_weight(self) -> NoReturn:
        """There is none: each model has its own."""
        raise TypeError("an ensemble has no output weights of its own; train its models one by one")

    @property
    def max_length(self) -> int | None:
        """The shortest limit of all."""
        return min((model.max_length for model in self if model.max_length is not None), default=None)

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        """Log-probabilities (B, T, V), teacher-forced: of several models there are no common hidden vectors."""
        return _log_mean([_log_probs(model, model(src, tgt)) for model in self])

    def forward_with_alignment(self, src: Tensor, tgt: Tensor) -> tuple[Tensor, Tensor]:
        """The same, and where those of the models that have attention looked (B, T, S) in the mean."""
        log_probs, alignments = [], []
        for model in self:
            if model.has_attention:
                hidden, alignment = model.forward_with_alignment(src, tgt)
                alignments.append(alignment)
            else:
                hidden = model(src, tgt)
            log_probs.append(_log_probs(model, hidden))
        if not alignments:
            raise UsageError("none of these models has attention to the source: no word alignments, no coverage")
        return _log_mean(log_probs), torch.stack(alignments).mean(dim=0)

    def forward_with_weights(self, src: Tensor, tgt: Tensor) -> tuple[Tensor, AttentionWeights]:
        """Heads of several models are not one set of heads."""
        raise UsageError("an ensemble has no heads of its own; look into its runs one by one")

    def multiply_adds(self, shape: BatchShape) -> int:
        """Of all models together."""
        return sum(model.multiply_adds(shape) for model in self)

    def project(self, hidden: Tensor) -> Tensor:
        """What `forward` returned, as it is: log-probabilities are logits too."""
        return hidden

    def start(self, src: Tensor) -> EnsembleState:
        """Every model reads the source."""
        return EnsembleState([model.start(src) for model in self])

    def step(self, last_ids: Tensor, state: DecoderState) -> tuple[Tensor, EnsembleState]:
        """The logarithm of the mean probability (R, V) of each next piece."""
        assert isinstance(state, EnsembleState)
        steps = [model.step(last_ids, member) for model, member in zip(self, state.members, strict=True)]
        return _log_mean([log_probs for log_probs, _ in steps]), EnsembleState([member for _, member in steps])

    def __iter__(self) -> Iterator[TranslationModel]:
        for model in self.models:
            assert isinstance(model, TranslationModel)
            yield model


def _log_probs(model: TranslationModel, hidden: Tensor) -> Tensor:
    return model.project(hidden).float().log_softmax(dim=-1)


def _log_mean(log_probs: list[Tensor]) -> Tensor:
    """log(mean(p)) without leaving logarithms; of one model exactly what it said."""
    if len(log_probs) == 1:
        return log_probs[0]
    return torch.stack(log_probs).logsumexp(dim=0) - math.log(len(log_probs))
