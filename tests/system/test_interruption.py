"""Stopping and going on: the same weights as if nothing had happened."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow


def stop_after(program: list[str], folder: Path, run: str, step: int, number: signal.Signals) -> tuple[int, str]:
    """Start a training, send it a signal when it has passed a step, return its exit code and what it said."""
    process = subprocess.Popen(
        [*program, "train", "reverse.toml", "--run", run, "--set", "training.log_every=1"],
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    metrics = folder / run / "metrics.jsonl"
    limit = time.monotonic() + 300
    while not (metrics.exists() and metrics.read_text().count('"event": "train"') >= step):
        assert process.poll() is None and time.monotonic() < limit, process.communicate()
        time.sleep(0.02)
    process.send_signal(number)
    out, err = process.communicate(timeout=120)
    assert out == ""
    return process.returncode, err


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted_training_ends_with_the_weights_of_an_uninterrupted_one(
    jumok: Callable[..., Any],
    reverse: Callable[..., Path],
    program: list[str],
    tmp_path: Path,
    number: signal.Signals,
    code: int,
) -> None:
    reverse(max_steps=120, validate_every=50, dropout=0.1, num_pairs=1000)
    assert jumok("train", "reverse.toml", "--run", "whole").returncode == 0

    ended, said = stop_after(program, tmp_path, "broken", 30, number)
    assert ended == code
    last = said.splitlines()[-1]
    assert last.startswith("jumok: stopped at step ")
    assert last.endswith(" and saved; the same command goes on from there")
    unfinished = jumok("translate", "broken", "-t", "a")
    assert unfinished.returncode == 2
    assert "holds no trained model (no model.safetensors); its training stands at step" in unfinished.stderr

    again = jumok("train", "reverse.toml", "--run", "broken")
    assert again.returncode == 0, again.stderr
    assert "going on from step" in again.stderr
    for name in (
        "model.safetensors",
        "checkpoints/step-120/model.safetensors",
        "checkpoints/step-120/optimizer.safetensors",
    ):
        assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "broken" / name).read_bytes(), name
