"""A tiny Transformer, untrained, with a tiny tokenizer of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from jumok.architectures import TransformerConfig
from jumok.config import parse_config
from jumok.inspection.trace import AttentionTrace, trace_attention
from jumok.models import TranslationModel, build_model
from jumok.storage.run_directory import RunDirectory
from jumok.text.tokenizer import PAD_ID, Tokenizer, train_tokenizer

_NOUNS = ["카페", "학교", "시장", "바다", "공원", "도서관"]
_VERBS = ["갔어요", "있어요", "만나요", "걸어요"]
_LINES = [f"어제 {noun}에 {verb}." for noun in _NOUNS for verb in _VERBS]
_LINES += [f"I {verb} the {noun}." for noun in ("cafe", "school", "sea", "park") for verb in ("see", "like", "want")]


@pytest.fixture(scope="session")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.model"
    train_tokenizer(_LINES, path, "bpe", vocab_size=340, character_coverage=1.0)
    return Tokenizer(path)


@pytest.fixture(scope="session")
def model_config() -> TransformerConfig:
    return TransformerConfig(d_model=16, d_ff=32, num_heads=4, encoder_layers=3, decoder_layers=2, norm="pre")


@pytest.fixture(scope="session")
def model(tokenizer: Tokenizer, model_config: TransformerConfig) -> TranslationModel:
    torch.manual_seed(1)
    return build_model(model_config, tokenizer.vocab_size, tokenizer.vocab_size, PAD_ID).eval()


@pytest.fixture(scope="session")
def make_trace(model: TranslationModel, tokenizer: Tokenizer) -> Callable[[str, str], AttentionTrace]:
    return lambda source, target: trace_attention(model, tokenizer, tokenizer, source, target)


@pytest.fixture(scope="session")
def trace(make_trace: Callable[[str, str], AttentionTrace]) -> AttentionTrace:
    return make_trace("어제 카페에 갔어요.", "I like the cafe.")


@pytest.fixture(scope="session")
def make_run(tokenizer: Tokenizer, model_config: TransformerConfig) -> Callable[[Path], RunDirectory]:
    data = {"source": "ko", "target": "en", "train": "train.tsv", "valid": "valid.tsv"}
    config = parse_config({"name": "tiny", "data": data, "model": model_config.model_dump()})

    def make(path: Path) -> RunDirectory:
        directory = RunDirectory(path)
        directory.create(config, tokenizer.path.parent)
        return directory

    return make


@pytest.fixture
def run(make_run: Callable[[Path], RunDirectory], tmp_path: Path) -> RunDirectory:
    return make_run(tmp_path / "run")
