"""Runs that an earlier Jumok made: today's goes on with them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jumok.errors import RunError
from jumok.storage.run_directory import RunDirectory

FORMATS = Path(__file__).parent.parent / "data"
WHOLE_LOSSES = {7: 5.733593144692665, 8: 5.563873619161626}  # of the same training, not stopped, by the earlier Jumok


def test_configuration_of_format_1_is_read() -> None:
    config = RunDirectory(FORMATS / "run-format-1" / "run").config()
    assert (config.name, config.model.d_model, config.training.max_steps) == ("words", 8, 8)


@pytest.mark.slow
def test_run_of_format_1_goes_on_to_its_end_and_translates(jumok: Callable[..., Any], tmp_path: Path) -> None:
    shutil.copytree(FORMATS / "run-format-1", tmp_path, dirs_exist_ok=True)
    ended = jumok("train", "words.toml", "--run", "run", "--json")
    assert ended.returncode == 0, ended.stderr
    assert "going on from step 6\n" in ended.stderr
    assert "have changed" not in ended.stderr and "damaged" not in ended.stderr
    assert json.loads(ended.stdout)["steps"] == 8

    run = RunDirectory(tmp_path / "run")
    assert run.checkpoints.steps() == [4, 8]
    losses = {event["step"]: event["loss"] for event in run.metrics() if event["event"] == "train"}
    assert sorted(losses) == list(range(1, 9))
    for step, loss in WHOLE_LOSSES.items():  # the same sentences in the same order
        assert losses[step] == pytest.approx(loss, rel=1e-4), step

    translated = jumok("translate", "run", "--text", "tolu mira\n\nsenko")
    assert translated.returncode == 0, translated.stderr
    assert len(translated.stdout.splitlines()) == 3


def test_newer_format_is_refused_not_guessed(tmp_path: Path) -> None:
    shutil.copytree(FORMATS / "run-format-1", tmp_path, dirs_exist_ok=True)
    checkpoints = RunDirectory(tmp_path / "run").checkpoints
    for step in checkpoints.steps():
        path = checkpoints.path(step)
        state = json.loads((path / "state.json").read_text())
        checkpoints.save(step, {}, {}, {**state, "version": 2})
    with pytest.raises(RunError, match="was written by a newer Jumok \\(format 2, this one reads 1\\)"):
        checkpoints.load_last(print)
