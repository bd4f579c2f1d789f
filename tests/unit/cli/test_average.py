"""`jumok average` as it is typed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from jumok.storage.checkpoints import load_tensors
from jumok.storage.run_directory import RunDirectory

Jumok = Callable[..., Any]


@pytest.fixture
def saved(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunDirectory:
    """`run`, a run with random weights and checkpoints at steps 2 and 4, in the folder where we are."""
    monkeypatch.chdir(tmp_path)
    saved, like = RunDirectory("run"), RunDirectory(run)
    saved.create(like.config(), like.path)
    weights = load_tensors(like.model_file)
    saved.save_model(weights)
    for step in (2, 4):
        saved.checkpoints.save(step, {name: step * tensor for name, tensor in weights.items()}, {}, {})
    return saved


def test_mean_of_checkpoints_translates(jumok: Jumok, saved: RunDirectory) -> None:
    ended = jumok("average", "run", "-o", "new")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == "new: the mean of steps 2, 4 of run\nnext: jumok evaluate new\n"
    mean, weights = load_tensors(Path("new/model.safetensors")), load_tensors(saved.model_file)
    for name, tensor in mean.items():
        torch.testing.assert_close(tensor, 3 * weights[name])
    assert jumok("translate", "new", "--text", "나는 간다").code == 0


def test_mean_of_runs_with_itself_is_itself(jumok: Jumok, saved: RunDirectory) -> None:
    ended = jumok("average", "run", "run", "--output", "new")
    assert ended.out == "new: the mean of the models of run, run\nnext: jumok evaluate new\n"
    assert Path("new/model.safetensors").read_bytes() == saved.model_file.read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "--steps", "2,x", "-o", "new"], "--steps 2,x: expected steps with commas between them, such as 1000"),
        (["run", "--steps", "3", "-o", "new"], "--steps: run has no checkpoint of step 3; it has those of steps 2, 4"),
        (["run", "--last", "3", "-o", "new"], "--last 3: run has 2 checkpoints, of steps 2, 4"),
        (["run", "--last", "1", "--steps", "2", "-o", "new"], "--last and --steps choose the same thing; give one of"),
        (["run", "run", "--last", "2", "-o", "new"], "--last and --steps choose checkpoints of one run; of several"),
        (["run", "-o", "run"], "run: exists already and is not empty; choose another place or remove it"),
        (["gone", "-o", "new"], "gone: no such run directory; `jumok train CONFIG` makes one under runs/"),
        (["run"], "Missing option '--output' / '-o'; `jumok average --help` shows how"),
    ],
)
def test_what_it_refuses(jumok: Jumok, saved: RunDirectory, arguments: list[str], message: str) -> None:
    ended = jumok("average", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(f"jumok: {message}") and ended.err.count("\n") == 1
    assert not Path("new").exists()
