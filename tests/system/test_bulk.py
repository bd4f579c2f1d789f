"""A table through Ray, on this machine: in order, whole, and the same whoever is killed on the way."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

import jumok
from jumok.bulk import translate_parquet
from jumok.config import parse_config
from jumok.data.prepared import prepare
from jumok.errors import DataError, ResourceError, UsageError
from jumok.models import build_model
from jumok.storage.checkpoints import model_tensors
from jumok.storage.run_directory import RunDirectory
from jumok.text.tokenizer import PAD_ID

ray = pytest.importorskip("ray")
pytest.importorskip("ray.data")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc").exists(), reason="finds the workers in /proc"),
    pytest.mark.filterwarnings("ignore:`use_:DeprecationWarning"),  # of Ray's own making, when it reads its settings
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # Ray leaves sockets and pipes to the end of the process
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

NUM_ROWS = 1200
BLOCK_ROWS = 100


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose weights are random, and large enough that other texts get other translations."""
    folder = tmp_path_factory.mktemp("untrained")
    config = parse_config(
        {
            "name": "untrained",
            "data": {"source": "en", "target": "en", "train": "t.tsv", "valid": "t.tsv", "folder": str(folder)},
            "tokenizer": {"vocab_size": 300},
            "model": {"preset": "tiny", "d_model": 64, "d_ff": 64, "encoder_layers": 1, "decoder_layers": 1},
            "decoding": {"max_extra_length": 10},
        }
    )
    (folder / "t.tsv").write_text("".join(f"the {i} th row of it\tit is row {i}\n" for i in range(200)))
    corpus = prepare(config, folder / "prepared")
    directory = RunDirectory(folder / "run")
    directory.create(config, corpus.folder)
    torch.manual_seed(1)
    size = corpus.src_tokenizer.vocab_size
    model = build_model(config.model, size, size, PAD_ID)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.3)
    directory.save_model(model_tensors(model))
    return directory.path


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Numbered rows, some of them null or empty, in row groups that do not end where blocks do."""
    path = tmp_path_factory.mktemp("table") / "in.parquet"
    texts = [None if i % 50 == 7 else "" if i % 50 == 9 else f"the {i} th row" for i in range(NUM_ROWS)]
    pq.write_table(pa.table({"id": range(NUM_ROWS), "text": texts}), path, row_group_size=170)
    return path


@pytest.fixture(scope="module")
def expected(run: Path, table: Path) -> list[str]:
    """What a translator of one process says."""
    texts = [text or "" for text in pq.read_table(table)["text"].to_pylist()]
    translations = jumok.load(run, threads=1).translate(texts)
    assert len(set(translations)) > 20
    return translations


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where one test begins and the next goes on."""
    return tmp_path_factory.mktemp("translated") / "out"


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    """A Ray that is not ours to stop."""
    ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    yield
    ray.shutdown()


def check(folder: Path, table: Path, expected: list[str]) -> None:
    found, given = pq.read_table(folder), pq.read_table(table)
    assert found.column_names == ["id", "text", "translation"]
    assert found["id"].to_pylist() == given["id"].to_pylist()
    assert found["text"].to_pylist() == given["text"].to_pylist()
    assert found["translation"].to_pylist() == expected
    assert len(list(folder.iterdir())) == NUM_ROWS // BLOCK_ROWS + 1  # and nothing half-written


def workers_of(ancestor: int) -> list[int]:
    """Processes of Ray that translate, below this one."""
    parents, found = {}, []
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            name, parent = (status.parent / "cmdline").read_text(), re.search(r"PPid:\t(\d+)", status.read_text())
        except OSError:  # it has ended
            continue
        parents[int(status.parent.name)] = int(parent[1]) if parent else 0
        if name.startswith("ray::") and "Worker" in name:
            found.append(int(status.parent.name))

    def is_below(process: int) -> bool:
        return process == ancestor or (process in parents and is_below(parents[process]))

    return [process for process in found if is_below(process)]


def wait_for(condition: Callable[[], Any], what: str) -> Any:
    for _ in range(6000):
        if found := condition():
            return found
        time.sleep(0.02)
    raise AssertionError(f"no {what} within two minutes")


