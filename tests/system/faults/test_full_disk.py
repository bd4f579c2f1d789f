"""A disk that is full: one line that says so, nothing lost, and the same command goes on when there is space."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system of four megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)], capture_output=True, text=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"a small file system cannot be mounted here: {mounted.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize("free", [0, 64 << 10], ids=["nothing", "too-little"])
def test_full_disk_keeps_what_was_saved_and_goes_on_when_there_is_space(
    trainings: Any, whole: Any, small_disk: Path, free: int
) -> None:
    training = trainings(str(small_disk / "run"))
    assert training.train({"fault": "full_disk", "step": 4, "free": free}) == 1
    assert training.run.checkpoints.steps() == [4]
    assert training.leftovers() == []
    [line] = [line for line in training.said().splitlines() if line.startswith("jumok: ")]
    assert line == training.said().splitlines()[-1]
    assert "the disk is full; free some space and give the same command again, it goes on from the last" in line
    assert "Traceback" not in training.said()

    for _ in range(2):  # still full: the same line, and nothing is harmed
        assert training.train() == 1
        assert "the disk is full; free some space" in training.said().splitlines()[-1]
        assert "Traceback" not in training.said()
        assert training.run.checkpoints.steps() == [4]

    (small_disk / "ballast").unlink()
    training.finish()
    assert "going on from step 4\n" in training.said()
    assert training.outcome() == whole.outcome()


def test_limit_of_a_file_is_explained_as_a_full_disk(trainings: Any, whole: Any) -> None:
    training = trainings("limited")
    fault = {"fault": "small_files", "size": 20_000}  # less than the weights, more than the metrics
    stop = {"fault": "at_call", "function": "jumok.training.trainer:Trainer._update", "call": 2, "send": "SIGTERM"}
    assert training.train(stop) == 143
    assert training.train(fault) == 1
    assert training.said().splitlines()[-1].startswith(f"jumok: {training.run.path}")
    assert "the disk is full; free some space" in training.said().splitlines()[-1]
    training.finish()
    assert training.outcome() == whole.outcome()


def test_metrics_that_cannot_be_written_are_named(trainings: Any, whole: Any) -> None:
    training = trainings("metrics")
    assert training.train({"fault": "full_metrics", "step": 8}) == 1
    metrics = training.run.metrics_file
    assert training.said().splitlines()[-1] == (
        f"jumok: {metrics}: the disk is full; free some space and give the same command again, it goes on from the "
        "last checkpoint"
    )
    assert training.run.checkpoints.steps() == [4, 8]
    metrics.unlink()
    metrics.with_suffix(".before").rename(metrics)
    training.finish()
    assert training.outcome() == whole.outcome()
