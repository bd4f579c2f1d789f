"""What a training refuses, and what it leaves behind when the machine gives way."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from jumok import pipeline
from jumok.config import Config, load_config
from jumok.errors import CheckpointError, ResourceError, RunError
from jumok.storage import checkpoints
from jumok.storage.run_directory import RunDirectory
from jumok.training import trainer

TINY = ["model.d_model=16", "model.d_ff=16", "training.validate_bleu=0", "training.batch_tokens=256"]


@pytest.fixture
def small(reverse: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Config]:
    """A configuration that trains in a second in this process; settings go over it."""
    monkeypatch.chdir(tmp_path)
    path = reverse(max_steps=4, validate_every=2, num_pairs=60)
    monkeypatch.setattr(pipeline, "_score_and_report", lambda directory, result: directory.write_result(result))
    monkeypatch.setattr("jumok.pipeline.TensorBoard", lambda folder, log_every: lambda event: None)
    return lambda *settings: load_config(path, [*TINY, *settings])


def silent(text: str) -> None:
    return None


def test_finished_training_returns_at_once(small: Callable[..., Config], monkeypatch: pytest.MonkeyPatch) -> None:
    first = pipeline.train(small(), say=silent)

    def never(*arguments: object) -> None:
        raise AssertionError("trained again")

    monkeypatch.setattr(pipeline, "Trainer", never)
    said: list[str] = []
    assert pipeline.train(small(), say=said.append) == first
    assert said[-1] == (
        "runs/reverse: is trained already; raise training.max_steps to go on, or choose another --run"
    )


@pytest.mark.parametrize(
    ("setting", "difference"),
    [
        ("model.d_ff=32", "model.d_ff = 16, the configuration says 32"),
        ("tokenizer.sampling=0.1", "tokenizer.sampling = 0.0, the configuration says 0.1"),
        ("data.max_length=50", "data.max_length = 200, the configuration says 50"),
        ("training.seed=2", "training.seed = 1, the configuration says 2"),
        ("training.batch_tokens=128", "training.batch_tokens = 256, the configuration says 128"),
    ],
)
def test_changed_model_or_data_is_refused_with_the_difference(
    small: Callable[..., Config], setting: str, difference: str
) -> None:
    pipeline.train(small(), say=silent)
    with pytest.raises(RunError) as caught:
        pipeline.train(small(setting, "training.max_steps=6"), say=silent)
    assert str(caught.value) == f"runs/reverse: was begun with {difference}; put it back, or choose another --run"


def test_changed_data_file_is_refused_and_the_run_stays_usable(small: Callable[..., Config]) -> None:
    pipeline.train(small(), say=silent)
    run = RunDirectory("runs/reverse")
    before = {path.name: path.read_bytes() for path in run.path.iterdir() if path.suffix in (".model", ".json")}
    lines = Path("train.tsv").read_text().replace("a", "k")
    Path("train.tsv").write_text(lines)
    with pytest.raises(RunError, match="^runs/reverse: was trained on other data or another tokenizer than "):
        pipeline.train(small("training.max_steps=6"), say=silent)
    after = {path.name: path.read_bytes() for path in run.path.iterdir() if path.suffix in (".model", ".json")}
    assert after == before


def test_damaged_newest_checkpoint_is_trained_again(small: Callable[..., Config]) -> None:
    pipeline.train(small(), say=silent)
    run = RunDirectory("runs/reverse")
    right = (run.checkpoints.path(4) / "model.safetensors").read_bytes()
    (run.checkpoints.path(4) / "model.safetensors").write_bytes(right[:-1] + bytes([right[-1] ^ 1]))
    run.result_file.unlink()
    pipeline.train(small(), say=silent)
    assert (run.checkpoints.path(4) / "model.safetensors").read_bytes() == right


def test_no_whole_checkpoint_is_an_error(small: Callable[..., Config]) -> None:
    pipeline.train(small(), say=silent)
    run = RunDirectory("runs/reverse")
    for step in run.checkpoints.steps():
        (run.checkpoints.path(step) / "state.json").unlink()
    run.result_file.unlink()
    with pytest.raises(CheckpointError, match="none of 2 checkpoints is whole; move the folder away to start anew$"):
        pipeline.train(small(), say=silent)


def test_full_disk_while_training_keeps_the_last_checkpoint_and_goes_on_later(
    small: Callable[..., Config], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = checkpoints.write_durably

    def fill(path: Path, data: bytes) -> None:
        if "step-4" in str(path):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(path, data)

    with monkeypatch.context() as patch:
        patch.setattr(checkpoints, "write_durably", fill)
        with pytest.raises(ResourceError, match="step-4: the disk is full; free some space and give the same command"):
            pipeline.train(small(), say=silent)
    assert [path.name for path in Path("runs/reverse/checkpoints").iterdir()] == ["step-2"]
    assert pipeline.train(small(), say=silent)["steps"] == 4


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("[enforce fail at alloc_cpu.cpp:118] DefaultCPUAllocator: can't allocate memory: you tried ..."),
        MemoryError(),
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB"),
    ],
)
def test_out_of_memory_names_the_setting_to_lower(
    small: Callable[..., Config], monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(self: Any, batch: Any) -> None:
        raise error

    monkeypatch.setattr(trainer.TranslationObjective, "__call__", fail)
    with pytest.raises(ResourceError) as caught:
        pipeline.train(small(), say=silent)
    assert str(caught.value) == (
        "out of memory; lower training.batch_tokens (and raise training.accumulate by the same factor to learn the "
        "same), or choose a smaller model.preset"
    )
    assert caught.value.exit_code == 1


def test_other_runtime_errors_are_not_taken_for_memory(
    small: Callable[..., Config], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: Any, batch: Any) -> None:
        raise RuntimeError("shapes do not fit")

    monkeypatch.setattr(trainer.TranslationObjective, "__call__", fail)
    with pytest.raises(RuntimeError, match="^shapes do not fit$"):
        pipeline.train(small(), say=silent)
