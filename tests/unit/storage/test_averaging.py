"""The mean of models as a run: right by hand, complete or not there, and refused where there is no mean."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from jumok.config import Config, parse_config
from jumok.data.prepared import prepare
from jumok.errors import CheckpointError, ResourceError, RunError, UsageError
from jumok.models import build_model
from jumok.storage import run_directory
from jumok.storage.averaging import average_checkpoints, average_models
from jumok.storage.checkpoints import load_tensors, model_tensors
from jumok.storage.compatibility import require_same_vocabulary
from jumok.storage.run_directory import RunDirectory
from jumok.text.tokenizer import PAD_ID

LETTERS = [f"{a} {b} {c}" for a in "abcd" for b in "efgh" for c in "ijkl"]
MakeRun = Callable[..., RunDirectory]


def config_of(folder: Path, model: dict[str, Any] | None = None, **tokenizer: Any) -> Config:
    numbers = {"d_model": 16, "d_ff": 16, "num_heads": 2, "encoder_layers": 1, "decoder_layers": 1}
    return parse_config(
        {
            "name": "letters",
            "data": {"source": "en", "target": "en", "folder": str(folder), "train": "all.tsv", "valid": "all.tsv"},
            "tokenizer": {"vocab_size": 280, **tokenizer},
            "model": {**numbers, **(model or {})},
        }
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("letters")
    (path / "all.tsv").write_text("".join(f"{line}\t{line[::-1]}\n" for line in LETTERS))
    return path


@pytest.fixture
def make_run(folder: Path, tmp_path: Path) -> MakeRun:
    """A run with random weights and checkpoints of random weights at steps 2, 4 and 10."""

    def make(name: str, seed: int = 0, model: dict[str, Any] | None = None, **tokenizer: Any) -> RunDirectory:
        config = config_of(folder, model, **tokenizer)
        corpus = prepare(config, folder / f"prepared-{config.tokenizer.vocab_size}")
        run = RunDirectory(tmp_path / name)
        run.create(config, corpus.folder)
        size = corpus.src_tokenizer.vocab_size
        torch.manual_seed(seed)
        for step in (2, 4, 10):
            run.checkpoints.save(step, model_tensors(build_model(config.model, size, size, PAD_ID)), {}, {})
        run.save_model(run.checkpoints.load_model(10))
        return run

    return make


def assert_mean(new: Path, *models: dict[str, torch.Tensor]) -> None:
    mean = load_tensors(new / "model.safetensors")
    assert mean.keys() == models[0].keys()
    for name, tensor in mean.items():
        torch.testing.assert_close(tensor, sum(model[name] for model in models) / len(models))


def refuse(message: str) -> str:
    return f"^{re.escape(message)}$"


@pytest.mark.parametrize(
    ("choice", "steps"), [({}, [2, 4, 10]), ({"last": 2}, [4, 10]), ({"steps": [10, 2, 10]}, [2, 10])]
)
def test_mean_of_checkpoints_is_a_run(make_run: MakeRun, tmp_path: Path, choice: dict[str, Any], steps: Any) -> None:
    run, new = make_run("run"), tmp_path / "deep" / "new"
    assert average_checkpoints(run, new, **choice) == steps
    assert_mean(new, *(run.checkpoints.load_model(step) for step in steps))
    assert RunDirectory(new).config() == run.config()
    require_same_vocabulary([run, RunDirectory(new)])
    assert not RunDirectory(new).load_model().training
    assert [path.name for path in new.parent.iterdir()] == ["new"]


def test_mean_of_runs(make_run: MakeRun, tmp_path: Path) -> None:
    runs = [make_run("a", 1), make_run("b", 2, {"dropout": 0.3}), make_run("c", 3)]
    average_models(runs, tmp_path / "new")
    assert_mean(tmp_path / "new", *(load_tensors(run.model_file) for run in runs))


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"last": 4}, "--last 4: {run} has 3 checkpoints, of steps 2, 4, 10"),
        ({"steps": [2, 3]}, "--steps: {run} has no checkpoint of step 3; it has those of steps 2, 4, 10"),
    ],
)
def test_checkpoints_that_are_not_there(
    make_run: MakeRun, tmp_path: Path, choice: dict[str, Any], message: str
) -> None:
    run = make_run("run")
    with pytest.raises(UsageError, match=refuse(message.format(run=run.path))):
        average_checkpoints(run, tmp_path / "new", **choice)
    assert not (tmp_path / "new").exists()


def test_no_checkpoints_at_all(make_run: MakeRun, tmp_path: Path) -> None:
    run = make_run("run")
    run.checkpoints.prune(keep=set())
    message = f"{run.path}: has no checkpoints; name several runs to average their models"
    with pytest.raises(RunError, match=refuse(message)):
        average_checkpoints(run, tmp_path / "new")


def test_other_shape_is_refused_by_its_first_number(make_run: MakeRun, tmp_path: Path) -> None:
    runs = [make_run("a"), make_run("b", model={"d_ff": 32, "norm": "post"})]
    message = f"{runs[1].path}: has model.d_ff = 32 where {runs[0].path} has 16; only models of one shape have a mean"
    with pytest.raises(RunError, match=refuse(message)):
        average_models(runs, tmp_path / "new")


def test_same_shape_of_another_meaning_is_refused_too(make_run: MakeRun, tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"has model\.num_heads = 4 where .* has 2; only models"):
        average_models([make_run("a"), make_run("b", model={"num_heads": 4})], tmp_path / "new")


def test_other_vocabulary_is_refused(make_run: MakeRun, tmp_path: Path) -> None:
    runs = [make_run("a"), make_run("b", vocab_size=281)]
    message = (
        f"{runs[1].path}: has another vocabulary than {runs[0].path}; runs that are used together need the same one, "
        "as those have that were trained --from one run"
    )
    with pytest.raises(RunError, match=refuse(message)):
        average_models(runs, tmp_path / "new")


def test_nothing_is_written_over(make_run: MakeRun) -> None:
    a, b = make_run("a"), make_run("b")
    before = b.model_file.read_bytes()
    message = refuse(f"{b.path}: exists already and is not empty; choose another place or remove it")
    with pytest.raises(UsageError, match=message):
        average_checkpoints(a, b.path)
    with pytest.raises(UsageError, match=message):
        average_models([a, b], b.path)
    assert b.model_file.read_bytes() == before


def test_run_without_a_model(make_run: MakeRun, tmp_path: Path) -> None:
    a, b = make_run("a"), make_run("b")
    b.model_file.unlink()
    with pytest.raises(RunError, match=r"b: holds no trained model \(no model.safetensors\); its training stands at"):
        average_models([a, b], tmp_path / "new")


def test_damaged_checkpoint_is_never_in_a_mean(make_run: MakeRun, tmp_path: Path) -> None:
    run = make_run("run")
    (run.checkpoints.path(4) / "model.safetensors").write_bytes(b"damage")
    with pytest.raises(CheckpointError, match="step-4/model.safetensors: is damaged$"):
        average_checkpoints(run, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_full_disk_leaves_nothing(make_run: MakeRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run("run")

    def fill(path: Path, data: bytes) -> None:
        if path.name == "model.safetensors":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        path.write_bytes(data)

    monkeypatch.setattr(run_directory, "replace_durably", fill)
    with pytest.raises(ResourceError, match="new: the disk is full; free some space"):
        average_checkpoints(run, tmp_path / "new")
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
