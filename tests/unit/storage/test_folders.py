"""A folder is whole or not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from jumok.errors import ResourceError, UsageError
from jumok.storage.folders import new_folder


def test_a_new_folder_takes_its_place_at_the_end(tmp_path):
    place = tmp_path / "a" / "b"
    with new_folder(place) as unfinished:
        (unfinished / "file").write_text("x")
        assert not place.exists()
    assert (place / "file").read_text() == "x"
    assert [path.name for path in place.parent.iterdir()] == ["b"]


def test_an_empty_directory_is_filled(tmp_path):
    (tmp_path / "there").mkdir()
    with new_folder(tmp_path / "there") as unfinished:
        (unfinished / "file").write_text("x")
    assert (tmp_path / "there" / "file").exists()


def test_a_relative_path_is_one_of_the_working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with new_folder(Path("here")):
        pass
    assert (tmp_path / "here").is_dir()


def test_nothing_stays_after_a_failure(tmp_path):
    def fill() -> None:
        with new_folder(tmp_path / "place") as unfinished:
            (unfinished / "file").write_text("x")
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        fill()
    assert list(tmp_path.iterdir()) == []


def test_what_is_there_is_refused_before_any_work(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError, match="file: exists already and is not a directory; choose another place"):
        new_folder(tmp_path / "file").__enter__()
    with pytest.raises(UsageError, match="exists already and is not empty; choose another place or remove it"):
        new_folder(tmp_path).__enter__()
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_what_came_meanwhile_is_not_written_over(tmp_path):
    place = tmp_path / "place"

    def fill() -> None:
        with new_folder(place):
            place.mkdir()
            (place / "mine").write_text("x")

    with pytest.raises(UsageError, match="place: exists already and is not empty"):
        fill()
    assert [path.name for path in tmp_path.rglob("*")] == ["place", "mine"]


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(ResourceError, match="could not be written"):
        new_folder(tmp_path / "file" / "place").__enter__()
