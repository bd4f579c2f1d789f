"""Every system that has a name is a run that can be built."""

from __future__ import annotations

import pytest

from jumok.comparison.catalogue import CATALOGUE
from jumok.config import parse_config
from jumok.errors import nearest


@pytest.mark.parametrize("name", list(CATALOGUE))
@pytest.mark.parametrize("preset", ["tiny", "small"])
def test_system_is_a_valid_run_of_every_size(name: str, preset: str) -> None:
    entry = CATALOGUE[name]
    data = {"source": "ko", "target": "en", "train": "t", "valid": "v"}
    sections = entry.sections()
    values = {"name": name, "data": data, **sections, "model": {"preset": preset, **sections["model"]}}
    assert parse_config(values).model.architecture == entry.model["architecture"]
    assert entry.title and entry.paper and "\n" not in entry.summary
    assert entry.start_from is None or entry.start_from in CATALOGUE


def test_the_story_is_complete() -> None:
    assert set(CATALOGUE) == {
        "rnn", "lstm", "gru", "bahdanau", "luong", "luong-dot", "luong-concat", "deep-att", "deep-att-posunk", "gnmt",
        "gnmt-rl", "bytenet", "convs2s", "moe", "transformer", "transformer-base", "transformer-big",
        "transformer-moe",
    }  # fmt: skip


def test_nearest() -> None:
    assert nearest("lsmt", CATALOGUE) == "did you mean lstm?"
    assert nearest("zzzzz", ["a", "b"]) == "known: a, b"
