"""It learns, through the real command line: thresholds that an untrained model cannot reach."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow


def test_reverses_letters(jumok: Callable[..., Any], reverse: Callable[..., Path], tmp_path: Path) -> None:
    ended = jumok("train", reverse(max_steps=400, validate_every=200), "--json")
    assert ended.returncode == 0, ended.stderr
    result = json.loads(ended.stdout)
    assert result["bleu"] > 80  # 98.5 when it was measured; untrained: below 5

    translated = jumok("translate", "runs/reverse", "--text", "a b c d e\n\nj i h")
    assert translated.stdout == "e d c b a\n\nh i j\n"

    again = jumok("train", "reverse.toml")
    assert again.returncode == 0
    assert "runs/reverse: is trained already; to go on, raise what ended it" in again.stderr

    before = (tmp_path / "runs/reverse/model.safetensors").read_bytes()
    further = jumok("train", "reverse.toml", "--set", "training.max_steps=420", "--json")
    assert further.returncode == 0, further.stderr
    assert "going on from step 400" in further.stderr
    assert json.loads(further.stdout)["steps"] == 420
    assert (tmp_path / "runs/reverse/model.safetensors").exists() and before

    against = jumok("evaluate", "runs/reverse", "--against", "runs/reverse", "--json")
    assert [c["metric"] for c in json.loads(against.stdout)["comparison"]] == ["BLEU", "chrF"]


def test_the_demo_learns_and_leaves_everything_a_run_has(jumok: Callable[..., Any], tmp_path: Path) -> None:
    ended = jumok("demo", "--set", "training.max_steps=300", "--set", "training.validate_every=150")
    assert ended.returncode == 0, ended.stderr
    run = tmp_path / "runs/demo"
    result = json.loads((run / "result.json").read_text())
    for field in ("bleu", "chrf", "signature", "params", "train_seconds", "train_tokens", "train_flops"):
        assert result[field], field
    assert result["bleu"] > 60  # an untrained model stays below 1
    assert result["bleu_composition"] > 40
    assert f"BLEU {result['bleu']:.1f}" in ended.stdout
    assert (run / "report.html").stat().st_size > 10_000
    assert list((run / "tensorboard").glob("events.out.tfevents.*"))
    events = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    assert {event["event"] for event in events} >= {"train", "validate", "save", "model"}
    assert [event["step"] for event in events if event["event"] == "validate"] == [150, 300]
    losses = [event["loss"] for event in events if event["event"] == "train"]
    assert losses[-1] < 0.6 * losses[0]
    assert len((run / "test.translations.txt").read_text().splitlines()) == 500
    assert (run / "attention.png").stat().st_size > 10_000
    for said in (
        "You have trained a Transformer",
        "어제 카페에 갔었어.",
        "runs/demo/report.html",
        "jumok translate runs/demo",
    ):
        assert said in ended.stdout

    again = jumok("demo", "--set", "training.max_steps=300", "--set", "training.validate_every=150")
    assert "is trained already" in again.stderr and "You have trained a Transformer" in again.stdout
