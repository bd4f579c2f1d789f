"""The prepared corpus: right, made once, whole or absent."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jumok.config import Config
from jumok.data import prepared
from jumok.data.prepared import prepare
from jumok.errors import DataError, ResourceError, TokenizerError

MakeConfig = Callable[..., Config]
FOLDER = Path("prepared/small")


def snapshot(folder: Path) -> dict[str, tuple[int, int]]:
    return {path.name: (path.stat().st_mtime_ns, path.stat().st_ino) for path in folder.iterdir()}


def test_says_what_it_did(corpus: Path, make_config: MakeConfig) -> None:
    with Path("train.ko").open("a") as ko, Path("train.en").open("a") as en:
        ko.write("나는 집에 간다 0\n\n가\n" + "가" * 100_000 + "\n")
        en.write("I go home 0\nempty\nthis is much too long for a single syllable\nlong\n")
    said: list[str] = []
    prepare(make_config(), FOLDER, said.append)
    assert said == [
        "320 bpe pieces learned",
        "train: 64 pairs read, 60 kept; left out: 1 empty, 1 duplicate, 1 too long, 1 length ratio",
        "valid: 6 pairs read, 6 kept",
    ]
    info = json.loads((FOLDER / "prepared.json").read_text())
    dropped = {"empty": 1, "duplicate": 1, "too long": 1, "length ratio": 1}
    assert info["train"] == {"read": 64, "kept": 60, "dropped": dropped}
    assert info["valid"]["kept"] == 6


def test_too_long_validation_pairs_are_left_out_and_said(corpus: Path, make_config: MakeConfig) -> None:
    with Path("valid.tsv").open("a") as file:
        file.write("가" * 100_000 + "\tlong\n")
    said: list[str] = []
    assert len(prepare(make_config(), FOLDER, said.append).split("valid")) == 6
    assert said[-1] == "valid: 7 pairs read, 6 kept; left out: 1 too long"


def test_a_bad_test_file_is_refused_before_the_training(corpus: Path, make_config: MakeConfig) -> None:
    prepare(make_config(), FOLDER)
    Path("test.tsv").write_text("no tab\n")
    with pytest.raises(DataError, match=r"^test.tsv: line 1: expected source, a tab and target"):
        prepare(make_config(data={"test": "test.tsv"}), FOLDER)


def test_second_time_does_nothing_and_says_so(corpus: Path, make_config: MakeConfig) -> None:
    first = prepare(make_config(), FOLDER)
    before = snapshot(FOLDER)
    said: list[str] = []
    second = prepare(make_config(), FOLDER, said.append)
    assert said == ["prepared/small: already prepared from the same files and settings"]
    assert snapshot(FOLDER) == before
    assert second.fingerprint == first.fingerprint


@pytest.mark.parametrize("name", ["train.ko", "train.en", "valid.tsv"])
def test_changed_file_is_prepared_anew(corpus: Path, make_config: MakeConfig, name: str) -> None:
    first = prepare(make_config(), FOLDER).fingerprint
    text = Path(name).read_text()
    Path(name).write_text(text.replace("1", "7"))
    said: list[str] = []
    assert prepare(make_config(), FOLDER, said.append).fingerprint != first
    assert said[0] == "320 bpe pieces learned"


@pytest.mark.parametrize(
    "changes",
    [
        {"data": {"max_length": 100}},
        {"data": {"keep_duplicates": True}},
        {"data": {"max_length_ratio": 3.0}},
        {"tokenizer": {"vocab_size": 310}},
        {"tokenizer": {"kind": "unigram", "vocab_size": 310}},
    ],
)
def test_changed_setting_is_prepared_anew(corpus: Path, make_config: MakeConfig, changes: dict[str, Any]) -> None:
    first = prepare(make_config(), FOLDER).fingerprint
    assert prepare(make_config(**changes), FOLDER).fingerprint != first


@pytest.mark.parametrize(
    "changes",
    [
        {"data": {"test": "valid.tsv"}},
        {"training": {"seed": 5}},
        {"tokenizer": {"sampling": 0.1}},
        {"model": {"dropout": 0.3}},
    ],
)
def test_setting_that_does_not_matter_prepares_nothing(
    corpus: Path, make_config: MakeConfig, changes: dict[str, Any]
) -> None:
    prepare(make_config(), FOLDER)
    before = snapshot(FOLDER)
    prepare(make_config(**changes), FOLDER)
    assert snapshot(FOLDER) == before


@pytest.mark.parametrize("rows_per_chunk", [1, 7, 60, 61])
def test_rows_on_disk_are_the_encoded_text_across_chunk_borders(
    corpus: Path,
    make_config: MakeConfig,
    make_pairs: Callable[..., list[tuple[str, str]]],
    monkeypatch: pytest.MonkeyPatch,
    rows_per_chunk: int,
) -> None:
    monkeypatch.setattr(prepared, "_ROWS_PER_CHUNK", rows_per_chunk)
    made = prepare(make_config(), FOLDER)
    split = made.split("train")
    sources, targets = (list(side) for side in zip(*make_pairs(60), strict=True))
    assert split.texts() == (sources, targets)
    rows = [59, 0, 6, 7, 8, 13, 14, 31]
    src, tgt = split.ids(rows)
    assert [ids.tolist() for ids in src] == made.src_tokenizer.encode([sources[r] for r in rows])
    assert [ids.tolist() for ids in tgt] == made.tgt_tokenizer.encode([targets[r] for r in rows])
    assert split.src_lengths.tolist() == [len(ids) for ids in made.src_tokenizer.encode(sources)]
    assert split.tgt_lengths.tolist() == [len(ids) for ids in made.tgt_tokenizer.encode(targets)]
    assert split.texts(rows) == ([sources[r] for r in rows], [targets[r] for r in rows])


def test_joint_vocabulary_is_one_file_and_separate_ones_are_two(corpus: Path, make_config: MakeConfig) -> None:
    joint = prepare(make_config(), FOLDER)
    assert joint.src_tokenizer.encode(["나는 go"]) == joint.tgt_tokenizer.encode(["나는 go"])
    assert sorted(path.name for path in FOLDER.iterdir()) == [
        "prepared.json",
        "tokenizer.model",
        "train.arrow",
        "valid.arrow",
    ]
    separate = prepare(
        make_config(tokenizer={"joint": False, "vocab_size": 300}, model={"tie_embeddings": "two-way"}), FOLDER
    )
    assert sorted(path.name for path in FOLDER.glob("*.model")) == ["source.model", "target.model"]
    assert "▁나는" in separate.src_tokenizer.pieces("나는")
    assert "▁나는" not in separate.tgt_tokenizer.pieces("나는")


def test_crash_in_the_middle_leaves_nothing(
    corpus: Path, make_config: MakeConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*args: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(prepared, "_write_split", crash)
    with pytest.raises(KeyboardInterrupt):
        prepare(make_config(), FOLDER)
    assert list(Path("prepared").iterdir()) == []


def test_crash_while_preparing_anew_keeps_the_old_one(
    corpus: Path, make_config: MakeConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(make_config(), FOLDER)
    before = snapshot(FOLDER)

    def fill(*args: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(prepared, "_write_split", fill)
    with pytest.raises(ResourceError, match="^prepared/small: could not be written: No space left on device$"):
        prepare(make_config(tokenizer={"vocab_size": 310}), FOLDER)
    assert snapshot(FOLDER) == before
    assert [path.name for path in Path("prepared").iterdir()] == ["small"]


@pytest.mark.parametrize("damage", ["unequal", "not UTF-8", "columns", "empty", "missing"])
def test_bad_file_is_refused_before_anything_is_written(corpus: Path, make_config: MakeConfig, damage: str) -> None:
    if damage == "unequal":
        with Path("train.ko").open("a") as file:
            file.write("한 줄 더\n")
    elif damage == "not UTF-8":
        Path("train.en").write_bytes(Path("train.en").read_bytes()[:-1] + b"\xff\n")
    elif damage == "columns":
        Path("valid.tsv").write_text("one column\n")
    elif damage == "empty":
        Path("valid.tsv").write_text("")
    else:
        Path("valid.tsv").unlink()
    before = sorted(path.name for path in corpus.iterdir())
    with pytest.raises(DataError):
        prepare(make_config(), FOLDER)
    assert sorted(path.name for path in corpus.iterdir()) == before


def test_nothing_left_after_cleaning_is_refused_with_the_counts(corpus: Path, make_config: MakeConfig) -> None:
    expected = "data.train: no pair is left after cleaning: 60 pairs read, 0 kept; left out: 60 too long"
    with pytest.raises(DataError, match=f"^{re.escape(expected)}$"):
        prepare(make_config(data={"max_length": 1}), FOLDER)
    assert not FOLDER.exists()


def test_only_empty_pairs_are_refused(corpus: Path, make_config: MakeConfig) -> None:
    Path("train.ko").write_text("\n" * 60)
    with pytest.raises(DataError, match="^data.train holds no pair with text on both sides$"):
        prepare(make_config(), FOLDER)


def test_too_large_vocabulary_is_refused_and_the_named_one_works(corpus: Path, make_config: MakeConfig) -> None:
    with pytest.raises(TokenizerError, match=r"the largest that works is \d+$") as caught:
        prepare(make_config(tokenizer={"vocab_size": 32_000}), FOLDER)
    largest = int(str(caught.value).split()[-1])
    assert prepare(make_config(tokenizer={"vocab_size": largest}), FOLDER).src_tokenizer.vocab_size == largest


@pytest.mark.parametrize("richer", ["train.ko", "train.en"])
def test_largest_of_two_separate_vocabularies_works_for_both(
    corpus: Path, make_config: MakeConfig, richer: str
) -> None:
    lines = Path(richer).read_text().splitlines()
    Path(richer).write_text(
        "".join(f"{line} {chr(97 + i % 26)}{chr(98 + i % 24)}xyz{i * 7}\n" for i, line in enumerate(lines))
    )
    separate = {"joint": False, "vocab_size": 32_000}
    with pytest.raises(TokenizerError, match=r"the largest that works is \d+$") as caught:
        prepare(make_config(tokenizer=separate, model={"tie_embeddings": "two-way"}), FOLDER)
    separate["vocab_size"] = int(str(caught.value).split()[-1])
    prepare(make_config(tokenizer=separate, model={"tie_embeddings": "two-way"}), FOLDER)
