"""What is scored on: the right split, normalised, and told apart from another."""

from __future__ import annotations

from pathlib import Path

import pytest

from jumok.config import DataConfig
from jumok.data.test_set import read_test_set, scored_split
from jumok.errors import DataError


@pytest.fixture
def data(tmp_path: Path) -> DataConfig:
    for name in ("valid", "test"):
        (tmp_path / f"{name}.tsv").write_text(f"  {name} a \tb\u0301\n{name} c\td\n", encoding="utf-8")
    names = {"train": "train.tsv", "valid": "valid.tsv", "test": "test.tsv"}
    return DataConfig(source="en", target="de", folder=str(tmp_path), **names)


def test_a_test_set_is_normalised_and_named(data: DataConfig) -> None:
    found = read_test_set(data, scored_split(data))
    assert (found.split, found.sources, found.references) == ("test", ["test a", "test c"], ["b\u0301", "d"])
    assert str(found) == "test, 2 sentences"


def test_without_a_test_set_the_validation_set_is_scored(data: DataConfig) -> None:
    without = data.model_copy(update={"test": None})
    assert scored_split(without) == "valid" and read_test_set(without, "valid").sources[0] == "valid a"
    with pytest.raises(DataError, match=r"^the run's configuration names no data\.test; give files to evaluate on$"):
        read_test_set(without, "test")


def test_fingerprint_is_that_of_the_sentences(data: DataConfig, tmp_path: Path) -> None:
    first = read_test_set(data, "test").fingerprint
    assert read_test_set(data, "test", [str(tmp_path / "test.tsv")]).fingerprint == first
    (tmp_path / "test.tsv").write_text("test a\tb\n", encoding="utf-8")
    assert read_test_set(data, "test").fingerprint != first
