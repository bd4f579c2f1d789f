"""The prepared corpus: cleaned, cut into pieces, in Arrow files that are memory-mapped.

FOLDER/tokenizer.model            (or source.model and target.model)
FOLDER/train.arrow, valid.arrow …  columns src, tgt (ids) and src_text, tgt_text
FOLDER/prepared.json              what it was made from, and the counts; written last

It is made in a hidden folder beside it, shard by shard; what an interruption leaves there is used the next time.
"""

from __future__ import annotations

import functools
import glob
import hashlib
import json
import mmap
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from jumok.config import Config
from jumok.data.preparation import Preparation, measure
from jumok.data.readers import read_pairs, resolve
from jumok.data.shards import SHARD_ROWS, whole_file
from jumok.errors import ConfigError, UsageError, explained_disk_errors
from jumok.text.tokenizer import Tokenizer

FORMAT_VERSION = 1
SPLITS = ("train", "valid")
TEST_SPLITS = ("test", "composition")  # read as text when they are scored
Rows = Sequence[int] | NDArray[np.int64]
Say = Callable[[str], None]
_View = tuple[NDArray[np.int32], NDArray[np.int32]]  # offsets and values of a chunk


class Split:
    """Sentence pairs of one split; rows are read from disk when they are asked for."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._table = pa.ipc.open_file(pa.py_buffer(self._map)).read_all()  # copies nothing, reads next to nothing
        chunk_rows = [len(chunk) for chunk in self._table.column("src").chunks]
        self._starts = np.cumsum([0, *chunk_rows])  # first row of each chunk, and the end
        self._src, self._tgt = self._views("src"), self._views("tgt")

    def __len__(self) -> int:
        return int(self._starts[-1])

    @functools.cached_property
    def src_lengths(self) -> NDArray[np.int32]:
        """How many ids each source has; an array as long as the corpus, unlike `lengths`."""
        return self._all_lengths(self._src)

    @functools.cached_property
    def tgt_lengths(self) -> NDArray[np.int32]:
        """How many ids each target has; an array as long as the corpus, unlike `lengths`."""
        return self._all_lengths(self._tgt)

    def lengths(self, rows: Rows) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """How many ids source and target of these rows have."""
        src, tgt = np.empty((2, len(rows)), dtype=np.int32)
        chunks, places = self._places(rows)
        for chunk in np.unique(chunks):
            here = np.flatnonzero(chunks == chunk)
            for lengths, (offsets, _) in ((src, self._src[chunk]), (tgt, self._tgt[chunk])):
                lengths[here] = offsets[places[here] + 1] - offsets[places[here]]
        return src, tgt

    def ids(self, rows: Rows) -> tuple[list[NDArray[np.int32]], list[NDArray[np.int32]]]:
        """Source and target ids of these rows."""
        src: list[NDArray[np.int32]] = []
        tgt: list[NDArray[np.int32]] = []
        for chunk, i in zip(*(part.tolist() for part in self._places(rows)), strict=True):
            for ids, (offsets, values) in ((src, self._src[chunk]), (tgt, self._tgt[chunk])):
                ids.append(values[offsets[i] : offsets[i + 1]])
        return src, tgt

    def texts(self, rows: Rows | None = None) -> tuple[list[str], list[str]]:
        """Source and target text of these rows, or of all."""
        src, tgt = self._table.column("src_text"), self._table.column("tgt_text")
        if rows is None:
            return src.to_pylist(), tgt.to_pylist()
        places = list(zip(*(part.tolist() for part in self._places(rows)), strict=True))
        return [src.chunk(c)[i].as_py() for c, i in places], [tgt.chunk(c)[i].as_py() for c, i in places]

    def release_memory(self) -> None:
        """Give back the pages that were read: they count as ours though the system would take them when in need."""
        if hasattr(mmap, "MADV_DONTNEED"):
            self._map.madvise(mmap.MADV_DONTNEED)

    def _places(self, rows: Rows) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The chunk of each row, and where it is in it."""
        rows = np.asarray(rows, dtype=np.int64)
        chunks = np.searchsorted(self._starts, rows, side="right") - 1
        return chunks, rows - self._starts[chunks]

    @staticmethod
    def _all_lengths(views: list[_View]) -> NDArray[np.int32]:
        return np.concatenate([np.zeros(0, dtype=np.int32), *(np.diff(offsets) for offsets, _ in views)])

    def _views(self, column: str) -> list[_View]:
        return [(chunk.offsets.to_numpy(), chunk.values.to_numpy()) for chunk in self._table.column(column).chunks]


