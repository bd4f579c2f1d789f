"""What a large corpus costs: `jumok prepare` and the start of `jumok train` at growing sizes.

    python benchmarks/prepare_scale.py                       # 50k, 500k and 5M pairs
    python benchmarks/prepare_scale.py --sizes 50k,500k --json > scale.json

The pairs are made here, the same ones every time: sentences of 13 words on average, drawn from a vocabulary in
which some words are frequent and most are rare, as in real text; one pair in fifty is an earlier one again.
The commands are the real ones, in processes of their own. Memory is the largest sum of the resident memory of a
command and its children (RSS, from /proc; pages that are shared or mapped from files count in full), looked at
twenty times a second. The first step is timed from the start of the command: in it Python and torch are
imported, the input files are hashed, and the first half million pairs are put into batches.

Neither time a pair nor memory should rise with the size: the last lines are their ratios, largest to smallest
size. A small corpus shares the start of Python and the learning of subwords among fewer pairs, so its time a pair
is higher. Where other programs are at work, compare processor time.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

CONFIG = """\
name = "scale"

[data]
source = "de"
target = "en"
train = ["train.de", "train.en"]
valid = ["valid.de", "valid.en"]

[model]
preset = "tiny"

[training]
max_steps = 3
log_every = 1
validate_bleu = 0

