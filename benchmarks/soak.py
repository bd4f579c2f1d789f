"""A hundred deaths: `jumok train` is killed at random moments and started again, and must end as if nothing was.

    python benchmarks/soak.py                       # 100 kills, about ten minutes
    python benchmarks/soak.py --kills 20 --seed 7 --verbose
    python benchmarks/soak.py --json > soak.json

The commands are the real ones, in processes of their own. SIGKILL, SIGTERM and SIGINT take turns in an order that the
seed decides, and it decides the moment: four in five come while the process trains, the others before, from the
start of Python on. A short training is timed first, so that the long one outlasts the kills; then that one is trained
once without any. At the end weights, optimizer, counters and the loss of every step have to be equal to it, bit by
bit; else the exit code is 1.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
CODES = {signal.SIGKILL: {-9}, signal.SIGTERM: {143, -15}, signal.SIGINT: {130, -2}}
CALIBRATION_STEPS = 60
SHARE_IN_TRAINING = 0.8  # of the kills
CONFIG = """\
name = "soak"

[data]
source = "en"
target = "en"
train = "train.tsv"
valid = "valid.tsv"

[tokenizer]
vocab_size = 280
sampling = 0.1

[model]
preset = "tiny"
d_model = 32
d_ff = 64
encoder_layers = 1
decoder_layers = 1
dropout = 0.2

[training]
batch_tokens = 256
accumulate = 2
learning_rate = 2e-3
warmup_steps = 50
validate_every = 50
save_every = 10
validate_bleu = 2
average_last = 3
log_every = 1
threads = 1

