"""The real program in a process of its own, and small data for it."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}
PROGRAM = [sys.executable, "-m", "jumok"]

CONFIG = """
name = "reverse"
[data]
source = "en"
target = "en"
train = "train.tsv"
valid = "valid.tsv"
test = "test.tsv"
[tokenizer]
vocab_size = 280
[model]
preset = "tiny"
d_model = 64
d_ff = 128
encoder_layers = 1
decoder_layers = 1
dropout = {dropout}
[training]
max_steps = {max_steps}
batch_tokens = 1024
learning_rate = 5e-3
warmup_steps = 50
schedule = "cosine"
validate_every = {validate_every}
validate_bleu = 20
threads = 1
"""

_ALONE = ("faults", "distributed", "browser", "test_bulk.py", "test_interruption.py", "test_serve.py")
Jumok = Callable[..., subprocess.CompletedProcess[str]]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what must not run beside other tests."""
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here) and item.path.relative_to(here).parts[0] in _ALONE:
            item.add_marker("alone")


@pytest.fixture(scope="session")
def program() -> list[str]:
    return PROGRAM


@pytest.fixture
def jumok(tmp_path: Path) -> Jumok:
    """Run a command to its end in the test's folder."""

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*PROGRAM, *map(str, arguments)],
            cwd=tmp_path,
            env=ENVIRONMENT,
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )

    return run


@pytest.fixture
def reverse(tmp_path: Path) -> Callable[..., Path]:
    """Write the reversing task: letters in, the same letters in the other order out; and its configuration."""

    def write(max_steps: int, validate_every: int, dropout: float = 0.0, num_pairs: int = 3000) -> Path:
        for name, count, seed in (("train", num_pairs, 1), ("valid", 100, 2), ("test", 100, 3)):
            rng = random.Random(seed)
            with (tmp_path / f"{name}.tsv").open("w") as file:
                for _ in range(count):
                    words = rng.choices("abcdefghij", k=rng.randint(3, 8))
                    file.write(f"{' '.join(words)}\t{' '.join(reversed(words))}\n")
        config = tmp_path / "reverse.toml"
        config.write_text(CONFIG.format(max_steps=max_steps, validate_every=validate_every, dropout=dropout))
        return config

    return write
