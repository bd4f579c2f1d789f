"""How fast Jumok trains, beside Hugging Face, Eole and Marian, in one run on one machine.

    python benchmarks/train_speed.py                # three rounds of about a minute and a half a system
    python benchmarks/train_speed.py --rounds 5 --json > speed.json
    python benchmarks/train_speed.py --systems jumok,marian --seconds 30

Same model (3+3 layers, d_model 256, d_ff 1024, 8 heads, 8k joint BPE, three-way tied embeddings, dropout
0.2, label smoothing 0.1, float32), same sentence pairs (Multi30k, German to English), about 4096 tokens a
batch, two threads. Each peer is installed into an environment of its own under `--work`, once, and runs as
its own process; its script in `train_speed_peers/` says how it is set. The systems take turns, in every
second round in the opposite order, so that a machine that becomes slower or faster is so for all of them.

Speed is target tokens a second after a warm-up: subwords and ends of sentences, padding left out. The limit
is the time of the same step's matrix products alone (`train_speed_peers/matrix_limit.py`). Where other
programs took a noticeable part of the machine during a run, the run is marked: such figures are for nobody.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from train_speed_peers.pieces import prepare

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = Path(__file__).resolve().parent / "train_speed_peers"
# Stands in one pip command with the packages that need it: left open, it would be a far larger build.
TORCH = "torch==2.13.0"
MAX_DISTURBANCE = 0.1  # of the cores, taken by other programs


@dataclass(frozen=True)
class System:
    """Something to measure: a script, and what to install for it (nothing: it runs where this runs)."""

    title: str
    script: str
    requirements: tuple[str, ...] = ()
    is_python_peer: bool = False


SYSTEMS = {
    "jumok": System("Jumok", "jumok_train.py"),
    "huggingface": System(
        "Hugging Face Seq2SeqTrainer",
        "hf_trainer.py",
        (TORCH, "transformers==5.22.2", "accelerate==1.15.0", "datasets==5.2.0"),
        is_python_peer=True,
    ),
    "eole": System("Eole", "eole_nmt.py", (TORCH, "eole==0.6.4", "aiohttp"), is_python_peer=True),
    "marian": System("Marian (C++)", "marian_cpp.py", ("pymarian==1.12.42",)),
    "limit": System("limit: matrix products alone", "matrix_limit.py"),
}


def main() -> None:
    options = parse_arguments()
    pieces = prepare(options.data / "train.de", options.data / "train.en", options.work / "pieces")
    pythons = {name: environment(name, options.work) for name in options.systems}
    runs: list[dict[str, Any]] = []
    for number in range(options.rounds):
        for name in options.systems[:: 1 if number % 2 == 0 else -1]:
            result = run(name, pythons[name], pieces, options) | {"round": number + 1}
            speed = f"{result['target_tokens_per_second']:.0f} tokens/s"
            say(f"round {number + 1}: {name} {speed}{remark(result)}")
            runs.append(result)
    summary = summarize(runs)
    print(json.dumps(summary, indent=2) if options.json else table(summary))


def parse_arguments() -> argparse.Namespace:
    as_written = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=as_written)
    add = parser.add_argument
    default_data = ROOT / "data" / "multi30k"
    add("--data", type=Path, default=default_data, help="folder with train.de, train.en, val.de and val.en")
    add("--work", type=Path, default=Path("~/.cache/jumok-benchmarks"), help="where environments are kept")
    add("--systems", default=",".join(SYSTEMS), help="which, separated by commas; default: %(default)s")
    add("--rounds", type=int, default=3)
    add("--warmup", type=float, default=20.0, help="seconds of each run that are not counted")
    add("--seconds", type=float, default=60.0, help="seconds of each run that are")
    add("--batch-tokens", type=int, default=4096)
    add("--threads", type=int, default=2)
    add("--json", action="store_true", help="print one JSON object instead of a table")
    options = parser.parse_args()
    options.systems = options.systems.split(",")
    options.data, options.work = options.data.resolve(), options.work.expanduser().resolve()
    if unknown := set(options.systems) - set(SYSTEMS):
        parser.error(f"no system is called {', '.join(sorted(unknown))}; there are {', '.join(SYSTEMS)}")
    for name in ("train.de", "train.en"):
        if not (options.data / name).exists():
            parser.error(f"{options.data / name} is not there; --data names the folder of the corpus")
    return options


def environment(name: str, work: Path) -> Path:
    """The Python that runs a system; its environment is made if it is not there or holds something else."""
    requirements = SYSTEMS[name].requirements
    if not requirements:
        return Path(sys.executable)
    folder, holds = work / "envs" / name, "\n".join(requirements)
    python, made = folder / "bin" / "python", folder / "requirements.txt"
    if not made.exists() or made.read_text() != holds:
        say(f"installing {', '.join(requirements)}")
        shutil.rmtree(folder, ignore_errors=True)
        venv.create(folder, with_pip=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *requirements], check=True, stdout=sys.stderr)
        made.write_text(holds)
    return python


def run(name: str, python: Path, pieces: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Run one system once in a process of its own and return what it printed."""
    system = SYSTEMS[name]
    with tempfile.TemporaryDirectory(prefix=f"run-{name}-", dir=options.work) as scratch:
        settings = {"data": options.data, "pieces": pieces, "scratch": scratch, "threads": options.threads}
        settings |= {"batch-tokens": options.batch_tokens}
        settings |= {"warmup": options.warmup, "seconds": options.seconds}
        command = [str(python), str(SCRIPTS / system.script)]
        command += [part for key, value in settings.items() for part in (f"--{key}", str(value))]
        threads = {key: str(options.threads) for key in ("OMP_NUM_THREADS", "MKL_NUM_THREADS")}
        offline = {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
        before, started = cpu_seconds(), time.perf_counter()
        log = Path(scratch) / "stderr.txt"
        with log.open("w") as errors:
            settings_of_process = os.environ | threads | offline
            done = subprocess.run(command, env=settings_of_process, stdout=subprocess.PIPE, stderr=errors)
        taken = cpu_seconds() - before
        if done.returncode:
            tail = "\n".join(log.read_text(errors="replace").splitlines()[-20:])
            raise SystemExit(f"{system.title} failed ({done.returncode}):\n{tail}")
    cores = len(os.sched_getaffinity(0))
    others = max(0.0, taken / (time.perf_counter() - started) / cores)
    return json.loads(done.stdout.decode().splitlines()[-1]) | {"taken_by_others": round(others, 3)}


def cpu_seconds() -> float:
    """Seconds of processor time that the machine has spent, less what children of this process have."""
    try:
        fields = [int(field) for field in Path("/proc/stat").read_text().split()[1:9]]
    except OSError:
        return 0.0  # elsewhere than on Linux nobody is watched
    _user, _nice, _system, idle, waiting, *_ = fields
    busy = (sum(fields) - idle - waiting) / os.sysconf("SC_CLK_TCK")
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return busy - children.ru_utime - children.ru_stime


def summarize(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """The medians, Jumok's ratios to them, and every single run."""
    names = [name for name in SYSTEMS if any(result["system"] == name for result in runs)]
    medians = {name: median(runs, name, "target_tokens_per_second") for name in names}
    python_peers = [medians[name] for name in names if SYSTEMS[name].is_python_peer]
    summary: dict[str, Any] = {"target_tokens_per_second": medians}
    if "jumok" in medians:
        if python_peers:
            summary["ratio_to_fastest_python_peer"] = round(medians["jumok"] / max(python_peers), 3)
        if "marian" in medians:
            summary["ratio_to_marian"] = round(medians["jumok"] / medians["marian"], 3)
        summary["jumok_peak_rss_mb"] = median(runs, "jumok", "peak_rss_mb")
    if "limit" in medians:
        summary["ratio_to_limit"] = median(runs, "limit", "ratio_to_limit")
    summary["disturbed_runs"] = sum(bool(remark(result)) for result in runs)
    return summary | {"runs": runs}


def median(runs: list[dict[str, Any]], name: str, figure: str) -> float:
    return statistics.median(result[figure] for result in runs if result["system"] == name)


def remark(result: dict[str, Any]) -> str:
    """What a reader of this figure has to know."""
    others = result["taken_by_others"]
    return f" (other programs took {others:.0%} of the machine)" if others > MAX_DISTURBANCE else ""


def table(summary: dict[str, Any]) -> str:
    """The summary for a person: a line a system, then the ratios."""
    lines = [f"{'system':<30}{'version':>9}{'tokens/s':>10}{'a batch':>9}{'peak MB':>9}  each round"]
    for name, speed in summary["target_tokens_per_second"].items():
        own = [result for result in summary["runs"] if result["system"] == name]
        each = " ".join(f"{result['target_tokens_per_second']:.0f}" for result in own)
        a_batch, memory = (median(own, name, figure) for figure in ("tokens_per_batch", "peak_rss_mb"))
        version = own[0].get("version", "")
        figures = f"{version:>9}{speed:>10.0f}{a_batch:>9.0f}{memory:>9.0f}  {each}"
        lines.append(f"{SYSTEMS[name].title:<30}{figures}")
    lines.append("")
    ratios = {key: value for key, value in summary.items() if key.startswith(("ratio", "jumok"))}
    lines += [f"{key.replace('_', ' ')}: {value}" for key, value in ratios.items()]
    if summary["disturbed_runs"]:
        lines.append(f"{summary['disturbed_runs']} runs were disturbed by other programs: measure again")
    return "\n".join(lines)


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
