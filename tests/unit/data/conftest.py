"""A small corpus of made-up pairs, and the configuration that names it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from jumok.config import Config, parse_config

settings.register_profile("any speed", deadline=None)
settings.load_profile("any speed")


def _pairs(count: int, offset: int = 0) -> list[tuple[str, str]]:
    subjects, verbs, places = (
        ("나는", "너는", "그는"),
        ("간다", "온다", "산다", "논다"),
        ("집에", "산에", "강에", "섬에", "숲에"),
    )
    words = {"나는": "I", "너는": "you", "그는": "he", "간다": "go", "온다": "come", "산다": "live", "논다": "play"}
    words |= {"집에": "home", "산에": "to hills", "강에": "to rivers", "섬에": "to islands", "숲에": "to woods"}
    pairs = []
    for i in range(offset, offset + count):
        subject, verb, place = subjects[i % 3], verbs[i // 3 % 4], places[i // 12 % 5]
        pairs.append((f"{subject} {place} {verb} {i}", f"{words[subject]} {words[verb]} {words[place]} {i}"))
    return pairs


@pytest.fixture
def make_pairs() -> Callable[..., list[tuple[str, str]]]:
    return _pairs


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder we are in: train.ko and train.en of 60 lines, valid.tsv of 6."""
    monkeypatch.chdir(tmp_path)
    pairs = _pairs(60)
    Path("train.ko").write_text("".join(f"{s}\n" for s, _ in pairs), encoding="utf-8")
    Path("train.en").write_text("".join(f"{t}\n" for _, t in pairs), encoding="utf-8")
    Path("valid.tsv").write_text("".join(f"{s}\t{t}\n" for s, t in _pairs(6, 60)), encoding="utf-8")
    return tmp_path


@pytest.fixture
def make_config() -> Callable[..., Config]:
    """A configuration of the small corpus; `section={...}` goes over it."""

    def make(**sections: dict[str, Any]) -> Config:
        values: dict[str, Any] = {
            "name": "small",
            "data": {"source": "ko", "target": "en", "train": ["train.ko", "train.en"], "valid": "valid.tsv"},
            "tokenizer": {"vocab_size": 320},
            "model": {"preset": "tiny"},
        }
        for section, changes in sections.items():
            values[section] = {**values.get(section, {}), **changes}
        return parse_config(values)

    return make
