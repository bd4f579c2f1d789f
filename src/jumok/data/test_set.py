"""The sentences that translations are scored on."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from jumok.config import DataConfig
from jumok.data.readers import read_pairs
from jumok.errors import DataError
from jumok.text.normalization import normalize


@dataclass(frozen=True)
class TestSet:
    """Sources and their references, in the order of the file."""

    split: str
    sources: list[str]
    references: list[str]

    @property
    def fingerprint(self) -> str:
        """Another one for other sentences."""
        pairs = zip(self.sources, self.references, strict=True)
        return hashlib.sha256("".join(f"{source}\t{reference}\n" for source, reference in pairs).encode()).hexdigest()

    def __str__(self) -> str:
        return f"{self.split}, {len(self.sources):,} sentences"


def scored_split(data: DataConfig) -> str:
    """The split that a run is scored on: the validation set, where there is no test set."""
    return "test" if data.test is not None else "valid"


def read_test_set(data: DataConfig, split: str, files: list[str] | None = None) -> TestSet:
    """Those of a split, or of other files, normalised as a translator does it."""
    entry: str | list[str] | None = (files if len(files) > 1 else files[0]) if files else getattr(data, split)
    if entry is None:
        raise DataError(f"the run's configuration names no data.{split}; give files to evaluate on")
    pairs = list(read_pairs(entry, data.source, data.target, "." if files else data.folder))
    return TestSet(split, [normalize(source) for source, _ in pairs], [normalize(target) for _, target in pairs])
