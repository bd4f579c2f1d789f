"""A table cut into blocks, blocks read and written whole, and what is refused before Ray is started."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from jumok.bulk import translate_parquet
from jumok.bulk.corpus import Block, Corpus, read_block
from jumok.bulk.output import MANIFEST, MOST_TRIES, Output
from jumok.bulk.places import locate
from jumok.bulk.worker import Job, Worker
from jumok.config import parse_config
from jumok.data.prepared import prepare
from jumok.errors import DataError, ResourceError, RunError, UsageError
from jumok.models import build_model
from jumok.storage.checkpoints import model_tensors
from jumok.storage.run_directory import RunDirectory
from jumok.text.tokenizer import PAD_ID

# Of Ray's own making, when its settings are first looked at.
pytestmark = pytest.mark.filterwarnings("ignore:`use_:DeprecationWarning")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run directory with random weights."""
    folder = tmp_path_factory.mktemp("untrained")
    config = parse_config(
        {
            "name": "untrained",
            "data": {"source": "en", "target": "en", "train": "t.tsv", "valid": "t.tsv", "folder": str(folder)},
            "tokenizer": {"vocab_size": 280},
            "model": {"preset": "tiny", "d_model": 16, "d_ff": 16, "encoder_layers": 1, "decoder_layers": 1},
        }
    )
    (folder / "t.tsv").write_text("".join(f"row {i}\twor {i}\n" for i in range(30)))
    corpus = prepare(config, folder / "prepared")
    directory = RunDirectory(folder / "run")
    directory.create(config, corpus.folder)
    torch.manual_seed(1)
    size = corpus.src_tokenizer.vocab_size
    directory.save_model(model_tensors(build_model(config.model, size, size, PAD_ID)))
    return directory.path


def write(path: Path, first: int, num_rows: int, **columns: Any) -> Path:
    """Rows numbered from `first`, in row groups of 7."""
    rows = range(first, first + num_rows)
    table = pa.table({"id": pa.array(rows, pa.int64()), "text": pa.array([f"row {i}" for i in rows], pa.string())})
    pq.write_table(table.append_column("more", [columns["more"]]) if columns else table, path, row_group_size=7)
    return path


# --- the table --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("block_rows", [1, 5, 7, 10, 20, 100])
def test_blocks_are_all_rows_in_order(tmp_path: Path, block_rows: int) -> None:
    corpus = Corpus.open(write(tmp_path / "in.parquet", 0, 20), "text", "translation")
    blocks = list(corpus.blocks(block_rows))
    tables = [read_block(locate(tmp_path)[0], block) for block in blocks]
    assert [row for table in tables for row in table["id"].to_pylist()] == list(range(20))
    assert [table.num_rows for table in tables] == [block.num_rows for block in blocks]
    assert max(block.num_rows for block in blocks) == min(block_rows, 20)
    assert [block.start for block in blocks] == [block.first for block in blocks]


def test_a_folder_is_its_files_in_the_order_of_their_names(tmp_path: Path) -> None:
    write(tmp_path / "b.parquet", 9, 4)
    write(tmp_path / "a.parquet", 0, 9)
    write(tmp_path / "c.parquet", 13, 0)
    (tmp_path / "_SUCCESS").touch()
    corpus = Corpus.open(tmp_path, "text", "translation")
    blocks = list(corpus.blocks(5))
    assert [(Path(block.file).name, block.first, block.num_rows, block.start) for block in blocks] == [
        ("a.parquet", 0, 5, 0),
        ("a.parquet", 5, 4, 5),
        ("b.parquet", 0, 4, 9),
        ("c.parquet", 0, 0, 13),
    ]
    assert [block.name for block in blocks] == [f"part-00000{k}.parquet" for k in range(4)]
    assert read_block(locate(tmp_path)[0], blocks[3]).schema == corpus.schema
    assert corpus.num_rows == 13


def test_paths_may_hold_any_character_and_uris_are_places_too(tmp_path: Path) -> None:
    folder = tmp_path / "말뭉치 100%#1"
    folder.mkdir()
    path = write(folder / "in.parquet", 0, 3)
    assert Corpus.open(path, "text", "t").num_rows == 3
    plain = write(tmp_path / "in.parquet", 0, 4)
    assert Corpus.open(f"file://{plain}", "text", "t").num_rows == 4
    with pytest.raises(UsageError, match="^nowhere://x: cannot be opened: Unrecognized filesystem type in URI"):
        locate("nowhere://x")


