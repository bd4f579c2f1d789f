"""Checkpoints that are complete or absent.

    step-N/model.safetensors       weights
    step-N/optimizer.safetensors   the optimizer's memory
    step-N/state.json              how far the training was
    step-N/manifest.json           sizes and SHA-256 of the others, written last

A checkpoint is written to a temporary directory beside its place, synced, and renamed. Loading verifies.
"""

from __future__ import annotations

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
from jumok.storage.files import explain_full_disk, sha256, sync_directory, write_durably

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
        """Write a checkpoint; on any failure nothing of it stays and the older ones are untouched."""
        final, temporary = self.path(step), self.folder / f".step-{step}.new"
        try:
            with explain_full_disk(final):
                shutil.rmtree(temporary, ignore_errors=True)
                temporary.mkdir(parents=True)
                contents = {
                    "model.safetensors": save(model),
                    "optimizer.safetensors": save(optimizer),
                    "state.json": json.dumps({"version": FORMAT_VERSION, **state}, indent=2).encode(),
                }
                for name, data in contents.items():
                    write_durably(temporary / name, data)
                manifest = {
                    name: {"size": len(data), "sha256": sha256(temporary / name)} for name, data in contents.items()
                }
                write_durably(temporary / "manifest.json", json.dumps(manifest, indent=2).encode())
                sync_directory(temporary)
                if final.exists():
                    shutil.rmtree(final)
                temporary.rename(final)
                sync_directory(self.folder)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)

    def load_last(self, say: Callable[[str], None]) -> tuple[Tensors, Tensors, dict[str, Any]] | None:
        """The newest checkpoint that is whole; damaged ones are named aloud. None where there never was one."""
        steps = self.steps()
        damaged: list[Path] = []
        for step in reversed(steps):
            try:
                model = self.load_model(step)
                state = json.loads((self.path(step) / "state.json").read_text(encoding="utf-8"))
                _refuse_newer(state["version"], self.path(step))
                optimizer = load_tensors(self.path(step) / "optimizer.safetensors")
            except CheckpointError as error:
                say(f"{error}; trying the one before")
                damaged.append(self.path(step))
                continue
            for path in damaged:  # out of the way: the training comes to those steps again
                shutil.rmtree(path.with_name(f"{path.name}.damaged"), ignore_errors=True)
                path.rename(path.with_name(f"{path.name}.damaged"))
            return model, optimizer, state
        if steps:
            raise CheckpointError(
                f"{self.folder}: none of {len(steps)} checkpoints is whole; move the folder away to start anew"
            )
        return None

    def verify(self, step: int) -> None:
        """Compare sizes and contents with the manifest."""
        path = self.path(step)
        try:
            manifest = json.loads((path / "manifest.json").read_text(encoding="utf-8"))
            for name, expected in manifest.items():
                if (path / name).stat().st_size != expected["size"] or sha256(path / name) != expected["sha256"]:
                    raise CheckpointError(f"{path / name}: is damaged")
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            raise CheckpointError(f"{path}: is incomplete or its manifest is damaged") from None

    def corpus(self, step: int) -> str | None:
        """The fingerprint of the data that a checkpoint was trained on; None where that cannot be read."""
        try:
            state = json.loads((self.path(step) / "state.json").read_text(encoding="utf-8"))
            return str(state["corpus"])
        except (OSError, ValueError, KeyError, TypeError):
            return None  # damaged: whoever loads it will say so

    def load_model(self, step: int) -> Tensors:
        """The weights of a checkpoint that is whole."""
        self.verify(step)
        return load_tensors(self.path(step) / "model.safetensors")

    def average(self, steps: Iterable[int]) -> Tensors:
        """The mean of the weights of several checkpoints, summed in double precision.

        Paper: Vaswani et al. 2017, section 6.1: the last 5 for base, the last 20 for big.
        """
        total: Tensors = {}
        count = 0
        for step in steps:
            for name, tensor in self.load_model(step).items():
                total[name] = total[name] + tensor.double() if name in total else tensor.double()
            count += 1
        return {name: (tensor / count).float() for name, tensor in total.items()}

    def prune(self, keep: set[int]) -> None:
        """Remove every checkpoint that is not to be kept."""
        for step in self.steps():
            if step not in keep:
                shutil.rmtree(self.path(step), ignore_errors=True)


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
    """The weights by name, shared ones once."""
    return {name: parameter.detach().cpu().contiguous() for name, parameter in model.named_parameters()}


def load_weights(model: nn.Module, tensors: Tensors, where: str) -> None:
    """Put weights into a model, all of them, of the right shapes, or none."""
    parameters = dict(model.named_parameters())
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
            parameter.copy_(tensors[name])
