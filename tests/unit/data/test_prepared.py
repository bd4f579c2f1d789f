"""The prepared corpus: right, made once, whole or absent."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jumok.config import Config, dump_toml
from jumok.data import preparation
from jumok.data.prepared import prepare
from jumok.errors import DataError, ResourceError, TokenizerError

MakeConfig = Callable[..., Config]
FOLDER = Path("prepared/small")


def snapshot(folder: Path) -> dict[str, tuple[int, int]]:
    return {path.name: (path.stat().st_mtime_ns, path.stat().st_ino) for path in folder.iterdir()}


def add_bad_pairs() -> None:
    """One for each reason to leave a pair out."""
    with Path("train.ko").open("a") as ko, Path("train.en").open("a") as en:
        ko.write("나는 집에 간다 0\n\n가\n" + "가" * 100_000 + "\n")
        en.write("I go home 0\nempty\nthis is much too long for a single syllable\nlong\n")


def test_says_what_it_did(corpus: Path, make_config: MakeConfig) -> None:
    add_bad_pairs()
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


@pytest.mark.parametrize("shard_rows", [1, 7, 60, 61])
def test_rows_on_disk_are_the_encoded_text_across_shard_borders(
    corpus: Path,
    make_config: MakeConfig,
    make_pairs: Callable[..., list[tuple[str, str]]],
    shard_rows: int,
) -> None:
    made = prepare(make_config(), FOLDER, shard_rows=shard_rows)
    split = made.split("train")
    sources, targets = (list(side) for side in zip(*make_pairs(60), strict=True))
    assert split.texts() == (sources, targets)
    rows = [59, 0, 6, 7, 8, 13, 14, 31]
    src, tgt = split.ids(rows)
    assert [ids.tolist() for ids in src] == made.src_tokenizer.encode([sources[r] for r in rows])
    assert [ids.tolist() for ids in tgt] == made.tgt_tokenizer.encode([targets[r] for r in rows])
    assert split.src_lengths.tolist() == [len(ids) for ids in made.src_tokenizer.encode(sources)]
    assert split.tgt_lengths.tolist() == [len(ids) for ids in made.tgt_tokenizer.encode(targets)]
    src_lengths, tgt_lengths = split.lengths(rows)
    assert src_lengths.tolist() == [len(ids) for ids in src]
    assert tgt_lengths.tolist() == [len(ids) for ids in tgt]
    split.release_memory()
    assert split.texts(rows) == ([sources[r] for r in rows], [targets[r] for r in rows])
    assert split.ids([]) == ([], [])


@pytest.mark.parametrize(("shard_rows", "num_threads"), [(1, 3), (7, 1), (7, 4), (64, 2)])
def test_same_corpus_whatever_the_shards_and_threads(
    corpus: Path, make_config: MakeConfig, shard_rows: int, num_threads: int
) -> None:
    add_bad_pairs()
    whole = prepare(make_config(), FOLDER)
    made = prepare(make_config(), Path("prepared/other"), shard_rows=shard_rows, num_threads=num_threads)
    assert made.info == whole.info
    assert (made.folder / "tokenizer.model").read_bytes() == (whole.folder / "tokenizer.model").read_bytes()
    for name in ("train", "valid"):
        assert made.split(name).texts() == whole.split(name).texts()
        ids, expected = (c.split(name).ids(range(len(c.split(name)))) for c in (made, whole))
        assert [[row.tolist() for row in side] for side in ids] == [[row.tolist() for row in side] for side in expected]


def test_pieces_of_a_large_corpus_are_learned_from_some_of_it(
    corpus: Path, make_config: MakeConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    learned: list[str] = []
    learn = preparation.train_tokenizer

    def note(texts: Any, *rest: Any) -> None:
        learned.extend(texts)
        learn(learned, *rest)

    monkeypatch.setattr(preparation, "train_tokenizer", note)
    monkeypatch.setattr(preparation, "_MAX_LEARNING_PAIRS", 29)
    said: list[str] = []
    prepare(make_config(tokenizer={"vocab_size": 305}), FOLDER, said.append)
    assert learned == [text for i in range(0, 60, 3) for text in (line("train.ko", i), line("train.en", i))]
    assert said[0] == "305 bpe pieces learned from one training pair in 3, spread evenly"


def line(name: str, number: int) -> str:
    return Path(name).read_text().splitlines()[number]


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


# --- interrupted, disturbed ---

KILLED = """
import os, signal, sys
from pathlib import Path
from jumok.config import load_config
from jumok.data import preparation
from jumok.data.prepared import prepare

write_shard = preparation.write_shard
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever started the tests may ignore it

def write_until_killed(path, *rest):
    if path.name == sys.argv[1]:
        os.kill(os.getpid(), int(sys.argv[3]))
    return write_shard(path, *rest)

