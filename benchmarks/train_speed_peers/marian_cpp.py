"""Marian, the C++ trainer, through `pymarian train` on a Transformer of the benchmark's size.

Post-norm, Marian's default. Each thread computes a batch of its own and updates the shared parameters when
it is done (asynchronous SGD, Marian's default for several threads); each uses one core, so the libraries
under it get one thread. `--mini-batch-words` counts source words, which is how Marian batches; all
sentences are sorted by length before batches are cut. Marian logs its own clock and the target words it has
trained on: they include the end of the sentence and leave padding out, as everywhere in this benchmark.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from meter import Mark, Meter, arguments
from pieces import read_vocab

# … Up. 30 : Sen. 8,040 : Cost 9.1 * 122,880 @ 4,101 after 122,880 : Time 8.52s : …
PROGRESS = re.compile(r"Up\. (?P<step>\d+) .* after (?P<tokens>[\d,]+) : Time (?P<seconds>[\d.]+)s")
SIZE = "--enc-depth 3 --dec-depth 3 --dim-emb 256 --transformer-dim-ffn 1024 --transformer-heads 8"
MODEL = "--type transformer --transformer-ffn-activation relu --transformer-dropout 0.2 --tied-embeddings-all"
TRAINING = "--label-smoothing 0.1 --learn-rate 0.0003 --lr-warmup 4000 --clip-norm 1 --seed 1"
DATA = "--max-length 1000 --maxi-batch 1000 --maxi-batch-sort trg --shuffle-in-ram --data-threads 1"
REPORT = "--disp-freq 1u --save-freq 1000000u --sigterm exit-immediately"


def write_vocab(pieces: list[str], path: Path) -> None:
    """Marian wants the end of the sentence and the unknown word first."""
    ordered = ["</s>", "<unk>", *(piece for piece in pieces if piece not in ("</s>", "<unk>"))]
    path.write_text("".join(f"{json.dumps(piece)}: {i}\n" for i, piece in enumerate(ordered)), "utf-8")


def marks(log: Iterator[str]) -> Iterator[Mark]:
    """Marian's progress lines as marks; the seconds it prints count from the line before."""
    seconds = 0.0
    for line in log:
        if found := PROGRESS.search(line):
            seconds += float(found["seconds"])
            yield Mark(int(found["step"]), int(found["tokens"].replace(",", "")), seconds)
        else:
            sys.stderr.write(line)


def main() -> None:
    options = arguments(__doc__).parse_args()
    vocab = options.scratch / "vocab.yml"
    write_vocab(read_vocab(options.pieces), vocab)
    command = [str(Path(sys.executable).with_name("pymarian")), "train"]
    command += f"{MODEL} {SIZE} {TRAINING} {DATA} {REPORT}".split()
    command += ["--train-sets", *(str(options.pieces / f"train.{side}") for side in ("src", "tgt"))]
    command += ["--vocabs", str(vocab), str(vocab), "--model", str(options.scratch / "model.npz")]
    command += ["--cpu-threads", str(options.threads), "--mini-batch-words", str(options.batch_tokens)]
    one_each = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    meter = Meter(options.warmup, options.seconds)
    marian = subprocess.Popen(command, env=os.environ | one_each, stderr=subprocess.PIPE, text=True)
    assert marian.stderr is not None
    for mark in marks(iter(marian.stderr)):
        if meter.add(mark):
            break
    marian.kill()
    marian.wait()
    meter.report("marian", of_child=True, version=version("pymarian"))


if __name__ == "__main__":
    main()