[decoding]
beam = 1
"""
NUM_WORDS = 60_000  # different words of each language
SECONDS_BETWEEN_LOOKS = 0.05
BLOCK = 50_000
ONSETS = ["b", "d", "f", "g", "h", "k", "l", "m", "n", "p", "r", "s", "t", "v", "w", "z", "st", "sch", "br"]
SYLLABLES = [onset + rest for onset in ONSETS for rest in ("a", "e", "i", "o", "u", "ei", "au", "en", "er")]


def main() -> None:
    options = parse_arguments()
    results = []
    for size in options.sizes:
        with tempfile.TemporaryDirectory(prefix="prepare-scale-", dir=options.work) as folder:
            result = measure(size, Path(folder))
        say(f"{size:,} pairs: {result['seconds']:.1f} s, {result['peak_rss_mb']} MB")
        results.append(result)
    summary = summarize(results)
    print(json.dumps(summary, indent=2) if options.json else table(summary))


def parse_arguments() -> argparse.Namespace:
    as_written = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=as_written)
    add = parser.add_argument
    add("--sizes", default="50k,500k,5M", help="pairs, separated by commas; default: %(default)s")
    add("--work", type=Path, default=None, help="folder on the disk to measure; 5M pairs need 5 GB")
    add("--json", action="store_true", help="print one JSON object instead of a table")
    options = parser.parse_args()
    options.sizes = [number(size) for size in options.sizes.split(",")]
    return options


def number(text: str) -> int:
    """50k and 5M as numbers."""
    factor = {"k": 1_000, "M": 1_000_000}.get(text[-1], 1)
    return round(float(text.rstrip("kM")) * factor)


def measure(size: int, folder: Path) -> dict[str, Any]:
    """Make a corpus, prepare it, and take the first steps of a training on it."""
    say(f"{size:,} pairs: making them")
    write_pairs(folder, "train", size, seed=1)
    write_pairs(folder, "valid", 50, seed=2)
    (folder / "scale.toml").write_text(CONFIG)
    text_mb = sum(path.stat().st_size for path in folder.glob("train.*")) / 1e6
    prepared = run(["prepare", "scale.toml"], folder)
    training = run(["train", "scale.toml"], folder, until_first_step=folder / "runs" / "scale" / "metrics.jsonl")
    info = json.loads((folder / "prepared" / "scale" / "prepared.json").read_text())
    return {
        "pairs": size,
        "text_mb": round(text_mb, 1),
        "kept": info["train"]["kept"],
        "seconds": prepared["seconds"],
        "microseconds_a_pair": round(1e6 * prepared["seconds"] / size, 2),
        "cpu_microseconds_a_pair": round(1e6 * prepared["cpu_seconds"] / size, 2),
        "cores_used": round(prepared["cpu_seconds"] / prepared["seconds"], 2),
        "peak_rss_mb": prepared["peak_rss_mb"],
        "first_step_seconds": training["first_step_seconds"],
        "training_peak_rss_mb": training["peak_rss_mb"],
    }


# --- the corpus -----------------------------------------------------------------------------------------------------


def write_pairs(folder: Path, split: str, size: int, seed: int) -> None:
    with (folder / f"{split}.de").open("w") as src_file, (folder / f"{split}.en").open("w") as tgt_file:
        for src, tgt in itertools.islice(make_pairs(seed), size):
            src_file.write(src + "\n")
            tgt_file.write(tgt + "\n")


def make_pairs(seed: int) -> Iterator[tuple[str, str]]:
    """Pairs without end."""
    src_words, tgt_words = make_words(seed=0), make_words(seed=1)
    rng = np.random.default_rng(seed)
    frequencies = 1 / np.arange(1, NUM_WORDS + 1)
    cumulated = np.cumsum(frequencies / frequencies.sum())
    earlier: list[tuple[str, str]] = []
    while True:
        lengths = np.clip(rng.lognormal(2.5, 0.4, BLOCK).round(), 3, 60).astype(int)
        words = np.minimum(np.searchsorted(cumulated, rng.random(lengths.sum())), NUM_WORDS - 1)
        is_repeated = rng.random(BLOCK) < 0.02
        for sentence, again in zip(np.split(words, np.cumsum(lengths)[:-1]), is_repeated, strict=True):
            if again and earlier:
                yield earlier[int(rng.integers(len(earlier)))]
                continue
            ids = sentence.tolist()
            pair = " ".join([src_words[i] for i in ids]) + ".", " ".join([tgt_words[i] for i in ids]) + "."
            if len(earlier) < 10_000:
                earlier.append(pair)
            yield pair


def make_words(seed: int) -> list[str]:
    """Different words; the frequent ones are short."""
    rng = random.Random(seed)
    words: dict[str, None] = {}
    while len(words) < NUM_WORDS:
        max_syllables = 2 + min(3, len(words) // 2_000)
        words["".join(rng.choices(SYLLABLES, k=rng.randint(1, max_syllables)))] = None
    return list(words)


# --- running and looking ----------------------------------------------------------------------------------------------


def run(arguments: list[str], folder: Path, until_first_step: Path | None = None) -> dict[str, Any]:
    """Run a command and look at its memory; with a metrics file, also at when the first step is in it."""
    log = folder / "log.txt"
    peak, first_step, started = 0, None, time.perf_counter()
    before = os.times()
    with log.open("w") as output:
        command = [sys.executable, "-m", "jumok", *arguments]
        process = subprocess.Popen(command, cwd=folder, stdout=output, stderr=output)
        while process.poll() is None:
            peak = max(peak, sum(resident_bytes(pid) for pid in family(process.pid)))
            if first_step is None and until_first_step is not None and has_step(until_first_step):
                first_step = round(time.perf_counter() - started, 1)
            time.sleep(SECONDS_BETWEEN_LOOKS)
    seconds, after = time.perf_counter() - started, os.times()
    if process.returncode:
        raise SystemExit(f"jumok {' '.join(arguments)} failed ({process.returncode}):\n{log.read_text()}")
    cpu_seconds = after.children_user + after.children_system - before.children_user - before.children_system
    figures = {"seconds": round(seconds, 2), "cpu_seconds": round(cpu_seconds, 2), "peak_rss_mb": round(peak / 1e6)}
    return figures | {"first_step_seconds": first_step}


def family(pid: int) -> list[int]:
    """A process and all that descend from it."""
    found = [pid]
    for parent in found:
        for children in Path(f"/proc/{parent}/task").glob("*/children"):
            try:
                found += [int(child) for child in children.read_text().split()]
            except OSError:
                continue  # it ended while we looked
    return found


def resident_bytes(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def has_step(metrics: Path) -> bool:
    return metrics.exists() and '"event": "train"' in metrics.read_text()


# --- the result -------------------------------------------------------------------------------------------------------


def summarize(results: list[dict[str, Any]]) -> dict[str, Any]:
    """Every size, and the ratios of the largest to the smallest."""
    small, large = (choose(results, key=lambda result: result["pairs"]) for choose in (min, max))
    figures = ("microseconds_a_pair", "cpu_microseconds_a_pair", "peak_rss_mb", "training_peak_rss_mb")
    ratios = {f"ratio_of_{figure}": round(large[figure] / small[figure], 3) for figure in figures}
    return {"sizes": results, **ratios}


def table(summary: dict[str, Any]) -> str:
    """The summary for a person: a line a size, then the ratios."""
    titles = f"{'pairs':>10}{'seconds':>10}{'µs a pair':>11}{'CPU µs':>8}{'cores':>7}{'peak MB':>9}"
    lines = [f"{titles}   train: {'first step s':>12}{'peak MB':>9}"]
    for result in summary["sizes"]:
        time_a_pair = f"{result['microseconds_a_pair']:>11.1f}{result['cpu_microseconds_a_pair']:>8.1f}"
        preparing = f"{result['seconds']:>10.1f}{time_a_pair}{result['cores_used']:>7.2f}{result['peak_rss_mb']:>9}"
        training = f"{result['first_step_seconds']:>12.1f}{result['training_peak_rss_mb']:>9}"
        lines.append(f"{result['pairs']:>10,}{preparing}{'':>10}{training}")
    lines.append("")
    lines += [f"{key.replace('_', ' ')}: {value}" for key, value in summary.items() if key.startswith("ratio")]
    return "\n".join(lines)


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