preparation.write_shard = write_until_killed
prepare(load_config("small.toml"), Path("prepared/small"), shard_rows=7, num_threads=int(sys.argv[2]))
"""


def run_script(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", script, *arguments]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.parametrize(("shard", "num_threads"), [("train-00000.arrow", 1), ("train-00006.arrow", 3)])
def test_killed_and_started_again_makes_the_same_and_nothing_twice(
    corpus: Path, make_config: MakeConfig, monkeypatch: pytest.MonkeyPatch, shard: str, num_threads: int
) -> None:
    add_bad_pairs()
    uninterrupted = prepare(make_config(), Path("prepared/other"), shard_rows=7).folder
    Path("small.toml").write_text(dump_toml(make_config()))
    assert run_script(KILLED, shard, str(num_threads), "9").returncode == -9
    assert not FOLDER.exists()
    [work] = Path("prepared").glob(".small.*[!k]")
    finished = {path.name for path in work.glob("parts/t*.arrow")}
    assert len(finished) >= int(shard[6:11]) - num_threads

    written: list[str] = []
    write_shard = preparation.write_shard

    def note(path: Path, *rest: Any) -> Any:
        written.append(path.name)
        return write_shard(path, *rest)

    monkeypatch.setattr(preparation, "write_shard", note)
    monkeypatch.setattr(preparation, "train_tokenizer", None)  # it was learned before
    said: list[str] = []
    prepare(make_config(), FOLDER, said.append, shard_rows=7)
    assert said[0] == "going on from where preparing stopped the last time"
    assert not finished & set(written)
    assert finished | set(written) == {*(f"train-{i:05}.arrow" for i in range(10)), "valid-00000.arrow"}
    contents, expected = ({p.name: p.read_bytes() for p in folder.iterdir()} for folder in (FOLDER, uninterrupted))
    assert contents == expected
    assert sorted(path.name for path in Path("prepared").iterdir() if path.is_dir()) == ["other", "small"]


def test_ctrl_c_stops_after_the_shards_at_hand(corpus: Path, make_config: MakeConfig) -> None:
    Path("small.toml").write_text(dump_toml(make_config()))
    ended = run_script(KILLED, "train-00002.arrow", "2", "2")
    assert ended.returncode == -2
    assert ended.stderr.splitlines()[-1] == "KeyboardInterrupt"
    left = sorted(path.name for path in Path("prepared").glob(".small.*/parts/*"))
    assert left[0] == "later.npy" and left[1:3] == ["train-00000.arrow", "train-00001.arrow"]
    assert len(left) < 1 + 9  # the last shard was not reached
    assert len(prepare(make_config(), FOLDER, shard_rows=7).split("train")) == 60


def test_killed_before_the_last_rename_is_only_renamed(
    corpus: Path, make_config: MakeConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(self: Path, target: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", crash)
        with pytest.raises(KeyboardInterrupt):
            prepare(make_config(), FOLDER)
    monkeypatch.setattr(preparation, "write_shard", None)
    assert len(prepare(make_config(), FOLDER).split("train")) == 60


def test_interruption_while_preparing_anew_keeps_the_old_one(
    corpus: Path, make_config: MakeConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(make_config(), FOLDER)
    before = snapshot(FOLDER)

    def crash(*args: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(preparation, "write_shard", crash)
        with pytest.raises(KeyboardInterrupt):
            prepare(make_config(tokenizer={"vocab_size": 310}), FOLDER)
    assert snapshot(FOLDER) == before
    prepare(make_config(tokenizer={"vocab_size": 305}), FOLDER)  # what is left of the 310 goes with it
    assert sorted(path.name for path in Path("prepared").iterdir()) == [".small.lock", "small"]


FULL_DISK = """
import resource
from pathlib import Path
from jumok.config import load_config
from jumok.data import preparation
from jumok.data.prepared import prepare
from jumok.errors import ResourceError

write_shard = preparation.write_shard

def write_on_small_disk(path, *rest):
    if path.name == "train-00003.arrow":
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, -1))
    return write_shard(path, *rest)

preparation.write_shard = write_on_small_disk
try:
    prepare(load_config("small.toml"), Path("prepared/small"), shard_rows=7, num_threads=1)
except ResourceError as error:
    print(error)
"""


def test_full_disk_is_said_in_one_line_and_what_is_finished_stays(corpus: Path, make_config: MakeConfig) -> None:
    Path("small.toml").write_text(dump_toml(make_config()))
    ended = run_script(FULL_DISK)
    assert ended.stdout == (
        "prepared/small: the disk is full; free some space and give the same command again, it goes on from what is "
        "finished\n"
    )
    assert ended.stderr == ""
    assert len(list(Path("prepared").glob(".small.*/parts/train-*.arrow"))) == 3
    assert len(prepare(make_config(), FOLDER, shard_rows=7).split("train")) == 60


def test_folder_that_cannot_be_written_is_named(
    corpus: Path, make_config: MakeConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(preparation, "write_shard", refuse)
    with pytest.raises(ResourceError, match="^prepared/small: could not be written: Permission denied$"):
        prepare(make_config(), FOLDER)


AT_ONCE = """
from pathlib import Path
from jumok.config import load_config
from jumok.data.prepared import prepare
print(len(prepare(load_config("small.toml"), Path("prepared/small"), shard_rows=1).split("train")))
"""


def test_two_at_the_same_moment_make_it_once(corpus: Path, make_config: MakeConfig) -> None:
    Path("small.toml").write_text(dump_toml(make_config()))
    both = [subprocess.Popen([sys.executable, "-c", AT_ONCE], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert [process.communicate()[0] for process in both] == ["60\n", "60\n"]
    assert sorted(path.name for path in Path("prepared").iterdir()) == [".small.lock", "small"]


# --- refused ---


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
