"""One training on several processes: the same losses as on one, and no work lost when one of them dies."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from jumok.storage.run_directory import RunDirectory

DRIVER = Path(__file__).with_name("train_only.py")
TORCHRUN = [sys.executable, "-m", "torch.distributed.run"]
TINY = ["model.d_model=16", "model.d_ff=16", "training.validate_bleu=4", "training.log_every=1"]
TINY += ["training.batch_tokens=256", "training.save_every=2"]

Train = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def config(reverse: Callable[..., Path]) -> Path:
    return reverse(max_steps=8, validate_every=4, num_pairs=80, dropout=0.0)


@pytest.fixture
def train(config: Path, tmp_path: Path) -> Train:
    """Train with so many ranks into a run, and return its training events."""

    def run(ranks: int, name: str, *settings: str, options: tuple[str, ...] = (), **environment: str) -> list[Any]:
        launcher = [*TORCHRUN, "--standalone", f"--nproc-per-node={ranks}", *options]
        command = [*(launcher if ranks > 1 else [sys.executable]), str(DRIVER), str(config), name, *TINY, *settings]
        done = subprocess.run(
            command, cwd=tmp_path, env=environ(**environment), capture_output=True, text=True, timeout=300, check=False
        )
        assert done.returncode == 0, done.stderr[-3000:]
        return events(tmp_path / name)

    return run


def environ(**more: str) -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1", **more}


def events(run: Path) -> list[dict[str, Any]]:
    return [event for event in RunDirectory(run).metrics() if event["event"] == "train"]


def losses(told: list[dict[str, Any]]) -> list[float]:
    return [event["loss"] for event in told]


def weights(run: Path) -> dict[str, torch.Tensor]:
    checkpoints = RunDirectory(run).checkpoints
    return checkpoints.load_model(checkpoints.steps()[-1])


def assert_same_weights(one: Path, other: Path) -> None:
    for name, tensor in weights(one).items():
        assert torch.equal(weights(other)[name], tensor), name


@pytest.mark.slow
def test_one_two_and_four_ranks_have_the_same_losses(train: Train) -> None:
    alone = train(1, "one")
    assert len(alone) == 8
    for ranks in (2, 4):
        together = train(ranks, f"of-{ranks}")
        assert losses(together) == pytest.approx(losses(alone), abs=1e-5)
        for figure in ("tgt_tokens", "epoch", "batch", "learning_rate"):
            assert [event[figure] for event in together] == [event[figure] for event in alone]
        assert [event["grad_norm"] for event in together] == pytest.approx(
            [event["grad_norm"] for event in alone], rel=1e-4
        )


@pytest.mark.slow
def test_with_whole_batches_to_deal_dropout_too_is_the_same_for_any_number_of_ranks(train: Train) -> None:
    settings = ["model.dropout=0.3", "training.accumulate=4", "training.batch_tokens=64"]
    alone = losses(train(1, "one", *settings))
    assert losses(train(2, "two", *settings)) == pytest.approx(alone, abs=1e-5)
    assert losses(train(1, "other", *settings, "training.seed=2")) != pytest.approx(alone, abs=1e-3)


@pytest.mark.slow
def test_a_sharded_model_learns_the_same_and_goes_on_with_another_number_of_ranks(train: Train, tmp_path: Path) -> None:
    alone = losses(train(1, "one"))
    sharded = train(2, "run", "distributed.shard=true", "training.max_steps=4")
    assert losses(sharded) == pytest.approx(alone[:4], abs=1e-4)  # the rate falls to another end
    files = [path.name for path in (tmp_path / "run/checkpoints/step-4/sharded").iterdir()]
    assert len([name for name in files if name.endswith(".safetensors")]) == 2
    assert json.loads((tmp_path / "run/checkpoints/step-4/manifest.json").read_text()).keys() >= {
        f"sharded/{name}" for name in files if name.endswith(".safetensors")
    }
    # From two that hold a part each, to one that holds all, to two that hold all.
    half = train(1, "run", "training.max_steps=6")
    whole = train(2, "run", "training.max_steps=8")
    assert [event["step"] for event in whole] == list(range(1, 9))
    assert losses(half)[:4] == losses(sharded)


@pytest.mark.slow
def test_a_run_goes_on_with_another_number_of_ranks_as_if_nothing_had_been(train: Train) -> None:
    settings = ["training.schedule=constant"]  # whose rate does not depend on max_steps
    alone = losses(train(1, "one", *settings))
    train(1, "run", *settings, "training.max_steps=3")
    train(2, "run", *settings, "training.max_steps=5")
    parts = losses(train(1, "run", *settings))
    assert parts == pytest.approx(alone, abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("rank", ["0", "1"])
def test_a_killed_worker_is_started_again_and_the_end_is_the_same(train: Train, tmp_path: Path, rank: str) -> None:
    uninterrupted = train(2, "whole", "model.dropout=0.3")
    restarted = train(2, "parts", "model.dropout=0.3", options=("--max-restarts=1",), DIES=f"{rank} 5")
    assert (tmp_path / "died").exists()
    assert losses(restarted) == losses(uninterrupted)
    assert_same_weights(tmp_path / "whole", tmp_path / "parts")


@pytest.mark.slow
def test_sigterm_to_torchrun_saves_on_all_ranks_and_the_same_command_goes_on(
    train: Train, config: Path, tmp_path: Path
) -> None:
    uninterrupted = train(
        2, "whole", "training.max_steps=400", "training.save_every=1000", "training.validate_every=400"
    )
    settings = [*TINY, "training.max_steps=400", "training.save_every=1000", "training.validate_every=400"]
    command = [*TORCHRUN, "--standalone", "--nproc-per-node=2", str(DRIVER), str(config), "parts", *settings]
    process = subprocess.Popen(command, cwd=tmp_path, env=environ(), stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while len(events(tmp_path / "parts")) < 5 and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) != 0
    (saved,) = RunDirectory(tmp_path / "parts").checkpoints.steps()
    assert 5 <= saved < 400
    rest = train(2, "parts", *settings[len(TINY) :])
    assert losses(rest) == losses(uninterrupted)
    assert_same_weights(tmp_path / "whole", tmp_path / "parts")
