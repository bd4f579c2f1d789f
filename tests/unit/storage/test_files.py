"""A reader sees the old contents or the new ones."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from jumok.errors import ResourceError
from jumok.storage import files
from jumok.storage.files import replace_durably


def test_contents_are_replaced(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    replace_durably(path, b"old")
    replace_durably(path, b"new")
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_old_contents_survive_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "result.json"
    replace_durably(path, b"old")

    def fill(target: Path, data: bytes) -> None:
        target.write_bytes(data[:1])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files, "write_durably", fill)
    with pytest.raises(ResourceError, match=r"result\.json: the disk is full; free some space and give the same"):
        replace_durably(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
