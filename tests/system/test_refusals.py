"""What a training refuses, and what it leaves behind when the machine gives way."""

from __future__ import annotations

import errno
import os
import signal
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
from jumok.training.objective import TranslationObjective

ADVICE = "else put it back, choose another --run, or remove runs/reverse to start anew"

TINY = ["model.d_model=16", "model.d_ff=16", "training.validate_bleu=0", "training.batch_tokens=256"]


@pytest.fixture
def small(reverse: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Config]:
    """A configuration that trains in a second in this process; settings go over it."""
    monkeypatch.chdir(tmp_path)
    path = reverse(max_steps=4, validate_every=2, num_pairs=60)

    def finish(directory: Any, result: dict[str, Any], say: Any) -> None:
        directory.write_result(result)
        directory.report_file.write_text("a report")

    monkeypatch.setattr(pipeline, "_score_and_report", finish)
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
    assert said[-1] == ("runs/reverse: is trained already; to go on, raise what ended it (training.max_steps, say)")


@pytest.mark.parametrize(
    ("setting", "difference"),
    [
        ("model.d_ff=32", "model.d_ff was 16 and is 32 now; the weights would not fit"),
        ("tokenizer.sampling=0.1", "tokenizer.sampling was 0.0 and is 0.1 now; --allow-change goes on all the same"),
        ("data.max_length=50", "data.max_length was 200 and is 50 now; --allow-change goes on all the same"),
        ("training.seed=2", "training.seed was 1 and is 2 now; --allow-change goes on all the same"),
        (
            "training.batch_tokens=128",
            "training.batch_tokens was 256 and is 128 now; --allow-change goes on all the same",
        ),
    ],
)
def test_changed_model_or_data_is_refused_with_the_difference(
    small: Callable[..., Config], setting: str, difference: str
) -> None:
    pipeline.train(small(), say=silent)
    with pytest.raises(RunError) as caught:
        pipeline.train(small(setting, "training.max_steps=6"), say=silent)
    assert str(caught.value) == f"runs/reverse: {difference}; {ADVICE}"


def test_changed_data_file_is_refused_and_the_run_stays_usable(small: Callable[..., Config]) -> None:
    pipeline.train(small(), say=silent)
    run = RunDirectory("runs/reverse")
    before = {path.name: path.read_bytes() for path in run.path.iterdir() if path.suffix in (".model", ".json")}
    lines = Path("train.tsv").read_text().replace("a", "k")
    Path("train.tsv").write_text(lines)
    with pytest.raises(RunError, match=r"^runs/reverse: tokenizer.model is not the one of prepared/reverse; --allow"):
        pipeline.train(small("training.max_steps=6"), say=silent)
    after = {path.name: path.read_bytes() for path in run.path.iterdir() if path.suffix in (".model", ".json")}
    assert after == before


def test_allowed_changes_go_on_with_the_next_epoch(small: Callable[..., Config]) -> None:
    pipeline.train(small(), say=silent)
    path = Path("train.tsv")
    path.write_text("".join(path.read_text().splitlines(keepends=True)[1:]))
    changed = small("training.max_steps=6", "training.batch_tokens=128", "training.seed=2")
    told: list[dict[str, Any]] = []
    result = pipeline.train(changed, listeners=[told.append], say=silent, allow_change=True)
    assert result is not None
    assert result["steps"] == 6
    assert any(event.get("text") == "data or batching have changed: the next epoch begins" for event in told)


def test_another_model_is_refused_whatever_is_allowed(small: Callable[..., Config]) -> None:
    pipeline.train(small(), say=silent)
    with pytest.raises(RunError, match="model.d_ff was 16 and is 32 now; the weights would not fit"):
        pipeline.train(small("model.d_ff=32", "training.max_steps=6"), say=silent, allow_change=True)


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
    assert [path.name for path in Path("runs/reverse/checkpoints").iterdir() if path.is_dir()] == ["step-2"]
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

    monkeypatch.setattr(TranslationObjective, "forward", fail)
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

    monkeypatch.setattr(TranslationObjective, "forward", fail)
    with pytest.raises(RuntimeError, match="^shapes do not fit$"):
        pipeline.train(small(), say=silent)


@pytest.mark.parametrize("accumulate", [1, 2])
@pytest.mark.parametrize("sampling", [0.0, 0.1])
def test_interruption_at_any_step_changes_nothing(
    small: Callable[..., Config], accumulate: int, sampling: float
) -> None:
    settings = [
        "training.max_steps=9",
        "training.validate_every=3",
        "model.dropout=0.2",
        "training.average_last=2",
        f"training.accumulate={accumulate}",
        f"tokenizer.sampling={sampling}",
    ]
    pipeline.train(small(*settings), "whole", say=silent)
    whole = RunDirectory("whole")
    for step in range(1, 10):

        def interrupt(event: dict[str, Any], step: int = step) -> None:
            if event["event"] == "train" and event["step"] == step:
                os.kill(os.getpid(), signal.SIGTERM)

        run = RunDirectory(f"broken-{step}")
        with pytest.raises(trainer.Interrupted, match=f"^stopped at step {step} and saved; the same command goes on"):
            pipeline.train(small(*settings), run.path, [interrupt], say=silent)
        pipeline.train(small(*settings), run.path, say=silent)
        last = [directory.checkpoints.path(9) / "model.safetensors" for directory in (whole, run)]
        assert last[0].read_bytes() == last[1].read_bytes(), f"interrupted at step {step}"
        assert whole.model_file.read_bytes() == run.model_file.read_bytes(), f"interrupted at step {step}"


def test_interruption_does_not_enter_the_average(small: Callable[..., Config], monkeypatch: pytest.MonkeyPatch) -> None:
    averaged: list[list[int]] = []
    real = checkpoints.Checkpoints.average

    def watch(self: checkpoints.Checkpoints, steps: list[int]) -> Any:
        averaged.append(list(steps))
        return real(self, steps)

    def interrupt(event: dict[str, Any]) -> None:
        if event["event"] == "train" and event["step"] == 7:
            os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(checkpoints.Checkpoints, "average", watch)
    settings = ["training.max_steps=9", "training.validate_every=3", "training.average_last=3"]
    pipeline.train(small(*settings), "whole", say=silent)
    with pytest.raises(trainer.Interrupted):
        pipeline.train(small(*settings), "broken", [interrupt], say=silent)
    pipeline.train(small(*settings), "broken", say=silent)
    assert averaged == [[3, 6, 9], [3, 6, 9]]