[decoding]
beam = 1
"""


@dataclass(frozen=True)
class Kill:
    """One signal to one process."""

    name: str
    seconds: float  # after the start
    code: int
    step: int | None  # that the process went on from; None: it had not come so far
    problem: str | None = None


def main() -> None:
    options = parse_arguments()
    # A shell makes what it starts in the background deaf to Ctrl-C, and that would be inherited.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with tempfile.TemporaryDirectory(prefix="jumok-soak-", dir=options.work) as scratch:
        summary = soak(Path(scratch), options)
    print(json.dumps(summary, indent=2) if options.json else table(summary))
    sys.exit(0 if summary["is_equal"] and not summary["problems"] else 1)


def parse_arguments() -> argparse.Namespace:
    as_written = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=as_written)
    add = parser.add_argument
    add("--kills", type=int, default=100)
    add("--seed", type=int, default=1, help="decides signals and moments")
    add("--seconds", type=float, default=2.0, help="of training that a process lives through at most")
    add("--work", type=Path, help="where the runs are made; default: the system's place for temporary files")
    add("--verbose", action="store_true", help="print a line a kill")
    add("--json", action="store_true", help="print one JSON object instead of a summary")
    return parser.parse_args()


def soak(folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """The short training, the one without kills, the one with them; then compare."""
    started = time.perf_counter()
    write_pairs(folder / "train.tsv", 400, 1)
    write_pairs(folder / "valid.tsv", 20, 2)
    (folder / "soak.toml").write_text(CONFIG)
    start_up, speed = calibrate(folder)
    max_steps = CALIBRATION_STEPS + round(options.kills * options.seconds / 2 * speed)
    say(f"{start_up:.1f} s to the first step, {speed:.0f} steps/s: {max_steps:,} steps for {options.kills} kills")
    finish(folder, "whole", max_steps)
    kills = kill_often(folder, max_steps, start_up, options)
    finish(folder, "killed", max_steps)
    whole, killed = outcome(folder / "whole", max_steps), outcome(folder / "killed", max_steps)
    different = [name for name, value in whole.items() if killed[name] != value]
    problems = [kill.problem for kill in kills if kill.problem]
    return {
        "kills": len(kills),
        "by_signal": dict(collections.Counter(kill.name for kill in kills)),
        "in_training": sum(kill.step is not None for kill in kills),
        "steps": max_steps,
        "seed": options.seed,
        "is_equal": not different,
        "different": different,
        "problems": problems,
        "seconds": round(time.perf_counter() - started, 1),
    }


def write_pairs(path: Path, count: int, seed: int) -> None:
    """Letters, and the same letters in the other order."""
    rng = random.Random(seed)
    with path.open("w") as file:
        for _ in range(count):
            words = rng.choices("abcdefghijklmnop", k=rng.randint(3, 10))
            file.write(f"{' '.join(words)}\t{' '.join(reversed(words))}\n")


def calibrate(folder: Path) -> tuple[float, float]:
    """Seconds from the start of a process to its first step, and steps a second after that."""
    started = time.time()
    finish(folder, "calibration", CALIBRATION_STEPS)  # prepares the corpus, too
    seconds = [event["seconds"] for event in events(folder / "calibration") if event["event"] == "train"]
    ended = (folder / "calibration" / "model.safetensors").stat().st_mtime
    return ended - started - seconds[-1], len(seconds) / seconds[-1]


def kill_often(folder: Path, max_steps: int, start_up: float, options: argparse.Namespace) -> list[Kill]:
    rng = random.Random(options.seed)
    kills: list[Kill] = []
    coming: list[signal.Signals] = []
    while len(kills) < options.kills:
        coming = coming or rng.sample(SIGNALS, len(SIGNALS))
        is_in_training = rng.random() < SHARE_IN_TRAINING
        moment = rng.uniform(0.0, options.seconds if is_in_training else start_up)
        kill = live_and_die(folder, max_steps, coming.pop(), moment, is_in_training)
        if kill.code == 0:
            say(f"the training ended after {len(kills)} kills, before the next one came")
            break
        kills.append(kill)
        if options.verbose or kill.problem:
            begun = f"went on from step {kill.step}" if kill.step is not None else "had not begun"
            line = f"{len(kills)}: {kill.name} after {kill.seconds:.2f} s, {begun}, exit code {kill.code}"
            say(f"{line}; {kill.problem}" if kill.problem else line)
    return kills


def live_and_die(folder: Path, max_steps: int, number: signal.Signals, moment: float, is_in_training: bool) -> Kill:
    """Start a training and send it a signal so many seconds after its start, or after its first step."""
    log = folder / "killed.log"
    started = time.perf_counter()
    with log.open("w") as errors:
        process = subprocess.Popen(
            command("killed", max_steps), cwd=folder, env=environment(), stdout=subprocess.DEVNULL, stderr=errors
        )
        while is_in_training and process.poll() is None and "\nstep " not in log.read_text(errors="replace"):
            time.sleep(0.02)
        try:
            process.wait(moment)
        except subprocess.TimeoutExpired:
            process.send_signal(number)
        seconds = time.perf_counter() - started
        code = process.wait(600)
    said = log.read_text(errors="replace")
    found = re.search(r"^going on from step ([\d,]+)$", said, re.MULTILINE)
    has_begun = found is not None or "\nstep " in said
    step = (int(found[1].replace(",", "")) if found else 0) if has_begun else None
    # Ctrl-C in the midst of an import may come out as any error of the imported.
    is_expected = code in {0, *CODES[number]} or (not has_begun and number == signal.SIGINT)
    problem = None if is_expected else f"exit code {code} after {number.name}: {' / '.join(said.splitlines()[-3:])}"
    return Kill(number.name, seconds, code, step, problem)


def finish(folder: Path, run: str, max_steps: int) -> None:
    """Train to the end."""
    done = subprocess.run(
        command(run, max_steps), cwd=folder, env=environment(), capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{run} failed ({done.returncode}):\n{done.stderr[-2000:]}")


def command(run: str, max_steps: int) -> list[str]:
    return [
        sys.executable,
        "-m",
        "jumok",
        "train",
        "soak.toml",
        "--run",
        run,
        "--set",
        f"training.max_steps={max_steps}",
    ]


def environment() -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1"}


def outcome(run: Path, max_steps: int) -> dict[str, Any]:
    """What has to be equal."""
    last = run / "checkpoints" / f"step-{max_steps}"
    state = json.loads((last / "state.json").read_text())
    del state["seconds"]
    keys = ("event", "step", "epoch", "batch", "loss", "grad_norm", "bleu")
    return {
        "model to use": (run / "model.safetensors").read_bytes(),
        "weights": (last / "model.safetensors").read_bytes(),
        "optimizer": (last / "optimizer.safetensors").read_bytes(),
        "counters": state,
        "losses": [
            tuple(e.get(key) for key in keys) for e in events(run) if e["event"] in ("train", "validate", "skip")
        ],
    }


def events(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]


def table(summary: dict[str, Any]) -> str:
    """The summary for a person."""
    by_signal = ", ".join(f"{count} {name}" for name, count in sorted(summary["by_signal"].items()))
    different = ", ".join(summary["different"])
    lines = [
        f"{summary['kills']} kills ({by_signal}) in {summary['seconds'] / 60:.1f} minutes, "
        f"{summary['in_training']} of them in the training; {summary['steps']:,} steps",
        *summary["problems"],
        "equal to the uninterrupted training, bit by bit" if summary["is_equal"] else f"DIFFERENT: {different}",
    ]
    return "\n".join(lines)


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