class PreparedCorpus:
    """A folder that `prepare` wrote."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.info: dict[str, Any] = json.loads((folder / "prepared.json").read_text(encoding="utf-8"))
        self.src_tokenizer, self.tgt_tokenizer = open_tokenizers(folder)

    @property
    def fingerprint(self) -> str:
        """What the corpus was made from, as one number: another one means other data."""
        return str(self.info["fingerprint"])

    def split(self, name: str) -> Split:
        """The training or the validation pairs."""
        return Split(self.folder / f"{name}.arrow")


def tokenizer_files(folder: Path) -> list[Path]:
    """The tokenizer's files in a folder: one joint model, or source and target."""
    joint = folder / "tokenizer.model"
    return [joint] if joint.exists() else [folder / "source.model", folder / "target.model"]


def open_tokenizers(folder: Path) -> tuple[Tokenizer, Tokenizer]:
    """Source and target tokenizer of a prepared corpus or of a run; the same one twice where it is joint."""
    tokenizers = [Tokenizer(path) for path in tokenizer_files(folder)]
    return tokenizers[0], tokenizers[-1]


def prepare(
    config: Config,
    folder: Path,
    say: Say = lambda line: None,
    *,
    vocabulary: Path | None = None,
    shard_rows: int = SHARD_ROWS,
    num_threads: int = 2,
) -> PreparedCorpus:
    """Make the prepared corpus, or open it where it is there already and made from the same.

    `vocabulary` is a folder, such as a run, whose tokenizer is taken instead of learning a new one. `shard_rows` and
    `num_threads` change how it is made, not what is made.
    """
    known_pieces = [] if vocabulary is None else tokenizer_files(vocabulary)
    if not known_pieces and config.model.tie_embeddings == "three-way" and not config.tokenizer.joint:
        raise ConfigError(
            'model.tie_embeddings = "three-way" needs one vocabulary; set tokenizer.joint = true or '
            'model.tie_embeddings = "two-way"'
        )
    for name in TEST_SPLITS:  # a bad test file is better found now than after the training
        measure(config, name)
    fingerprint = _fingerprint(config, known_pieces)
    if _is_current(folder, fingerprint):
        say(f"{folder}: already prepared from the same files and settings")
        return PreparedCorpus(folder)
    sizes = {name: measure(config, name) for name in SPLITS}  # a bad file is refused before anything is written
    with explained_disk_errors(folder, "what is finished"), _held(folder, say):
        if not _is_current(folder, fingerprint):  # another process may have made it while we waited
            work = folder.with_name(f".{folder.name}.{fingerprint[:16]}")
            if not _is_current(work, fingerprint):
                _fill(work, Preparation(config, work, known_pieces, sizes, say, shard_rows, num_threads), fingerprint)
            _put_into_place(work, folder)
    return PreparedCorpus(folder)


def _fill(work: Path, preparation: Preparation, fingerprint: str) -> None:
    try:
        counts = preparation.run()
    except UsageError:  # what is there is of no use: the next time will be with other data or settings
        shutil.rmtree(work)
        raise
    info = {"version": FORMAT_VERSION, "fingerprint": fingerprint}
    info |= {name: count.to_json() for name, count in counts.items()}
    with whole_file(work / "prepared.json") as file:
        file.write(json.dumps(info, indent=2, ensure_ascii=False).encode())


def _put_into_place(work: Path, folder: Path) -> None:
    """Replace the folder by the finished one, and remove what interruptions left with other settings."""
    shutil.rmtree(work / "parts", ignore_errors=True)
    if folder.exists():
        shutil.rmtree(folder)
    work.rename(folder)
    for stale in folder.parent.glob(f".{glob.escape(folder.name)}.{'[0-9a-f]' * 16}"):
        shutil.rmtree(stale, ignore_errors=True)


@contextmanager
def _held(folder: Path, say: Say) -> Iterator[None]:
    """A folder is made by one process at a time; a second one waits, and then finds it made."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f".{folder.name}.lock").open("a") as file:
        if os.name == "posix":
            import fcntl

            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                say(f"{folder}: another process is preparing it; waiting for that")
                fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _fingerprint(config: Config, known_pieces: list[Path]) -> str:
    """Settings and contents of what training reads, as one SHA-256."""
    data = config.data
    digest = hashlib.sha256()
    settings = {
        "version": FORMAT_VERSION,
        "data": data.model_dump(exclude={"folder", *TEST_SPLITS}),
        "tokenizer": {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in known_pieces}
        or config.tokenizer.model_dump(exclude={"sampling"}),
    }
    digest.update(json.dumps(settings, sort_keys=True).encode())
    for name in SPLITS:
        paths = resolve(getattr(data, name), data.folder)
        for path in paths:
            with path.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
        if not paths:  # the embedded corpus can change with the program
            for pair in read_pairs(getattr(data, name), data.source, data.target):
                digest.update("\t".join(pair).encode())
    return digest.hexdigest()


def _is_current(folder: Path, fingerprint: str) -> bool:
    try:
        info = json.loads((folder / "prepared.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return bool(info.get("fingerprint") == fingerprint)
