"""`jumok compare` without training: the list of systems, and what is wrong said in one line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jumok.cli.compare import BudgetProgress
from jumok.comparison.catalogue import CATALOGUE
from jumok.config import TrainingConfig


def test_list_names_every_system_with_its_paper(jumok: Callable[..., Any]) -> None:
    ended = jumok("compare", "--list")
    assert ended.code == 0
    for name in CATALOGUE:
        assert f" {name} " in ended.out
    assert "Bahdanau et al. 2015" in ended.out
    assert "[model]" in ended.out


def test_list_for_a_program(jumok: Callable[..., Any]) -> None:
    listed = json.loads(jumok("compare", "--list", "--json").out)
    assert listed["gnmt"]["paper"] == "Wu et al. 2016"
    assert set(listed) == set(CATALOGUE)


def test_no_file(jumok: Callable[..., Any]) -> None:
    ended = jumok("compare")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == (
        "jumok: name the TOML file of a comparison, such as recipes/compare-demo.toml; --list shows systems\n"
    )


def test_unknown_system_names_the_nearest(
    jumok: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("c.toml").write_text(
        'name = "c"\n[data]\nsource = "ko"\ntarget = "en"\ntrain = "t"\nvalid = "v"\n'
        '[compare]\nsystems = ["lstm", "trasformer"]\namount = 5\n'
    )
    ended = jumok("compare", "c.toml")
    assert ended.code == 2
    assert ended.err == "jumok: c.toml: [compare] systems: trasformer is not known; did you mean transformer?\n"


def test_progress_counts_the_budget_and_not_the_steps(capsys: pytest.CaptureFixture[str]) -> None:
    with BudgetProgress(TrainingConfig(max_minutes=2.0, max_steps=10**9)) as progress:
        progress(
            {
                "event": "train",
                "step": 5,
                "loss": 3.0,
                "learning_rate": 1e-3,
                "tokens_per_second": 1234.0,
                "tgt_tokens": 99,
                "seconds": 30.0,
            }
        )
    assert capsys.readouterr().err == "step 5  loss 3.000  rate 1.0e-03  1,234 tokens/s  25% of the budget\n"
