"""Sentences dealt out to cores come back in order, and the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
import torch

from jumok.config import DecodingConfig
from jumok.decoding.batches import search
from jumok.decoding.sentence import Sentence
from jumok.engines.torch_engine import TorchEngine
from jumok.models.transformer import Transformer

SENTENCES = [Sentence([4 + (i * 7 + j) % 19 for j in range(1 + i % 9)]) for i in range(40)]


@pytest.fixture
def two_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def test_dealt_out_is_the_same(tiny_transformer: Callable[..., Transformer], two_threads: None) -> None:
    model, config = tiny_transformer(), DecodingConfig(beam=3, max_extra_length=6, batch_tokens=128)
    expected = [[one.ids for one in found] for found in search(model, SENTENCES, config)]
    for use_workers in (True, False):
        found = TorchEngine(model, torch.device("cpu"), use_workers).begin(SENTENCES, config)()
        assert [[one.ids for one in hypotheses] for hypotheses in found] == expected
    assert torch.get_num_threads() == 2
