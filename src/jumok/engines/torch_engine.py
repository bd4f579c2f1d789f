"""Translating with torch and our own search: every model, every option."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from jumok.config import DecodingConfig
from jumok.decoding.batches import search
from jumok.decoding.hypothesis import Hypothesis
from jumok.decoding.sampling import Sampling
from jumok.models import TranslationModel


class TorchEngine:
    """Holds a model on a device."""

    def __init__(self, model: TranslationModel, device: torch.device) -> None:
        self.model = model.to(device).eval()

    @property
    def max_length(self) -> int | None:
        """The longest source in pieces, None where there is no limit."""
        return self.model.max_length

    def translate(
        self, sources: Sequence[Sequence[int]], config: DecodingConfig, sampling: Sampling | None = None
    ) -> list[list[Hypothesis]]:
        """Hypotheses of each source, best first."""
        return search(self.model, sources, config, sampling)