def test_damaged_rows_are_named(tmp_path: Path) -> None:
    path = write(tmp_path / "in.parquet", 0, 20)
    [block] = Corpus.open(path, "text", "translation").blocks(100)
    data = bytearray(path.read_bytes())
    data[4:200] = b"\xff" * 196
    path.write_bytes(data)
    with pytest.raises(DataError, match=r"in\.parquet: rows 0 to 20 cannot be read here: .*the same on every machine"):
        read_block(locate(path)[0], block)


# --- the folder of blocks ---------------------------------------------------------------------------------------


def test_only_whole_blocks_count_as_done(tmp_path: Path) -> None:
    output = Output(tmp_path / "out")
    output.begin({"input": 1})
    blocks = [Block(k, "in.parquet", 10 * k, 10, 10 * k) for k in range(4)]
    table = pa.table({"id": list(range(10))})
    for block in blocks[:3]:
        output.write(block, table if block.number else table.slice(3))
    damaged = tmp_path / "out" / blocks[1].name
    damaged.write_bytes(damaged.read_bytes()[:-9])
    assert [block.number for block in output.missing(blocks)] == [0, 1, 3]


def test_what_a_killed_worker_left_goes_and_readers_do_not_see_it(tmp_path: Path) -> None:
    output = Output(tmp_path)
    output.begin({"input": 1})
    block = Block(0, "in.parquet", 0, 3, 0)
    output.write(block, pa.table({"id": [0, 1, 2]}))
    (tmp_path / f".{block.name}.0123").write_bytes(b"half")
    assert pq.read_table(tmp_path).num_rows == 3
    output.begin({"input": 1})
    assert sorted(path.name for path in tmp_path.iterdir()) == [MANIFEST, block.name]


def test_a_block_that_workers_die_of_is_given_up(tmp_path: Path) -> None:
    output = Output(tmp_path)
    output.begin({"input": 1})
    block = Block(0, "in.parquet", 0, 3, 0)
    for _ in range(MOST_TRIES):
        output.note_try(block)
    with pytest.raises(ResourceError, match=r"^in\.parquet: rows 0 to 3: 5 workers died in a row on them; is it mem"):
        output.note_try(block)
    output.begin({"input": 1})  # another start tries again
    output.note_try(block)
    output.write(block, pa.table({"id": [0, 1, 2]}))
    assert sorted(path.name for path in tmp_path.iterdir()) == [MANIFEST, block.name]


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ResourceError, match=r"file/out: could not be written: .*; what is finished stays"):
        Output(tmp_path / "file" / "out").begin({})


def test_a_worker_that_sees_another_folder_says_so_before_it_translates(tmp_path: Path) -> None:
    path, out = write(tmp_path / "in.parquet", 0, 3), tmp_path / "out"
    [block] = Corpus.open(path, "text", "translation").blocks(10)
    out.mkdir()  # of the same name, on a machine that does not share it
    job = Job(str(path), str(out), "text", "translation", {"input": 1}, "auto", "auto", {})
    answer = Worker(job, None, 1)(asdict(block))
    assert (answer["error"], answer["num_rows"]) == ("UsageError", 3)
    assert re.match(rf"{re.escape(str(out))}: on .* this is another folder; put it where all", answer["reason"])
    assert not any(out.iterdir())


# --- what is refused, before Ray is started and before anything is written -----------------------------------------


@pytest.fixture
def no_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*arguments: object) -> None:
        raise AssertionError("Ray was started")

    monkeypatch.setattr("jumok.bulk.table.ray_session", never)


def refused(run: Path, source: Path, folder: Path, error: type[Exception], message: str, **options: Any) -> None:
    pytest.importorskip("ray")
    with pytest.raises(error, match=f"^{re.escape(message)}"):
        translate_parquet(run, source, folder, **options)


