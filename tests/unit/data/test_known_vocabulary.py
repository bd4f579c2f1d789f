"""Preparing with the vocabulary of another folder: its files, as they are, and part of the fingerprint."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from jumok.config import Config
from jumok.data.prepared import PreparedCorpus, prepare
from jumok.errors import ConfigError

MakeConfig = Callable[..., Config]
FOLDER = Path("prepared/small")


@pytest.fixture
def old(corpus: Path, make_config: MakeConfig) -> PreparedCorpus:
    """A corpus of 330 pieces, prepared before the data were changed."""
    old = prepare(make_config(tokenizer={"vocab_size": 330}), Path("prepared/old"))
    Path("train.ko").write_text(Path("train.ko").read_text().replace("나는", "우리는"))
    return old


@pytest.mark.parametrize("vocab_size", [330, 8000])
def test_pieces_are_taken_and_not_learned(old: PreparedCorpus, make_config: MakeConfig, vocab_size: int) -> None:
    said: list[str] = []
    new = prepare(make_config(tokenizer={"vocab_size": vocab_size}), FOLDER, said.append, vocabulary=old.folder)
    assert said[0] == "330 pieces taken from prepared/old"
    assert (FOLDER / "tokenizer.model").read_bytes() == (old.folder / "tokenizer.model").read_bytes()
    src, _ = new.split("train").ids([0])
    assert old.src_tokenizer.decode([src[0].tolist()]) == ["우리는 집에 간다 0"]


def test_two_vocabularies_are_taken_as_two(corpus: Path, make_config: MakeConfig) -> None:
    two = {"tokenizer": {"vocab_size": 300, "joint": False}, "model": {"tie_embeddings": "two-way"}}
    old = prepare(make_config(**two), Path("prepared/old"))
    said: list[str] = []
    new = prepare(make_config(**two), FOLDER, said.append, vocabulary=old.folder)
    assert said[0] == "300 and 300 pieces taken from prepared/old"
    assert sorted(path.name for path in FOLDER.glob("*.model")) == ["source.model", "target.model"]
    assert new.src_tokenizer.is_same_as(old.src_tokenizer) and new.tgt_tokenizer.is_same_as(old.tgt_tokenizer)


def test_a_second_time_does_nothing_and_other_pieces_do_it_again(old: PreparedCorpus, make_config: MakeConfig) -> None:
    config = make_config(tokenizer={"vocab_size": 330})
    first = prepare(config, FOLDER, vocabulary=old.folder)
    said: list[str] = []
    assert prepare(config, FOLDER, said.append, vocabulary=old.folder).fingerprint == first.fingerprint
    assert said == ["prepared/small: already prepared from the same files and settings"]
    assert prepare(config, FOLDER, vocabulary=FOLDER).fingerprint == first.fingerprint  # a copy of the same pieces
    learned = prepare(config, FOLDER)
    assert learned.fingerprint != first.fingerprint
    assert not learned.src_tokenizer.is_same_as(old.src_tokenizer)


def test_learning_two_vocabularies_for_one_embedding_is_refused(old: PreparedCorpus, make_config: MakeConfig) -> None:
    config = make_config()
    config = config.model_copy(update={"tokenizer": config.tokenizer.model_copy(update={"joint": False})})
    with pytest.raises(ConfigError, match='^model.tie_embeddings = "three-way" needs one vocabulary; set tokenizer'):
        prepare(config, FOLDER)
