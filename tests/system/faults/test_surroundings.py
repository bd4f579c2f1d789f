"""What goes on around a training: another one in the same place, a clock that jumps, data that changes."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from jumok.text.tokenizer import Tokenizer, train_tokenizer

UPDATE = "jumok.training.trainer:Trainer._update"


def at_update(call: int, send: str) -> dict[str, Any]:
    return {"fault": "at_call", "function": UPDATE, "call": call, "send": send}


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_second_training_in_one_place_is_refused_and_harms_nothing(trainings: Any, whole: Any) -> None:
    first, second = trainings("shared"), trainings("shared")
    second.log = second.log.with_suffix(".second")
    first.start(at_update(6, "SIGSTOP"))
    assert first.wait() is None  # it stands still in the middle of an epoch
    before = contents(first.run.path)
    for settings in ([], ["training.seed=2"], ["model.d_ff=8"]):
        assert second.train(settings=settings) == 2
        [line] = [line for line in second.said().splitlines() if line.startswith("jumok: ")]
        assert line == f"jumok: {first.run.path}: another training is at work here; wait for it or choose another --run"
    assert contents(first.run.path) == before
    first.go_on()
    assert first.wait() == 0, first.said()
    assert first.outcome() == whole.outcome()


def test_place_of_a_killed_training_is_free(trainings: Any, whole: Any) -> None:
    training = trainings("freed")
    assert training.train(at_update(3, "SIGKILL")) == -9
    training.finish()
    assert training.outcome() == whole.outcome()


def test_jumps_of_the_clock_change_nothing(trainings: Any, whole: Any) -> None:
    training = trainings("clock")
    clock = {"fault": "jumping_clock"}
    assert training.train(clock, at_update(6, "SIGTERM"), settings=["training.max_minutes=10"]) == 143
    training.finish(clock, settings=["training.max_minutes=10"])
    assert training.outcome() == whole.outcome()
    assert 0 <= training.run.result()["train_seconds"] < 120


@pytest.fixture
def changed(trainings: Any, tmp_path: Path) -> Any:
    """A training that was stopped at step 6, in a folder of its own whose data may be changed."""
    for name in ("train.tsv", "valid.tsv"):
        shutil.copy(trainings.folder / name, tmp_path / name)
    text = (trainings.folder / "fault.toml").read_text().replace('name = "fault"', f'name = "{tmp_path.name}"')
    config = tmp_path / "changed.toml"
    config.write_text(text.replace("[data]", f'[data]\nfolder = "{tmp_path}"'))
    training = trainings(f"changed-{tmp_path.name}")
    assert training.train(at_update(6, "SIGTERM"), config=str(config)) == 143
    return training, str(config), tmp_path / "train.tsv"


def test_after_an_allowed_change_the_plain_command_goes_on(changed: Any) -> None:
    training, config, data = changed
    data.write_text("".join(data.read_text().splitlines(keepends=True)[:-3]))
    assert training.train(config=config) == 2
    [line] = [line for line in training.said().splitlines() if line.startswith("jumok: ")]
    assert "holds other data" in line or "tokenizer.model is not the one of" in line
    assert "--allow-change goes on all the same" in line
    assert training.train(at_update(1, "SIGTERM"), config=config, options=["--allow-change"]) == 143
    assert "data or batching have changed: the next epoch begins\n" in training.said()
    training.finish(config=config)
    assert "have changed" not in training.said()


def test_change_that_was_allowed_once_does_not_allow_another(changed: Any) -> None:
    training, config, data = changed
    data.write_text("".join(data.read_text().splitlines(keepends=True)[:-3]))
    assert training.train(at_update(1, "SIGTERM"), config=config, options=["--allow-change"]) == 143
    data.write_text("".join(data.read_text().splitlines(keepends=True)[:-3]))
    assert training.train(config=config) == 2


@pytest.mark.parametrize("is_whole", [True, False], ids=["another", "damaged"])
def test_swapped_tokenizer_is_refused_by_its_name_and_put_back_where_that_is_allowed(
    trainings: Any, changed: Any, is_whole: bool
) -> None:
    training, config, _ = changed
    model = training.run.path / "tokenizer.model"
    right = Tokenizer(model)
    if is_whole:
        train_tokenizer(["k l m n o p"] * 20, model, "bpe", right.vocab_size - 10, 1.0)
    else:
        model.write_bytes(model.read_bytes()[:-100])
    assert training.train(config=config) == 2
    assert f"jumok: {training.run.path}: tokenizer.model is not the one of prepared/" in training.said()
    training.finish(config=config, options=["--allow-change"])
    assert Tokenizer(model).encode(["a b c d e"]) == right.encode(["a b c d e"])
