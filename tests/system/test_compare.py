"""A whole comparison through the real command line: a table of what is done and what failed, in every form."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jumok.comparison.results import Comparison

SYSTEMS = """
[compare]
systems = ["lstm", "bad", "transformer"]
budget = "steps"
amount = {amount}
[systems.bad]
note = "Cannot be."
tokenizer.vocab_size = 90000
"""


@pytest.fixture
def config(reverse: Callable[..., Path]) -> Callable[[int], Path]:
    """The reversing task as a comparison."""

    def write(amount: int) -> Path:
        path = reverse(max_steps=1, validate_every=20)
        text = path.read_text().replace("max_steps = 1\n", "")
        path.write_text(text + SYSTEMS.format(amount=amount))
        return path

    return write


def test_table_is_written_though_a_system_failed(
    jumok: Callable[..., Any], config: Callable[[int], Path], tmp_path: Path
) -> None:
    config(40)
    ended = jumok("compare", "reverse.toml", "--no-layers", "--with-paper")
    assert ended.returncode == 1, ended.stderr
    assert "system 1 of 3: lstm (Seq2seq, LSTM)" in ended.stderr
    assert "jumok: bad failed: " in ended.stderr and "Traceback" not in ended.stderr
    assert "step 20: validation loss" in ended.stderr
    folder = tmp_path / "runs" / "reverse"
    comparison = Comparison.from_json(json.loads((folder / "comparison.json").read_text()))
    assert [(system.name, system.status) for system in comparison.systems] == [
        ("lstm", "done"),
        ("bad", "failed"),
        ("transformer", "done"),
    ]
    assert comparison.with_paper and comparison.baseline == "transformer"
    for name in ("comparison.md", "comparison.html"):
        assert "Seq2seq, LSTM" in (folder / name).read_text()
    assert "Seq2seq, LSTM" in ended.stdout and "runs/reverse/comparison.html" in ended.stdout
    for system in ("lstm", "transformer"):
        assert (folder / system / "model.safetensors").exists()
        assert (folder / system / "report.html").exists()

    again = jumok("compare", "reverse.toml", "--only", "lstm,transformer", "--no-layers", "--json")
    assert again.returncode == 0, again.stderr
    assert again.stderr.count("is trained already") == 2
    assert Comparison.from_json(json.loads(again.stdout)).systems[0] == comparison.systems[0]

    assert "Traceback" in jumok("compare", "reverse.toml", "--only", "bad", "--no-layers", "--debug").stderr


@pytest.mark.slow
def test_ctrl_c_saves_and_the_same_command_goes_on(
    jumok: Callable[..., Any], config: Callable[[int], Path], program: list[str], tmp_path: Path
) -> None:
    config(300)
    process = subprocess.Popen(
        [*program, "compare", "reverse.toml", "--only", "transformer", "--no-layers"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    metrics = tmp_path / "runs" / "reverse" / "transformer" / "metrics.jsonl"
    limit = time.monotonic() + 300
    while not (metrics.exists() and '"event": "train"' in metrics.read_text()):
        assert process.poll() is None and time.monotonic() < limit, process.communicate()
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "and saved; the same command goes on from there; finished systems are not trained again" in said

    again = jumok("compare", "reverse.toml", "--only", "transformer", "--no-layers", "--json")
    assert again.returncode == 0, again.stderr
    assert "going on from step" in again.stderr
    assert json.loads(again.stdout)["systems"][0]["steps"] == 300
