"""A small joint vocabulary of Korean and English."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

from jumok.text.tokenizer import Tokenizer, train_tokenizer

settings.register_profile("any speed", deadline=None)
settings.load_profile("any speed")

LINES = [
    f"{subject} {place} {verb}"
    for subject in ("저는", "친구는", "우리는", "the cat", "my friend", "she")
    for place in ("카페에", "집에", "학교에서", "to the cafe", "at home")
    for verb in ("갔어요.", "있어요?", "공부했어요!", "went.", "is here, or not?")
]


@pytest.fixture(scope="session")
def lines() -> list[str]:
    return LINES


@pytest.fixture(scope="session")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.model"
    train_tokenizer(LINES, path, "bpe", 380, 1.0)
    return Tokenizer(path)


@pytest.fixture(scope="session")
def unigram(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    path: Path = tmp_path_factory.mktemp("unigram") / "tokenizer.model"
    train_tokenizer(LINES, path, "unigram", 315, 1.0)
    return Tokenizer(path)