@pytest.mark.usefixtures("cluster")
def test_a_killed_workers_block_is_done_again(run: Path, table: Path, expected: list[str], out: Path) -> None:
    num_done: list[int] = []

    def kill() -> None:
        wait_for(lambda: any(out.glob("part-*")), "first block")
        [worker] = workers_of(os.getpid())
        os.kill(worker, signal.SIGKILL)
        num_done.append(len(list(out.glob("part-*"))))

    killer = threading.Thread(target=kill)
    killer.start()
    said: list[str] = []
    result = translate_parquet(run, table, out, block_rows=BLOCK_ROWS, threads=2, say=said.append)
    killer.join()
    assert num_done and num_done[0] < 12  # the only worker, in the middle of it
    assert (result.num_rows, result.num_blocks, result.num_blocks_skipped) == (NUM_ROWS, 12, 0)
    check(out, table, expected)
    assert said[:2] == [
        f"{table}: 1,200 rows in 12 blocks, 0 of them translated already",
        "1 worker with 2 threads each",
    ]
    assert ray.is_initialized()  # it was not ours to stop


@pytest.mark.usefixtures("cluster")
def test_a_second_start_does_what_is_missing(run: Path, table: Path, expected: list[str], out: Path) -> None:
    def start() -> int:  # other workers, and the folder in another word
        return translate_parquet(run, table, f"file://{out}", block_rows=BLOCK_ROWS, threads=1).num_blocks_skipped

    assert start() == 12
    parts = sorted(out.glob("part-*"))
    parts[3].unlink()
    parts[5].write_bytes(parts[5].read_bytes()[:-100])
    before = {path: path.stat().st_mtime_ns for path in parts if path.exists()}
    assert start() == 10
    check(out, table, expected)
    assert {path for path in parts if before.get(path) != path.stat().st_mtime_ns} == {parts[3], parts[5]}


@pytest.mark.usefixtures("cluster")
def test_what_a_worker_cannot_do_is_said_in_one_line(run: Path, tmp_path: Path) -> None:
    path = tmp_path / "in.parquet"
    texts = pa.StringArray.from_buffers(3, *pa.array([b"one", b"tw\xff", b"three"]).buffers()[1:])
    pq.write_table(pa.table({"text": texts}), path)
    with pytest.raises(
        DataError, match=rf"^{re.escape(str(path))}: rows 0 to 3: column text holds text that is not UTF-8$"
    ):
        translate_parquet(run, path, tmp_path / "out", threads=1)
    with pytest.raises(UsageError, match=r"^threads = 99: the largest machine has 2 CPUs for Ray$"):
        translate_parquet(run, path, tmp_path / "out", threads=99)


def test_the_command_goes_on_after_it_was_killed(
    run: Path, table: Path, expected: list[str], tmp_path: Path, program: list[str], jumok: Any
) -> None:
    command = ["translate", run, table, "out/", "--ray", "--block-rows", BLOCK_ROWS]
    first = subprocess.Popen([*program, *map(str, command)], cwd=tmp_path, stderr=subprocess.PIPE)
    wait_for(lambda: any(tmp_path.glob("out/part-*")) or first.poll() is not None, "first block")
    first.kill()
    assert first.communicate()[1].decode().count("\n") <= 2
    num_done = len(list(tmp_path.glob("out/part-*")))
    assert 0 < num_done < 12
    second = jumok(*command)
    assert second.returncode == 0, second.stderr
    found = re.search(r"12 blocks, (\d+) of them translated already\n", second.stderr)
    assert found and num_done <= int(found[1]) < 12  # a worker may have ended its block after the command's death
    assert "Ray" not in second.stderr and "ray" not in second.stderr
    check(tmp_path / "out", table, expected)


@pytest.mark.parametrize("address", ["127.0.0.1:9", "ray://127.0.0.1:9"])
def test_a_cluster_that_is_not_there_is_named(
    run: Path, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setattr(ray, "is_initialized", lambda: False)  # the other tests' one
    with pytest.raises(ResourceError, match=rf"^Ray at {address} could not be reached: .*Connection refused"):
        translate_parquet(run, table, tmp_path / "out", address=address)
