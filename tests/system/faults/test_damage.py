"""Damaged and malicious checkpoints: named aloud, passed over, never executed, never a fresh start."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
from pathlib import Path
from typing import Any

import pytest

FILES = ["model.safetensors", "optimizer.safetensors", "state.json", "manifest.json"]


class Malice:
    """Makes a folder when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.path),)


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))


@pytest.mark.parametrize("name", FILES)
def test_one_flipped_byte_is_named_and_the_one_before_used(whole: Any, stopped: Any, name: str) -> None:
    training = stopped.copy(f"flipped-{name}")
    folder = training.run.checkpoints.path(6)
    flip(folder / name)
    training.finish()
    [line] = [line for line in training.said().splitlines() if "trying the one before" in line]
    is_manifest = name == "manifest.json"
    what = f"{folder}: is incomplete or its manifest is damaged" if is_manifest else f"{folder / name}: is damaged"
    assert line.startswith(str(folder)) and line == f"{what}; trying the one before"
    assert "going on from step 4\n" in training.said()
    assert training.outcome() == whole.outcome()


@pytest.mark.parametrize("name", FILES)
def test_damage_in_all_of_them_stops_and_starts_nothing(stopped: Any, name: str) -> None:
    training = stopped.copy(f"all-{name}")
    checkpoints = training.run.checkpoints
    for step in checkpoints.steps():
        flip(checkpoints.path(step) / name)
    for _ in range(2):  # and again the second time
        assert training.train() == 1
        assert training.said().splitlines()[-1] == (
            f"jumok: {checkpoints.folder}: none of 2 checkpoints is whole; move the folder away to start anew"
        )
        assert checkpoints.steps() == [4, 6]
    assert training.losses() == stopped.losses()
    assert not training.run.model_file.exists()


@pytest.mark.parametrize("is_covered_up", [False, True], ids=["as-it-is", "manifest-fits"])
@pytest.mark.parametrize("name", FILES)
def test_pickle_in_place_of_a_file_is_never_executed(
    trainings: Any, whole: Any, stopped: Any, name: str, is_covered_up: bool
) -> None:
    training = stopped.copy(f"malice-{name}-{is_covered_up}")
    folder, trace = training.run.checkpoints.path(6), trainings.folder / f"executed-{name}-{is_covered_up}"
    data = pickle.dumps(Malice(trace))
    (folder / name).write_bytes(data)
    if is_covered_up and name != "manifest.json":
        manifest = json.loads((folder / "manifest.json").read_text())
        manifest[name] = {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        (folder / "manifest.json").write_text(json.dumps(manifest))
    training.finish()
    assert not trace.exists()
    assert "; trying the one before\n" in training.said()
    assert training.outcome() == whole.outcome()


@pytest.mark.parametrize("name", FILES[:3])
def test_file_that_the_manifest_does_not_know_is_not_trusted(whole: Any, stopped: Any, name: str) -> None:
    training = stopped.copy(f"unknown-{name}")
    folder = training.run.checkpoints.path(6)
    manifest = json.loads((folder / "manifest.json").read_text())
    del manifest[name]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    training.finish()
    assert "; trying the one before\n" in training.said()
    assert training.outcome() == whole.outcome()
