"""The folder of a Hugging Face model: where it is, and what can be read from it without running anything."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from jumok.errors import DataError, UsageError
from jumok.storage.checkpoints import Tensors, load_tensors

_NEEDED_FILES = ["*.json", "*.spm", "*.safetensors"]


def find_folder(name: str) -> Path:
    """A directory as it is; any other name is one of the Hugging Face hub, and is downloaded."""
    if Path(name).is_dir():
        return Path(name)
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", name) or Path(name).exists():
        raise UsageError(f"{name}: is neither a directory nor a name on the Hugging Face hub such as owner/model")
    try:
        from huggingface_hub import snapshot_download
    except ImportError:
        raise UsageError(
            f"{name}: is no directory, and to download it the package huggingface_hub is missing; "
            "pip install 'jumok[huggingface]'"
        ) from None
    try:
        return Path(snapshot_download(name, allow_patterns=_NEEDED_FILES))
    except Exception as error:  # the hub's own errors, those of its HTTP library, those of the network
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise UsageError(f"{name}: is no directory, and could not be downloaded from the hub: {reason}") from None


def read_json(path: Path, expected: str = "the folder of a Hugging Face model has it") -> dict[str, Any]:
    """A JSON object of the folder; `expected` says why it should be there."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError(f"{path}: no such file; {expected}") from None
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: cannot be read as JSON: {error}") from None
    if not isinstance(values, dict):
        raise DataError(f"{path}: expected a JSON object")
    return values


def read_tensors(folder: Path, name: str) -> Tensors:
    """All weights; `name` is what the user called the model."""
    files = sorted(folder.glob("model*.safetensors"))
    if not files:
        raise DataError(
            f"{folder}: holds no model.safetensors. A pickle (pytorch_model.bin) could run any program and is never "
            f"opened here; where you trust it, transformers converts it: MarianMTModel.from_pretrained({name!r})"
            ".save_pretrained(NEW, safe_serialization=True), then copy the *.spm and *.json files of the tokenizer "
            "beside it"
        )
    tensors: Tensors = {}
    for file in files:
        tensors |= load_tensors(file)
    return tensors
