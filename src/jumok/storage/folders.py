"""Folders that are whole or not there."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from jumok.errors import UsageError, explained_disk_errors
from jumok.storage.files import sync_directory


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """A directory to fill, which takes the place `path` when all went well and vanishes when not."""
    path = path.absolute()
    refuse_what_exists(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.new")  # each process its own
    try:
        with explained_disk_errors(path):
            shutil.rmtree(temporary, ignore_errors=True)  # of a process of that number that was killed
            temporary.mkdir(parents=True)
            yield temporary
            for file in temporary.rglob("*"):
                if file.is_file():
                    with file.open("rb") as opened:
                        os.fsync(opened.fileno())
            refuse_what_exists(path)  # somebody may have been faster
            if path.exists():
                path.rmdir()
            temporary.rename(path)
            sync_directory(path.parent)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def refuse_what_exists(path: Path) -> None:
    """Nothing is written over; an empty directory may be filled."""
    if path.is_symlink() or (path.exists() and not path.is_dir()):
        raise UsageError(f"{path}: exists already and is not a directory; choose another place or remove it")
    if path.is_dir() and any(path.iterdir()):
        raise UsageError(f"{path}: exists already and is not empty; choose another place or remove it")
