"""A comparison whose figures are made up, for the tests of what shows one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from jumok.comparison.layers import LayerMeasure
from jumok.comparison.results import Comparison, Difference, LengthScore, Machine, SystemResult

_LAYERS = {
    "layers": {
        "encoder_layers.0": {"output_rms": 1.25, "gradient_norm": 0.0625},
        "encoder_layers.1": {"output_rms": None, "gradient_norm": 3e-7},
    },
    "attention_entropy": {"encoder": [1.75, None], "cross": [0.5]},
}


def make_system(name: str, title: str, bleu: float, flops: float, **others: Any) -> SystemResult:
    lengths = tuple(LengthScore(low, low + 4, 40, bleu - low / 5) for low in (1, 6, 11))
    values: dict[str, Any] = {
        "bleu": bleu,
        "bleu_interval": 1.25,
        "perplexity": 7.891,
        "params": 7_600_000,
        "train_flops": flops,
        "train_seconds": 125.0,
        "tokens_per_second": 1437.0,
        "sentences_per_second": 23.4,
        "bleu_by_length": lengths,
        "difference": Difference(bleu - 37.6, bleu - 38.5, bleu - 36.7, 0.001),
    }
    return SystemResult(name, title, "Somebody et al. 2014", **(values | others))


def make_comparison(**changes: Any) -> Comparison:
    systems = (
        make_system("lstm", "Seq2seq, LSTM", 18.9, 3.1e14, note="all in <one> vector"),
        make_system("gru", "순환 신경망 GRU", 21.4, 2.9e14, perplexity=None),
        SystemResult("moe", "MoE", "Shazeer et al. 2017", "failed", "the loss stopped being a number at step 40"),
        make_system("transformer", "Transformer", 37.6, 4.1e14, difference=None, layers=_LAYERS),
    )
    machine = Machine("cpu, 2 threads", 1, 1e11)
    signature = "nrefs:1|case:mixed|tok:13a"
    comparison = Comparison(
        "demo", "ko", "en", "test, 120 sentences", "100 steps", "transformer", machine, signature, systems
    )
    return replace(comparison, **changes)


def make_measures() -> list[LayerMeasure]:
    return [
        LayerMeasure(layer, length, 256, 4, steps, path, seconds * length, "O(n²·d)", "O(1)", "O(n/k)")
        for layer, steps, path, seconds in (("self-attention", 4, 1, 2e-5), ("recurrent (LSTM)", 17, 16, 1e-4))
        for length in (16, 32)
    ]


@pytest.fixture
def a_system():
    return make_system


@pytest.fixture
def a_comparison():
    return make_comparison


@pytest.fixture
def some_measures():
    return make_measures()
