"""A vocabulary of words through the real command line: rare words are unknown, and replaced through the attention."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

# Every word is translated by itself: its first letter doubled. Names stay as they are.
COMMON = [f"{a}{b}{c}" for a in "bdgk" for b in "aeiou" for c in "lmnr"]  # 80 words
RARE = [f"{a}{b}{c}{d}" for a in "ptsvz" for b in "aeiou" for c in "lmnr" for d in "aeiou"]  # 500 words
NEW = [name.capitalize() for name in RARE]

CONFIG = """
name = "words"
[data]
source = "de"
target = "en"
train = "train.tsv"
valid = "valid.tsv"
test = "test.tsv"
[tokenizer]
kind = "word"
vocab_size = 260
joint = {joint}
[model]
architecture = "{architecture}"
preset = "tiny"
d_model = 64
encoder_layers = 1
decoder_layers = 1
dropout = 0.0
tie_embeddings = "{tied}"
[training]
max_steps = {max_steps}
batch_tokens = 1024
learning_rate = 5e-3
warmup_steps = 50
schedule = "cosine"
validate_every = {max_steps}
validate_bleu = 20
threads = 1
[decoding]
beam = 2
replace_unknown = true
"""


def translated(word: str) -> str:
    return word if word in NEW else word[0] + word


def write(folder: Path, **numbers: Any) -> Path:
    for name, count, seed in (("train", 3000, 1), ("valid", 100, 2), ("test", 100, 3)):
        rng = random.Random(seed)
        with (folder / f"{name}.tsv").open("w") as file:
            for _ in range(count):
                words = rng.choices(COMMON, k=rng.randint(2, 5))
                words.insert(rng.randint(0, len(words)), rng.choice(RARE if rng.random() < 0.7 else NEW))
                file.write(f"{' '.join(words)}.\t({' '.join(map(translated, words))})\n")
    config = folder / "words.toml"
    config.write_text(CONFIG.format(**numbers))
    return config


@pytest.mark.slow
def test_unknown_words_are_translated_by_the_lexicon_or_copied(
    jumok: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import jumok as package

    config = write(tmp_path, max_steps=400, joint="false", architecture="luong", tied="two-way")
    ended = jumok("train", config, "--json")
    assert ended.returncode == 0, ended.stderr
    with_replacement = json.loads(ended.stdout)["bleu"]
    lines = (tmp_path / "runs/words/lexicon.tsv").read_text().splitlines()
    assert sum(f"{word}\t{translated(word)}" in lines for word in RARE) > 400
    monkeypatch.chdir(tmp_path)
    shutil.copytree("runs/words", "copy")
    shutil.rmtree("runs")
    pairs = [line.split("\t") for line in Path("test.tsv").read_text().splitlines()]
    translator = package.load("copy")
    found = translator.translate([src for src, _ in pairs])
    assert not any("⟨unk⟩" in text for text in found)
    replaced = sum(text == tgt for text, (_, tgt) in zip(found, pairs, strict=True))
    copied_config = Path("copy/config.toml")
    copied_config.write_text(copied_config.read_text().replace("replace_unknown = true", "replace_unknown = false"))
    plain = package.load("copy").translate([src for src, _ in pairs])
    guessed = sum(text == tgt for text, (_, tgt) in zip(plain, pairs, strict=True))
    assert with_replacement > 80 and replaced > guessed + 25, (with_replacement, replaced, guessed)


def test_what_cannot_be_is_said_before_the_training(jumok: Callable[..., Any], tmp_path: Path) -> None:
    config = write(tmp_path, max_steps=2, joint="true", architecture="transformer", tied="three-way")
    refused = jumok("prepare", config, "--set", "data.target=ja")
    assert refused.returncode == 2
    assert refused.stderr.strip().endswith(
        'tokenizer.kind = "word" needs spaces between words, and Japanese has none; use "bpe" or "unigram"'
    )
    refused = jumok("prepare", config, "--set", "tokenizer.vocab_size=9000")
    assert "tokenizer.vocab_size = 9000 is more than the training text allows" in refused.stderr
    prepared = jumok("prepare", config)
    assert prepared.returncode == 0, prepared.stderr
    assert (tmp_path / "prepared/words/lexicon.tsv").exists()
