"""Trainings of a second that something happens to, and what is left of them."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from jumok.storage.run_directory import RunDirectory

MAX_STEPS = 10
CONFIG = """
name = "fault"
[data]
source = "en"
target = "en"
train = "train.tsv"
valid = "valid.tsv"
[tokenizer]
vocab_size = 280
[model]
preset = "tiny"
d_model = 16
d_ff = 16
num_heads = 2
encoder_layers = 1
decoder_layers = 1
dropout = 0.2
[training]
max_steps = 10
batch_tokens = 128
accumulate = 2
learning_rate = 1e-2
warmup_steps = 5
validate_every = 4
validate_bleu = 2
average_last = 2
log_every = 1
threads = 1
[decoding]
max_extra_length = 3
"""

Fault = dict[str, Any]


class Driver:
    """The process that forks trainings: see driver.py."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("driver.py"))],
            env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, **request: Any) -> Any:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer, "the driver has ended"
        return json.loads(answer)

    def close(self) -> None:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(timeout=60)


class Training:
    """One run directory, trained by as many processes as it takes."""

    def __init__(self, driver: Driver, name: str) -> None:
        self.driver = driver
        self.run = RunDirectory(driver.folder / name)
        self.log = driver.folder / f"{name.replace('/', '-')}.log"
        self.number = 0

    def start(self, *faults: Fault, settings: Iterable[str] = (), config: str = "fault.toml", options: Any = ()) -> int:
        """Start a process in which something will happen; returns its number."""
        command = ["train", config, "--run", str(self.run.path), "--json", *options]
        command += [part for setting in settings for part in ("--set", setting)]
        self.log.write_text("")
        folder, log = str(self.driver.folder), str(self.log)
        self.number = self.driver.ask(start=command, folder=folder, log=log, faults=list(faults))
        return self.number

    def wait(self) -> int | None:
        """Until it ends or stands still; returns the exit code, negative where a signal ended it."""
        code: int | None = self.driver.ask(wait=self.number)
        return code

    def train(self, *faults: Fault, **named: Any) -> int | None:
        """Start and wait."""
        self.start(*faults, **named)
        return self.wait()

    def finish(self, *faults: Fault, **named: Any) -> None:
        """Train to the end."""
        code = self.train(*faults, **named)
        assert code == 0, f"{code}: {self.said()}"

    def go_on(self) -> None:
        """A process that stands still goes on."""
        os.kill(self.number, signal.SIGCONT)

    def said(self) -> str:
        """By the last process."""
        return self.log.read_text()

    def losses(self) -> list[tuple[Any, ...]]:
        """Of every update and validation, as they were noted."""
        keys = ("event", "step", "epoch", "batch", "loss", "grad_norm", "bleu")
        lines = self.run.metrics_file.read_text(errors="replace").splitlines()
        events = [json.loads(line) if line.endswith("}") else {"event": "torn"} for line in lines]
        return [tuple(e.get(key) for key in keys) for e in events if e["event"] in ("train", "validate", "torn")]

    def saved(self, step: int) -> dict[str, Any]:
        """A checkpoint: weights, optimizer, and the counters that do not depend on the clock."""
        folder = self.run.checkpoints.path(step)
        state = json.loads((folder / "state.json").read_text())
        del state["seconds"]
        tensors = {name: (folder / f"{name}.safetensors").read_bytes() for name in ("model", "optimizer")}
        return {**tensors, "state": state}

    def outcome(self) -> dict[str, Any]:
        """Everything that has to be as if nothing had happened."""
        return {
            **self.saved(MAX_STEPS),
            "model to use": self.run.model_file.read_bytes(),
            "losses": self.losses(),
            "last": (self.run.checkpoints.folder / "last").read_text(),
        }

    def boundaries(self, is_torn: bool, **named: Any) -> list[str]:
        """Train to the end, and tell what was done to files, in order."""
        log = self.log.with_suffix(".boundaries")
        log.write_text("")
        self.finish({"fault": "at_write", "log": str(log), "is_torn": is_torn}, **named)
        operations = [json.loads(line) for line in log.read_text().splitlines()]
        return [f"{what} {path.removeprefix(f'{self.run.path}/')}" for what, path in operations]

    def copy(self, name: str) -> Training:
        """Another run directory with the same in it."""
        other = Training(self.driver, name)
        shutil.copytree(self.run.path, other.run.path)
        return other

    def leftovers(self) -> list[str]:
        """Half-finished files and folders."""
        found = (path.relative_to(self.run.path) for path in self.run.path.rglob(".*") if path.name != ".lock")
        return sorted(map(str, found))


class Trainings:
    """Trainings on the same data with the same settings."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self.folder = driver.folder

    def __call__(self, name: str) -> Training:
        return Training(self.driver, name)

    def pairwise(self, trials: Iterable[tuple[Training, tuple[Fault, ...]]]) -> Iterator[tuple[Training, int | None]]:
        """Train each, two at a time."""
        waiting = None
        for training, faults in trials:
            training.start(*faults)
            if waiting is not None:
                yield waiting, waiting.wait()
            waiting = training
        if waiting is not None:
            yield waiting, waiting.wait()


def write_pairs(path: Path, count: int, seed: int) -> None:
    rng = random.Random(seed)
    with path.open("w") as file:
        for _ in range(count):
            words = rng.choices("abcdefghij", k=rng.randint(3, 8))
            file.write(f"{' '.join(words)}\t{' '.join(reversed(words))}\n")


@pytest.fixture(scope="session")
def trainings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trainings]:
    """A folder with data and settings, and who trains there."""
    folder = tmp_path_factory.mktemp("faults")
    write_pairs(folder / "train.tsv", 60, 1)
    write_pairs(folder / "valid.tsv", 10, 2)
    (folder / "fault.toml").write_text(CONFIG)
    driver = Driver(folder)
    try:
        yield Trainings(driver)
    finally:
        driver.close()


@pytest.fixture(scope="session")
def whole(trainings: Trainings) -> Training:
    """The training that nothing happened to."""
    training = trainings("whole")
    training.finish()
    return training


@pytest.fixture(scope="session")
def stopped(trainings: Trainings) -> Training:
    """A training with two checkpoints, of steps 4 and 6."""
    training = trainings("stopped")
    fault = {"fault": "at_call", "function": "jumok.training.trainer:Trainer._update", "call": 6, "send": "SIGTERM"}
    assert training.train(fault) == 143
    assert training.run.checkpoints.steps() == [4, 6]
    return training