def test_ray_is_an_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UsageError, match=r"^translating with --ray needs Ray: pip install 'jumok\[ray\]'$"):
        translate_parquet(tmp_path, tmp_path, tmp_path)


@pytest.mark.usefixtures("no_ray")
def test_a_table_that_cannot_be_translated_is_refused(run: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    missing, text, empty = tmp_path / "none.parquet", tmp_path / "text.parquet", tmp_path / "empty"
    text.write_text("just text\n" * 20)
    empty.mkdir()
    table = write(tmp_path / "in.parquet", 0, 5)
    refused(run, missing, out, DataError, f"{missing}: no such file or directory; expected a Parquet file")
    refused(run, text, out, DataError, f"{text}: is not a Parquet file that can be read: ")
    refused(run, empty, out, DataError, f"{empty}: holds no .parquet file")
    refused(run, table, out, DataError, f"{table}: has no column src; there are: id, text", column="src")
    refused(run, table, out, DataError, f"{table}: column id holds int64 and not text; columns of te", column="id")
    refused(run, table, out, DataError, f"{table}: has a column id already; name another", output_column="id")
    mixed = tmp_path / "mixed"
    mixed.mkdir()
    first, second = write(mixed / "a.parquet", 0, 2), write(mixed / "b.parquet", 0, 1, more=["x"])
    refused(run, mixed, out, DataError, f"{second}: its columns are not those of {first}; translate them apart")
    assert not out.exists()


@pytest.mark.usefixtures("no_ray")
def test_wrong_options_are_refused(run: Path, tmp_path: Path) -> None:
    table, out = write(tmp_path / "in.parquet", 0, 5), tmp_path / "out"
    refused(tmp_path / "no", table, out, RunError, f"{tmp_path / 'no'}: no such run directory")
    refused(run, table, out, UsageError, "block_rows = 0 must be at least 1", block_rows=0)
    refused(run, table, out, UsageError, "threads = -1 must be at least 1", threads=-1)
    refused(run, table, out, UsageError, "n_best: a row of the table has one translation", n_best=3)
    refused(run, table, out, UsageError, "beam = 0 must be at least 1", beam=0)
    refused(run, table, out, UsageError, "translate knows no option bean; known: ", bean=4)
    refused(run, table, out, UsageError, "engine onyx: expected auto", engine="onyx")
    refused(run, table, out, DataError, f"{tmp_path / 'no'}: cannot be read", glossary=tmp_path / "no")
    assert not out.exists()


@pytest.mark.usefixtures("no_ray")
def test_a_folder_that_is_not_for_this_table_is_refused(run: Path, tmp_path: Path) -> None:
    table, out = write(tmp_path / "in.parquet", 0, 5), tmp_path / "out"
    refused(run, table, table, UsageError, f"{table}: is a file; expected a folder for the translated blocks")
    out.mkdir()
    (out / "letter.txt").touch()
    refused(run, table, out, UsageError, f"{out}: is not empty and holds no {MANIFEST} of an earlier start")
    (out / "letter.txt").unlink()
    refused(run, table, out, AssertionError, "Ray was started")  # begun, and goes on with the same:
    refused(run, table, out, AssertionError, "Ray was started", beam=None, n_best=1, prefix="")

    begun = f"{out}: was begun with another "
    end = "; give the same again, or choose another folder"
    refused(run, table, out, UsageError, f"{begun}block_rows (10000 then, 3 now){end}", block_rows=3)
    refused(
        run, table, out, UsageError, f"{begun}options (none then, {{'length_penalty': '0.0'}} now)", length_penalty=0.0
    )
    refused(run, table, out, UsageError, f"{begun}engine (auto then, torch now){end}", engine="torch")
    write(table, 1, 5)
    refused(run, table, out, UsageError, f"{begun}input{end}")
    write(table, 0, 5)
    refused(run, table, out, AssertionError, "Ray was started")
    manifest = json.loads((out / MANIFEST).read_text())
    manifest["run"]["model.safetensors"] = "0" * 64
    (out / MANIFEST).write_text(json.dumps(manifest))
    refused(run, table, out, UsageError, f"{begun}run{end}")
    (out / MANIFEST).write_text("{}")
    refused(run, table, out, UsageError, f"{begun}version of jumok{end}")
