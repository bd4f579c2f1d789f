"""Checkpoints that are complete or absent.

    step-N/model.safetensors       weights
    step-N/optimizer.safetensors   the optimizer's memory
    step-N/sharded/                both of them instead, where each process holds a part: see sharded.py
    step-N/state.json              how far the training was
    step-N/manifest.json           sizes and SHA-256 of the others, written last
    last                           the name of the newest one

A checkpoint is written to a temporary directory beside its place, synced, renamed, and read again; only then do older
ones go. Loading verifies.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save
from torch import Tensor, nn

from jumok.errors import CheckpointError, RunError
from jumok.storage.files import explain_full_disk, replace_durably, sha256, sync_directory, write_durably
from jumok.storage.sharded import is_sharded, like, rank, read_shards, write_shards

FORMAT_VERSION = 1
_NAME = re.compile(r"step-(\d+)$")
Tensors = dict[str, Tensor]


class Checkpoints:
    """The checkpoints of a run, oldest first."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def steps(self) -> list[int]:
        """The steps at which a checkpoint was saved."""
        if not self.folder.is_dir():
            return []
        found = (_NAME.match(path.name) for path in self.folder.iterdir())
        return sorted(int(match.group(1)) for match in found if match)

    def path(self, step: int) -> Path:
        """Where the checkpoint of a step lies."""
        return self.folder / f"step-{step}"

    def save(self, step: int, model: Tensors, optimizer: Tensors, state: dict[str, Any]) -> None:
        """Write a checkpoint; on any failure nothing of it stays and the older ones are untouched.

        Sharded tensors are a matter for all processes: each calls this, and each writes its own part.
        """
        final, temporary = self.path(step), self.folder / f".step-{step}.new"
        are_sharded = is_sharded(model)
        is_main = not are_sharded or rank() == 0
        try:
            with explain_full_disk(final):
                if is_main:
                    self._sweep()
                    temporary.mkdir(parents=True)
                if are_sharded:
                    write_shards(temporary / "sharded", model, optimizer)
                if is_main:
                    self._complete(temporary, {} if are_sharded else {"model": model, "optimizer": optimizer}, state)
                    self._put_away(step)
                    temporary.rename(final)
                    sync_directory(self.folder)
                    self.verify(step)
                    self._move_last(step)
        finally:
            if is_main:
                self._sweep()

    def _complete(self, folder: Path, tensors: dict[str, Tensors], state: dict[str, Any]) -> None:
        """Write what is not there yet, the manifest last."""
        contents = {f"{name}.safetensors": save(values) for name, values in tensors.items()}
        contents["state.json"] = json.dumps({"version": FORMAT_VERSION, **state}, indent=2).encode()
        manifest = {
            str(path.relative_to(folder)): {"size": path.stat().st_size, "sha256": sha256(path)}
            for path in sorted(folder.rglob("*.safetensors"))  # the shards that the processes wrote
        }
        for name, data in contents.items():
            write_durably(folder / name, data)
            manifest[name] = {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        write_durably(folder / "manifest.json", json.dumps(manifest, indent=2).encode())
        sync_directory(folder)

    def load_last(self, say: Callable[[str], None]) -> tuple[Tensors, Tensors, dict[str, Any]] | None:
        """The newest checkpoint that is whole; damaged ones are named aloud. None where there never was one."""
        self._sweep()
        steps = self.steps()
        damaged: list[Path] = []
        for step in reversed(steps):
            try:
                self.verify(step)
                state = self._state(step)
                _refuse_newer(state["version"], self.path(step))
                model, optimizer = (self._tensors(step, kind) for kind in ("model", "optimizer"))
            except CheckpointError as error:
                say(f"{error}; trying the one before")
                damaged.append(self.path(step))
                continue
            for path in damaged:  # out of the way: the training comes to those steps again
                shutil.rmtree(path.with_name(f"{path.name}.damaged"), ignore_errors=True)
                path.rename(path.with_name(f"{path.name}.damaged"))
            self._move_last(step)
            return model, optimizer, state
        if steps:
            raise CheckpointError(
                f"{self.folder}: none of {len(steps)} checkpoints is whole; move the folder away to start anew"
            )
        return None

    def verify(self, step: int) -> None:
        """Compare the files, their sizes and contents with the manifest."""
        path = self.path(step)
        try:
            manifest = json.loads((path / "manifest.json").read_text(encoding="utf-8"))
            files = {str(file.relative_to(path)) for file in path.rglob("*") if file.is_file()} - {"manifest.json"}
            for name in sorted(files - manifest.keys()):
                raise CheckpointError(f"{path / name}: is not in the manifest")
            for name, expected in manifest.items():
                if (path / name).stat().st_size != expected["size"] or sha256(path / name) != expected["sha256"]:
                    raise CheckpointError(f"{path / name}: is damaged")
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            raise CheckpointError(f"{path}: is incomplete or its manifest is damaged") from None

    def corpus(self) -> str | None:
        """The fingerprint of the data that the newest readable checkpoint was trained on."""
        for step in reversed(self.steps()):
            try:
                return str(self._state(step).get("corpus"))
            except CheckpointError:
                continue  # whoever loads it will say so
        return None

    def _state(self, step: int) -> dict[str, Any]:
        path = self.path(step) / "state.json"
        try:
            state: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            return {**state, "version": int(state["version"])}
        except (OSError, ValueError, KeyError, TypeError):
            raise CheckpointError(f"{path}: is damaged") from None

    def load_model(self, step: int) -> Tensors:
        """The weights of a checkpoint that is whole."""
        self.verify(step)
        return self._tensors(step, "model")

    def _tensors(self, step: int, kind: str) -> Tensors:
        """The whole tensors of a checkpoint, sharded or not."""
        shards = self.path(step) / "sharded"
        return read_shards(shards, kind) if shards.is_dir() else load_tensors(self.path(step) / f"{kind}.safetensors")

    def average(self, steps: Iterable[int]) -> Tensors:
        """The mean of the weights of several checkpoints, summed in double precision.

        Paper: Vaswani et al. 2017, section 6.1: the last 5 for base, the last 20 for big.
        """
        return mean(self.load_model(step) for step in steps)

    def prune(self, keep: set[int]) -> None:
        """Remove every checkpoint that is not to be kept."""
        for step in self.steps():
            if step not in keep:
                self._put_away(step)
        self._sweep()

    def _put_away(self, step: int) -> None:
        """Take a checkpoint out of the row in one step: a half-removed one never stands there."""
        if self.path(step).exists():
            self.path(step).rename(self.folder / f".step-{step}.old")

    def _move_last(self, step: int) -> None:
        """Let `last` name this checkpoint."""
        last, name = self.folder / "last", f"{self.path(step).name}\n".encode()
        if not last.exists() or last.read_bytes() != name:
            replace_durably(last, name)

    def _sweep(self) -> None:
        """Remove what is put away, and what an earlier process could not finish."""
        for path in self.folder.glob(".step-*"):
            shutil.rmtree(path, ignore_errors=True)
        (self.folder / ".last.new").unlink(missing_ok=True)


def mean(models: Iterable[Tensors]) -> Tensors:
    """The mean of weights that have the same names and shapes, one model in memory at a time."""
    total: Tensors = {}
    count = 0
    for tensors in models:
        for name, tensor in tensors.items():
            total[name] = total[name] + tensor.double() if name in total else tensor.double()
        count += 1
    return {name: (tensor / count).float() for name, tensor in total.items()}


def _refuse_newer(version: int, path: Path) -> None:
    if version > FORMAT_VERSION:
        raise RunError(f"{path}: was written by a newer Jumok (format {version}, this one reads {FORMAT_VERSION})")


def load_tensors(path: Path) -> Tensors:
    """Tensors of a safetensors file; nothing else is ever read."""
    try:
        return load_file(path)
    except (OSError, SafetensorError) as error:
        raise CheckpointError(f"{path}: cannot be read as safetensors: {error}") from None


def model_tensors(model: nn.Module) -> Tensors:
    """The weights by name, shared ones once, and what a model has gathered beside them."""
    return {name: for_storage(tensor) for name, tensor in _saved(model).items()}


def _saved(model: nn.Module) -> Tensors:
    """Weights, and running statistics; tables that are computed anew are no part of it."""
    names = model.state_dict().keys()
    buffers = {name: buffer for name, buffer in model.named_buffers() if name in names}
    return {**dict(model.named_parameters()), **buffers}


def for_storage(tensor: Tensor) -> Tensor:
    """A tensor as it is written: on the CPU and in one piece, unless each process writes its own part of it."""
    return tensor.detach() if is_sharded({"": tensor}) else tensor.detach().cpu().contiguous()


def load_weights(model: nn.Module, tensors: Tensors, where: str) -> None:
    """Put weights into a model, all of them, of the right shapes, or none."""
    parameters = _saved(model)
    if parameters.keys() != tensors.keys():
        odd = sorted(parameters.keys() ^ tensors.keys())[:3]
        raise CheckpointError(f"{where}: does not fit the model of config.toml: {', '.join(odd)} …")
    for name, parameter in parameters.items():
        if parameter.shape != tensors[name].shape:
            raise CheckpointError(
                f"{where}: {name} has shape {tuple(tensors[name].shape)}, the model of config.toml wants "
                f"{tuple(parameter.shape)}"
            )
    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.copy_(like(tensors[name], parameter))
