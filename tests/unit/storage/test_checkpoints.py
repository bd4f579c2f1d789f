"""A checkpoint is complete or it is not there, and damage is never loaded."""

from __future__ import annotations

import errno
import json
import os
import pickle
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from jumok.errors import CheckpointError, ResourceError
from jumok.storage import checkpoints as module
from jumok.storage.checkpoints import Checkpoints, load_tensors, load_weights, mean, model_tensors

FILES = ["model.safetensors", "optimizer.safetensors", "state.json", "manifest.json"]


def tensors(value: float, size: int = 10) -> dict[str, Tensor]:
    return {"weight": torch.full((size,), float(value)), "other": torch.arange(3)}


def save(store: Checkpoints, step: int, size: int = 10) -> None:
    store.save(step, tensors(step, size), tensors(-step, size), {"step": step})


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))


def names(folder: Path) -> list[str]:
    """Of the checkpoints, whole or not; not the pointer to the last."""
    return sorted(path.name for path in folder.iterdir() if path.name != "last")


@pytest.fixture
def store(tmp_path: Path) -> Checkpoints:
    return Checkpoints(tmp_path / "checkpoints")


def silent(text: str) -> None:
    raise AssertionError(f"nothing was to be said: {text}")


def test_what_was_saved_is_loaded(store: Checkpoints) -> None:
    assert store.load_last(silent) is None
    assert store.steps() == []
    save(store, 100)
    loaded = store.load_last(silent)
    assert loaded is not None
    model, optimizer, state = loaded
    assert torch.equal(model["weight"], torch.full((10,), 100.0)) and torch.equal(model["other"], torch.arange(3))
    assert torch.equal(optimizer["weight"], torch.full((10,), -100.0))
    assert state == {"version": 1, "step": 100}
    assert names(store.path(100)) == sorted(FILES)


def test_newest_is_by_number_not_by_name(store: Checkpoints) -> None:
    for step in (100, 20, 9):
        save(store, step)
    assert store.steps() == [9, 20, 100]
    loaded = store.load_last(silent)
    assert loaded is not None and loaded[2]["step"] == 100


def test_manifest_holds_sizes_and_sums(store: Checkpoints) -> None:
    save(store, 1)
    manifest = json.loads((store.path(1) / "manifest.json").read_text())
    assert sorted(manifest) == ["model.safetensors", "optimizer.safetensors", "state.json"]
    assert all(manifest[name]["size"] == (store.path(1) / name).stat().st_size for name in manifest)


@pytest.mark.parametrize("name", FILES)
def test_flipped_bit_is_found_and_the_older_one_used(store: Checkpoints, name: str) -> None:
    save(store, 1)
    save(store, 2)
    flip(store.path(2) / name)
    said: list[str] = []
    loaded = store.load_last(said.append)
    assert loaded is not None and loaded[2]["step"] == 1
    assert torch.equal(loaded[0]["weight"], torch.full((10,), 1.0))
    [line] = said
    assert line.startswith(str(store.path(2))) and line.endswith("; trying the one before")
    if name != "manifest.json":
        assert line == f"{store.path(2) / name}: is damaged; trying the one before"


@pytest.mark.parametrize("name", FILES)
def test_missing_or_cut_file_is_found(store: Checkpoints, name: str) -> None:
    save(store, 1)
    save(store, 2)
    save(store, 3)
    (store.path(3) / name).unlink()
    data = (store.path(2) / name).read_bytes()
    (store.path(2) / name).write_bytes(data[:-1])
    said: list[str] = []
    loaded = store.load_last(said.append)
    assert loaded is not None and loaded[2]["step"] == 1
    assert len(said) == 2


def test_damaged_checkpoint_is_set_aside_so_that_its_step_can_be_saved_again(store: Checkpoints) -> None:
    save(store, 1)
    save(store, 2)
    flip(store.path(2) / "model.safetensors")
    store.load_last(lambda text: None)
    assert store.steps() == [1]
    assert names(store.folder) == ["step-1", "step-2.damaged"]
    save(store, 2)
    assert torch.equal(store.load_model(2)["weight"], torch.full((10,), 2.0))


def test_all_damaged_is_an_error_never_a_fresh_start(store: Checkpoints) -> None:
    for step in (1, 2):
        save(store, step)
        flip(store.path(step) / "model.safetensors")
    for _ in range(2):  # and again the second time
        with pytest.raises(CheckpointError) as caught:
            store.load_last(lambda text: None)
        assert str(caught.value) == (
            f"{store.folder}: none of 2 checkpoints is whole; move the folder away to start anew"
        )
        assert caught.value.exit_code == 1


def test_weights_of_a_damaged_checkpoint_are_never_used_or_averaged(store: Checkpoints) -> None:
    save(store, 1)
    save(store, 2)
    flip(store.path(1) / "model.safetensors")
    with pytest.raises(CheckpointError, match="is damaged$"):
        store.load_model(1)
    with pytest.raises(CheckpointError, match="is damaged$"):
        store.average([1, 2])


def test_average_is_the_mean(store: Checkpoints) -> None:
    for step in (1, 2, 6):
        save(store, step)
    assert torch.equal(store.average([1, 2, 6])["weight"], torch.full((10,), 3.0))


def test_prune_keeps_what_is_to_be_kept(store: Checkpoints) -> None:
    for step in (1, 2, 3, 4):
        save(store, step)
    store.prune({2, 4})
    assert store.steps() == [2, 4]


