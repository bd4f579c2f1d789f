"""The refinement by reward, through the real command line: greedy GLEU on the validation set rises."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jumok.evaluation.gleu import sentence_gleu
from jumok.translator import Translator

REFINED = """
name = "refined"
[data]
source = "en"
target = "en"
train = "train.tsv"
valid = "valid.tsv"
test = "test.tsv"
[training]
objective = "reinforced"
num_samples = 8
likelihood_weight = 0.0  # what is learned is learned from the reward alone
label_smoothing = 0.0
max_steps = {max_steps}
batch_tokens = 256
learning_rate = 5e-4
warmup_steps = 5
schedule = "constant"
validate_every = {max_steps}
validate_bleu = 0
threads = 1
"""


def greedy_gleu(run: Path, pairs: list[list[str]]) -> float:
    found = Translator.load(run, engine="torch").translate([src for src, _ in pairs], beam=1)
    return sum(sentence_gleu(text.split(), tgt.split()) for text, (_, tgt) in zip(found, pairs, strict=True)) / len(
        pairs
    )


@pytest.mark.slow
def test_gleu_rises(jumok: Callable[..., Any], reverse: Callable[..., Path], tmp_path: Path) -> None:
    first = jumok("train", reverse(max_steps=130, validate_every=130))
    assert first.returncode == 0, first.stderr
    (tmp_path / "refined.toml").write_text(REFINED.format(max_steps=60))
    ended = jumok("train", "refined.toml", "--from", "runs/reverse")
    assert ended.returncode == 0, ended.stderr
    pairs = [line.split("\t") for line in (tmp_path / "valid.tsv").read_text().splitlines()]
    before, after = (greedy_gleu(tmp_path / "runs" / name, pairs) for name in ("reverse", "refined"))
    # The other sign brings it to 0.00, no reward leaves it as it is, to the last digit.
    assert after > before + 0.03, (before, after)
