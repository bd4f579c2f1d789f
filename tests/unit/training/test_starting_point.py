"""What a fine-tuning takes from the run it starts from, and what it refuses."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from jumok.config import Config, load_config, parse_config
from jumok.data.prepared import prepare
from jumok.errors import ConfigError, RunError, TokenizerError
from jumok.models import build_model
from jumok.storage.checkpoints import model_tensors
from jumok.storage.run_directory import RunDirectory
from jumok.text.tokenizer import PAD_ID
from jumok.training.starting_point import starting_point

NUMBERS = {"preset": "tiny", "d_model": 16, "d_ff": 24, "num_heads": 2, "encoder_layers": 1, "dropout": 0.2}
PAIRS = "".join(f"{a} {b} {c}\t{c} {b} {a}\n" for a in "abcd" for b in "efgh" for c in "ijkl")


def values_of(folder: Path, **sections: Any) -> dict[str, Any]:
    data = {"source": "en", "target": "en", "folder": str(folder), "train": "all.tsv", "valid": "all.tsv"}
    return {"name": "new", "data": data, **sections}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> RunDirectory:
    """A run with random weights, 280 joint pieces, sampling 0.1 and numbers of its own."""
    folder = tmp_path_factory.mktemp("letters")
    (folder / "all.tsv").write_text(PAIRS)
    config = parse_config(values_of(folder, tokenizer={"vocab_size": 280, "sampling": 0.1}, model=NUMBERS))
    corpus = prepare(config, folder / "prepared")
    run = RunDirectory(folder / "base")
    run.create(config, corpus.folder)
    torch.manual_seed(1)
    run.save_model(model_tensors(build_model(config.model, 280, 280, PAD_ID)))
    return run


Start = Callable[..., tuple[Config, Path | None]]


@pytest.fixture
def start(base: RunDirectory, tmp_path: Path) -> Start:
    """The starting point of a training into tmp_path/new; sections go over a configuration that says nothing."""

    def resolve(
        start_from: Path | str | None = base.path, allow_change: bool = False, say: Any = None, **sections: Any
    ) -> tuple[Config, Path | None]:
        training = {"start_from": None if start_from is None else str(start_from), **sections.pop("training", {})}
        config = parse_config(values_of(base.path.parent, training=training, **sections))
        return starting_point(config, RunDirectory(tmp_path / "new"), say or (lambda text: None), allow_change)

    return resolve


def refuse(message: str) -> str:
    return f"^{re.escape(message)}$"


def test_what_is_not_said_comes_from_the_run(start: Start, base: RunDirectory) -> None:
    config, vocabulary = start(training={"max_steps": 7})
    assert vocabulary == base.path
    assert config.model == base.config().model
    assert config.tokenizer == base.config().tokenizer
    assert config.training.max_steps == 7
    assert config.training.start_from == str(base.path)


def test_the_path_is_made_absolute(start: Start, base: RunDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(base.path.parent)
    config, _ = start("base")
    assert config.training.start_from == str(base.path)


def test_without_a_run_to_start_from_nothing_changes(start: Start) -> None:
    config, vocabulary = start(None, model={"preset": "big"})
    assert vocabulary is None
    assert (config.model.d_model, config.tokenizer.vocab_size) == (1024, 8000)


def test_dropouts_and_sampling_may_differ(start: Start, base: RunDirectory) -> None:
    config, _ = start(model={"dropout": 0.4, "attention_dropout": 0.1}, tokenizer={"sampling": 0.0})
    assert (config.model.dropout, config.model.attention_dropout, config.model.d_ff) == (0.4, 0.1, 24)
    assert (config.tokenizer.sampling, config.tokenizer.vocab_size) == (0.0, 280)


def test_the_same_numbers_said_again_are_welcome(start: Start, base: RunDirectory) -> None:
    config, _ = start(model=NUMBERS, tokenizer={"vocab_size": 280, "kind": "bpe", "joint": True})
    assert config.model == base.config().model
    whole = load_config(base.config_file)  # every key given
    config, _ = start(model=whole.model.model_dump(), tokenizer=whole.tokenizer.model_dump())
    assert config.model == base.config().model


def test_lengths_that_nothing_is_learned_for_may_differ(start: Start) -> None:
    config, _ = start(model={"max_length": 64})
    assert config.model.max_length == 64


@pytest.mark.parametrize(
    ("key", "value", "before"), [("vocab_size", 300, "280"), ("kind", "unigram", "bpe"), ("joint", False, "True")]
)
def test_a_new_vocabulary_is_refused_with_the_reason(
    start: Start, base: RunDirectory, key: str, value: Any, before: str
) -> None:
    message = (
        f"tokenizer.{key} = {value}, but {base.path} has {before}: its weights belong to its own pieces, one row each, "
        "and fit no new vocabulary; leave the key out, or train without --from"
    )
    with pytest.raises(ConfigError, match=refuse(message)):
        start(tokenizer={key: value}, model={"tie_embeddings": "two-way"} if key == "joint" else {})


@pytest.mark.parametrize(
    ("model", "said", "before"),
    [
        ({"d_ff": 32}, "model.d_ff = 32", "24"),
        ({"num_heads": 4}, "model.num_heads = 4", "2"),
        ({"norm": "post"}, "model.norm = post", "pre"),
        ({"tie_embeddings": "none"}, "model.tie_embeddings = none", "three-way"),
        ({"preset": "tiny"}, 'model.d_model = 128 (preset "tiny")', "16"),
        ({**NUMBERS, "encoder_layers": 3}, "model.encoder_layers = 3", "1"),
        ({"preset": "base"}, 'model.d_model = 512 (preset "base")', "16"),
    ],
)
def test_numbers_that_do_not_fit_the_weights_are_refused(
    start: Start, base: RunDirectory, model: dict[str, Any], said: str, before: str
) -> None:
    message = (
        f"{said}, but {base.path} has {before}: its weights fit no other model; leave the key out, or train without "
        "--from"
    )
    with pytest.raises(ConfigError, match=refuse(message)):
        start(model=model)


def test_other_languages_are_allowed_and_said(start: Start, base: RunDirectory) -> None:
    said: list[str] = []
    data = {**values_of(base.path.parent)["data"], "source": "ko"}
    config, _ = start(say=said.append, data=data)
    assert config.data.source == "ko"
    assert said == [
        f"{base.path} was trained from en to en, this goes from ko to en: its vocabulary stays, and may cut the new "
        "language into many pieces"
    ]


def test_a_run_that_is_not_there(start: Start, tmp_path: Path) -> None:
    message = f"{tmp_path}/gone: no such run directory; `jumok train CONFIG` makes one under runs/"
    with pytest.raises(RunError, match=refuse(message)):
        start(tmp_path / "gone")


def test_a_run_without_a_model(start: Start, base: RunDirectory, tmp_path: Path) -> None:
    RunDirectory(tmp_path / "bare").create(base.config(), base.path)
    message = (
        f"{tmp_path}/bare: holds no trained model (no model.safetensors); `jumok train` has not saved anything here yet"
    )
    with pytest.raises(RunError, match=refuse(message)):
        start(tmp_path / "bare")


def test_a_run_without_a_tokenizer(start: Start, base: RunDirectory, tmp_path: Path) -> None:
    bare = RunDirectory(tmp_path / "bare")
    bare.create(base.config(), base.path)
    bare.model_file.write_bytes(base.model_file.read_bytes())
    (bare.path / "tokenizer.model").unlink()
    with pytest.raises(TokenizerError, match=r"bare/source.model: is missing or not a SentencePiece model"):
        start(bare.path)


def test_a_run_cannot_start_from_itself(start: Start, tmp_path: Path) -> None:
    message = (
        f"{tmp_path}/new: cannot start from itself; choose another --run or name, or leave --from out to train it "
        "further"
    )
    with pytest.raises(RunError, match=refuse(message)):
        start(tmp_path / "new")


@pytest.fixture
def begun(start: Start, base: RunDirectory, tmp_path: Path) -> RunDirectory:
    """The run `new`, begun from `gone`, which is not there any more, with a checkpoint."""
    run = RunDirectory(tmp_path / "new")
    training = base.config().training.model_copy(update={"start_from": str(tmp_path / "gone")})
    run.create(base.config().model_copy(update={"training": training}), base.path)
    run.checkpoints.save(1, {}, {}, {})
    return run


def test_once_begun_the_other_run_is_not_needed(start: Start, begun: RunDirectory, tmp_path: Path) -> None:
    config, vocabulary = start(tmp_path / "gone")
    assert vocabulary == begun.path
    assert (config.model, config.tokenizer) == (begun.config().model, begun.config().tokenizer)
    with pytest.raises(ConfigError, match=r"tokenizer.vocab_size = 300, but .*/new has 280: its weights belong"):
        start(tmp_path / "gone", tokenizer={"vocab_size": 300})


@pytest.mark.parametrize(("name", "now"), [(None, "from nothing"), ("other", "from {folder}/other")])
def test_once_begun_it_cannot_start_from_elsewhere(
    start: Start, begun: RunDirectory, tmp_path: Path, name: str | None, now: str
) -> None:
    message = (
        f"{begun.path}: was started from {tmp_path}/gone, and is to start {now.format(folder=tmp_path)} now; give the "
        "same --from as before, or choose another --run"
    )
    with pytest.raises(RunError, match=refuse(message)):
        start(name and tmp_path / name)
    assert start(name and tmp_path / name, allow_change=True)[1] == (begun.path if name else None)
