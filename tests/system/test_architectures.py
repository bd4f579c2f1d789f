"""Every architecture learns, through the real command line: thresholds that an untrained model cannot reach."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from jumok.data import phrasebook
from jumok.data.batching import collate
from jumok.storage.run_directory import RunDirectory
from jumok.training.objective import TranslationObjective

pytestmark = pytest.mark.slow

# Settings beside those of the reversing task, the BLEU that must be passed, and what was measured once. Untrained
# models stay below 5. Some searches are greedy: with ten letters, four early ends can crowd out the right one.
TWO_LAYERS = "model.encoder_layers=2 model.decoder_layers=2"
REVERSING: dict[str, tuple[str, float]] = {
    "lstm": ("model.architecture=seq2seq model.d_model=128", 75),  # 96.3
    "gru": ("model.architecture=seq2seq model.cell=gru model.d_model=128", 50),  # 78.9
    "bahdanau": ("model.architecture=bahdanau", 80),  # 99.8
    "luong": ("model.architecture=luong", 80),  # 99.4
    "deep_att": (
        f"model.architecture=deep_att model.d_model=48 {TWO_LAYERS} training.batch_tokens=512 decoding.beam=1",
        80,  # 100
    ),
    "gnmt": (
        f"model.architecture=gnmt model.d_model=128 {TWO_LAYERS} training.learning_rate=3e-3 training.max_steps=600 "
        "decoding.beam=1",
        80,  # 100
    ),
    "convs2s": (f"model.architecture=convs2s {TWO_LAYERS}", 80),  # 99.0
    "moe": (
        f"model.architecture=moe model.d_expert=64 model.experts=8 {TWO_LAYERS} training.max_steps=200",
        80,
    ),  # 98.7
    "transformer with experts": ("model.experts=4 model.d_ff=128", 70),  # 94.1
}


@pytest.mark.parametrize("name", REVERSING)
def test_reverses_letters(name: str, jumok: Callable[..., Any], reverse: Callable[..., Path]) -> None:
    settings, least = REVERSING[name]
    assert _bleu(jumok, _without_transformer_keys(reverse(400, 400), settings), settings) > least


@pytest.mark.parametrize(
    ("settings", "least"),
    [
        ("model.architecture=seq2seq model.cell=rnn model.d_model=128 training.learning_rate=2e-3", 50),
        ("model.architecture=bytenet model.encoder_layers=4 model.decoder_layers=4 training.learning_rate=3e-3", 80),
    ],
    ids=["rnn", "bytenet"],
)
def test_copies_letters(
    settings: str, least: float, jumok: Callable[..., Any], reverse: Callable[..., Path], tmp_path: Path
) -> None:
    """What a short memory, or a narrow view, can do."""
    config = _without_transformer_keys(reverse(500, 500), settings)
    for name in ("train", "valid", "test"):
        lines = (tmp_path / f"{name}.tsv").read_text().splitlines()
        sources = [" ".join(line.split("\t")[0].split()[:5]) for line in lines]
        (tmp_path / f"{name}.tsv").write_text("".join(f"{source}\t{source}\n" for source in sources))
    assert _bleu(jumok, config, f"{settings} data.keep_duplicates=true") > least


def _bleu(jumok: Callable[..., Any], config: Path, settings: str) -> float:
    ended = jumok("train", config, "--json", *(part for setting in settings.split() for part in ("--set", setting)))
    assert ended.returncode == 0, ended.stderr
    bleu: float = json.loads(ended.stdout)["bleu"]
    return bleu


def _without_transformer_keys(config: Path, settings: str) -> Path:
    if "model.architecture=" in settings:
        config.write_text(config.read_text().replace("d_ff = 128\n", ""))
    return config


PHRASEBOOK = """
name = "phrases"
[compare]
systems = [
    "rnn", "lstm", "gru", "bahdanau", "luong-dot", "deep-att", "gnmt", "bytenet", "convs2s", "moe", "transformer",
    "both",
]
budget = "steps"
amount = 200
[data]
source = "ko"
target = "en"
train = "phrasebook:train"
valid = "valid.tsv"
test = "test.tsv"
[tokenizer]
vocab_size = 2000
[model]
preset = "tiny"
[training]
batch_tokens = 512
learning_rate = 3e-3
warmup_steps = 40
schedule = "cosine"
validate_every = 200
validate_bleu = 0
threads = 1
[decoding]
beam = 1
max_extra_length = 5
[systems.gnmt]
model.encoder_layers = 3
model.decoder_layers = 3
training.learning_rate = 5e-3
[systems.both]
ensemble = ["convs2s", "transformer"]
"""


@pytest.mark.parametrize(
    "names",
    ["rnn,lstm,gru", "bahdanau,luong-dot,deep-att", "gnmt,bytenet,moe", "convs2s,transformer,both"],
)
def test_every_system_learns_the_phrasebook(names: str, jumok: Callable[..., Any], tmp_path: Path) -> None:
    """Untrained, the perplexity is about 2,000, the pieces of the vocabulary, and all sources are alike."""
    (tmp_path / "phrases.toml").write_text(PHRASEBOOK)
    pairs = phrasebook.split("valid")[:200]
    for name, some in (("valid", pairs), ("test", phrasebook.split("test")[:30])):
        (tmp_path / f"{name}.tsv").write_text("".join(f"{korean}\t{english}\n" for korean, english in some))
    ended = jumok("compare", "phrases.toml", "--no-layers", "--json", "--only", names)
    assert ended.returncode == 0, ended.stderr
    systems = {system["name"]: system for system in json.loads(ended.stdout)["systems"]}
    assert ",".join(systems) == names and all(system["status"] == "done" for system in systems.values())
    for name in systems.keys() - {"both"}:
        assert systems[name]["perplexity"] < 30, name
        run = RunDirectory(tmp_path / "runs/phrases" / name)
        right, wrong = _loss(run, pairs), _loss(run, [(pairs[i - 1][0], pairs[i][1]) for i in range(len(pairs))])
        assert wrong - right > 0.2, f"{name} does not read its source: {right:.2f}, another's {wrong:.2f}"


def _loss(run: RunDirectory, pairs: Sequence[tuple[str, str]]) -> float:
    """Of the references, given these sources; nats a piece."""
    sides = zip(run.tokenizers(), zip(*pairs, strict=True), strict=True)
    src, tgt = ([np.array(ids) for ids in tokenizer.encode(list(texts))] for tokenizer, texts in sides)
    with torch.no_grad():
        loss, count = TranslationObjective(run.load_model(), label_smoothing=0.0).eval()(collate(src, tgt))
    return float(loss) / count
