"""What several tests share: one thread, a small Transformer, and a model whose every probability is written down."""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor

from jumok.architectures import TransformerConfig
from jumok.models.interface import BatchShape, TranslationModel
from jumok.models.transformer import Transformer
from jumok.text.tokenizer import BOS_ID, PAD_ID

torch.set_num_threads(1)

Words = tuple[int, ...]


@dataclass(frozen=True)
class PrefixState:
    """The source and what has been said so far, of each row."""

    sources: list[Words]
    prefixes: list[Words]
    is_first: bool = False

    def select(self, rows: Tensor) -> PrefixState:
        chosen = rows.tolist()
        return PrefixState([self.sources[i] for i in chosen], [self.prefixes[i] for i in chosen], self.is_first)


class PrefixModel(TranslationModel):
    """A model that is a function from (source, words said so far) to the probabilities of the next piece.

    It has no caches and no batching of its own, so that whatever is wrong with a result is the search's doing.
    """

    def __init__(self, probabilities: Callable[[Words, Words], Sequence[float]], max_length: int | None = None) -> None:
        super().__init__()
        self.probabilities = probabilities
        self.weight = torch.nn.Parameter(torch.zeros(1, 1))
        self.limit = max_length
        self.num_rows_stepped: list[int] = []

    @property
    def output_weight(self) -> Tensor:
        return self.weight

    @property
    def max_length(self) -> int | None:
        return self.limit

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        raise NotImplementedError

    def multiply_adds(self, shape: BatchShape) -> int:
        raise NotImplementedError

    def start(self, src: Tensor) -> PrefixState:
        sources = [tuple(i for i in row if i != PAD_ID) for row in src.tolist()]
        return PrefixState(sources, [()] * len(sources), is_first=True)

    def step(self, last_ids: Tensor, state: Any) -> tuple[Tensor, PrefixState]:
        self.num_rows_stepped.append(len(last_ids))
        if state.is_first:
            assert set(last_ids.tolist()) == {BOS_ID}
            prefixes = state.prefixes
        else:
            prefixes = [(*prefix, last) for prefix, last in zip(state.prefixes, last_ids.tolist(), strict=True)]
        rows = [self.probabilities(s, p) for s, p in zip(state.sources, prefixes, strict=True)]
        return torch.tensor(rows).log(), PrefixState(state.sources, prefixes)


@pytest.fixture
def prefix_model() -> type[PrefixModel]:
    return PrefixModel


def _tiny_config(**changes: Any) -> TransformerConfig:
    numbers = {"d_model": 16, "d_ff": 32, "num_heads": 2, "encoder_layers": 2, "decoder_layers": 2, "dropout": 0.0}
    return TransformerConfig(**{**numbers, **changes})


def _tiny_transformer(vocab_size: int = 23, seed: int = 0, **changes: Any) -> Transformer:
    torch.manual_seed(seed)
    model = Transformer(_tiny_config(**changes), vocab_size, vocab_size, PAD_ID)
    with torch.no_grad():  # biases start at 0 and gains at 1, where mistakes with them would not show
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.2)
    return model.eval()


@pytest.fixture
def tiny_config() -> Callable[..., TransformerConfig]:
    """A TransformerConfig of a few thousand parameters; keyword arguments change it."""
    return _tiny_config


@pytest.fixture
def tiny_transformer() -> Callable[..., Transformer]:
    """A Transformer with all parameters random, biases and gains too, in eval mode."""
    return _tiny_transformer