def test_saving_the_same_step_again_replaces_it(store: Checkpoints) -> None:
    save(store, 5)
    store.save(5, tensors(7), tensors(0), {"step": 5, "again": True})
    loaded = store.load_last(silent)
    assert loaded is not None and loaded[2]["again"] and float(loaded[0]["weight"][0]) == 7
    assert names(store.folder) == ["step-5"]


@pytest.mark.parametrize("failing", FILES)
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_full_disk_leaves_the_last_good_one_and_no_trace(
    store: Checkpoints, monkeypatch: pytest.MonkeyPatch, failing: str, code: int
) -> None:
    save(store, 1)
    real = module.write_durably

    def fill(path: Path, data: bytes) -> None:
        if path.name == failing:
            path.write_bytes(data[: len(data) // 2])
            raise OSError(code, os.strerror(code))
        real(path, data)

    monkeypatch.setattr(module, "write_durably", fill)
    with pytest.raises(ResourceError) as caught:
        save(store, 2)
    assert str(caught.value) == (
        f"{store.path(2)}: the disk is full; free some space and give the same command again, it goes on from the "
        "last checkpoint"
    )
    assert caught.value.exit_code == 1
    assert names(store.folder) == ["step-1"]
    loaded = store.load_last(silent)
    assert loaded is not None and loaded[2]["step"] == 1


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system of one megabyte."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)], capture_output=True, text=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"a small file system cannot be mounted here: {mounted.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_really_full_disk_leaves_the_last_good_one_and_no_trace(small_disk: Path) -> None:
    store = Checkpoints(small_disk / "checkpoints")
    save(store, 1, size=50_000)
    with pytest.raises(ResourceError, match=r"step-2: the disk is full; free some space"):
        save(store, 2, size=150_000)
    assert names(store.folder) == ["step-1"]
    loaded = store.load_last(silent)
    assert loaded is not None and loaded[2]["step"] == 1
    del loaded  # mapped from the disk, which could not be unmounted
    save(store, 3, size=50_000)  # the space of the failed one was given back


def test_other_disk_error_says_what_it_was(store: Checkpoints, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, data: bytes) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(module, "write_durably", refuse)
    with pytest.raises(ResourceError, match=r"step-1: could not be written: Read-only file system$"):
        save(store, 1)


def test_crash_while_saving_leaves_no_checkpoint(store: Checkpoints, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(path: Path, data: bytes) -> None:
        if path.name == "manifest.json":
            raise KeyboardInterrupt

    monkeypatch.setattr(module, "write_durably", crash)
    with pytest.raises(KeyboardInterrupt):
        save(store, 1)
    assert store.steps() == [] and names(store.folder) == []


def test_leftover_of_a_killed_process_is_not_a_checkpoint(store: Checkpoints) -> None:
    (store.folder / ".step-7.new").mkdir(parents=True)
    (store.folder / "step-8.part").mkdir()
    assert store.steps() == []
    save(store, 7)
    assert store.steps() == [7]


class Malice:
    """Writes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("is_torch_file", [False, True])
def test_pickle_called_safetensors_is_never_executed(tmp_path: Path, is_torch_file: bool) -> None:
    trace, path = tmp_path / "executed", tmp_path / "model.safetensors"
    if is_torch_file:
        torch.save(Malice(trace), path)
    else:
        path.write_bytes(pickle.dumps(Malice(trace)))
    with pytest.raises(CheckpointError) as caught:
        load_tensors(path)
    assert str(caught.value).startswith(f"{path}: cannot be read as safetensors: ")
    assert not trace.exists()


def test_weights_of_another_model_are_refused_whole() -> None:
    model = nn.Linear(2, 3)
    before = {name: tensor.clone() for name, tensor in model_tensors(model).items()}
    with pytest.raises(CheckpointError, match=r"^here: does not fit the model of config.toml: bias …$"):
        load_weights(model, {"weight": torch.zeros(3, 2)}, "here")
    with pytest.raises(
        CheckpointError, match=r"^here: weight has shape \(4, 2\), the model of config.toml wants \(3, 2\)$"
    ):
        load_weights(model, {"bias": torch.zeros(3), "weight": torch.zeros(4, 2)}, "here")
    assert all(torch.equal(before[name], tensor) for name, tensor in model_tensors(model).items())


def test_last_names_the_newest_and_moves_when_that_is_whole(
    store: Checkpoints, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(store, 1)
    save(store, 2)
    assert (store.folder / "last").read_text() == "step-2\n"
    real = module.write_durably
    monkeypatch.setattr(module, "write_durably", lambda path, data: real(path, data[:-1] + b"?"))
    with pytest.raises(CheckpointError):
        save(store, 3)
    assert (store.folder / "last").read_text() == "step-2\n"


def test_what_a_killed_process_left_is_swept_away(store: Checkpoints) -> None:
    for name in (".step-7.new", ".step-3.old"):
        (store.folder / name).mkdir(parents=True)
        (store.folder / name / "model.safetensors").write_bytes(b"half")
    save(store, 8)
    assert names(store.folder) == ["step-8"]


def test_running_statistics_are_saved_averaged_and_loaded_and_computed_tables_are_not(tiny_transformer):
    trained = [tiny_transformer(norm_kind="batch", seed=seed).train() for seed in (1, 2)]
    for model in trained:
        model(torch.tensor([[5, 6, 3]]), torch.tensor([[2, 8, 9]]))
    saved = [model_tensors(model) for model in trained]
    name = "encoder.layers.0.around_feed_forward.norm.running_mean"
    assert saved[0][name].any() and not any("table" in key for key in saved[0])
    other = tiny_transformer(norm_kind="batch")
    load_weights(other, mean(saved), "here")
    torch.testing.assert_close(model_tensors(other)[name], (saved[0][name] + saved[1][name]) / 2)
