"""Jumok: `jumok train` on the small preset, which is the benchmark's size.

Pre-norm, as the preset says. Biases in the attention are on, because the peers have them. Jumok learns its
own subwords from the same text with the same settings. Its steps and tokens are read from `metrics.jsonl`
while it runs; the clock is this script's, so that the making of batches counts as it does for the others.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from meter import Mark, Meter, arguments
from pieces import VOCAB_SIZE

CONFIG = """\
name = "speed"
[data]
folder = {data}
source = "de"
target = "en"
train = ["train.de", "train.en"]
valid = ["val.de", "val.en"]
keep_duplicates = true
[tokenizer]
kind = "bpe"
vocab_size = {vocab_size}
[model]
preset = "small"
dropout = 0.2
attention_bias = true
[training]
batch_tokens = {batch_tokens}
label_smoothing = 0.1
threads = {threads}
device = "cpu"
precision = "float32"
max_steps = 100000
validate_every = 100000
log_every = 1
"""
POLL_SECONDS = 0.05


def write_config(data: Path, folder: Path, batch_tokens: int, threads: int) -> Path:
    """The benchmark's run as a TOML file in `folder`."""
    path = folder / "speed.toml"
    where = json.dumps(str(data.resolve()))
    text = CONFIG.format(data=where, vocab_size=VOCAB_SIZE, batch_tokens=batch_tokens, threads=threads)
    path.write_text(text, "utf-8")
    return path


def marks(metrics: Path, process: subprocess.Popen[bytes]) -> Iterator[Mark]:
    """A mark for each training step that the run writes down, timed when its line appears."""
    while not metrics.exists() and process.poll() is None:
        time.sleep(POLL_SECONDS)
    if process.poll() is not None:
        return
    started, line = time.perf_counter(), ""
    with metrics.open(encoding="utf-8") as lines:
        while process.poll() is None:
            line += lines.readline()
            if not line.endswith("\n"):  # nothing new, or a line half written
                time.sleep(POLL_SECONDS)
                continue
            event, line = json.loads(line), ""
            if event["event"] == "train":
                yield Mark(event["step"], event["tgt_tokens"], time.perf_counter() - started)


def main() -> None:
    options = arguments(__doc__).parse_args()
    config = write_config(options.data, options.scratch, options.batch_tokens, options.threads)
    run = options.scratch / "run"
    command = [sys.executable, "-m", "jumok", "train", str(config), "--run", str(run)]
    meter = Meter(options.warmup, options.seconds)
    # What it prints is no result: to stderr with it. What it prepares stays in the scratch folder.
    jumok = subprocess.Popen(command, cwd=options.scratch, stdout=sys.stderr)
    for mark in marks(run / "metrics.jsonl", jumok):
        if meter.add(mark):
            break
    jumok.terminate()
    jumok.wait()
    try:
        release = version("jumok")
    except PackageNotFoundError:
        release = "source"
    meter.report("jumok", of_child=True, version=release)


if __name__ == "__main__":
    main()
