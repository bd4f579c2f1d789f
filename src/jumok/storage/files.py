"""Files that are whole or not there."""

from __future__ import annotations

import hashlib
import os
from contextlib import AbstractContextManager
from pathlib import Path

from jumok.errors import explained_disk_errors


def write_durably(path: Path, data: bytes) -> None:
    """Write and make sure that it is on the disk before going on."""
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def replace_durably(path: Path, data: bytes) -> None:
    """Put new contents in the place of old ones in one step: a reader sees the one or the other."""
    temporary = path.with_name(f".{path.name}.new")
    try:
        with explain_full_disk(path):
            write_durably(temporary, data)
            temporary.replace(path)
            sync_directory(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def sync_directory(path: Path) -> None:
    """Make a rename in this directory last."""
    if os.name == "nt":  # directories cannot be synced there
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sha256(path: Path) -> str:
    """The file's contents as one number."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def explain_full_disk(path: Path) -> AbstractContextManager[None]:
    """Say in one line that the disk is full, and that nothing which was saved is lost."""
    return explained_disk_errors(path, "the last checkpoint")
