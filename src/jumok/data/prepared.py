"""The prepared corpus: cleaned, cut into pieces, in Arrow files that are memory-mapped.

FOLDER/tokenizer.model            (or source.model and target.model)
FOLDER/train.arrow, valid.arrow …  columns src, tgt (ids) and src_text, tgt_text
FOLDER/prepared.json              what it was made from, and the counts; written last
"""

from __future__ import annotations

import hashlib
import itertools
import json
import shutil
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from jumok.config import Config
from jumok.data.cleaning import Cleaner
from jumok.data.readers import Pair, read_pairs, resolve
from jumok.errors import DataError, ResourceError, TokenizerError
from jumok.text.languages import language
from jumok.text.normalization import normalize
from jumok.text.tokenizer import Tokenizer, train_tokenizer

FORMAT_VERSION = 1
SPLITS = ("train", "valid")
TEST_SPLITS = ("test", "composition")  # read as text when they are scored
_ROWS_PER_CHUNK = 8192
_SCHEMA = pa.schema(
    [("src", pa.list_(pa.int32())), ("tgt", pa.list_(pa.int32())), ("src_text", pa.string()), ("tgt_text", pa.string())]
)
Say = Callable[[str], None]


class Split:
    """Sentence pairs of one split; rows are read from disk when they are asked for."""

    def __init__(self, path: Path) -> None:
        self._table = pa.ipc.open_file(pa.memory_map(str(path))).read_all()
        self.src_lengths = self._lengths("src")
        self.tgt_lengths = self._lengths("tgt")
        self._src = self._chunk_views("src")
        self._tgt = self._chunk_views("tgt")

    def __len__(self) -> int:
        return len(self.src_lengths)

    def ids(self, rows: Sequence[int] | NDArray[np.int64]) -> tuple[list[NDArray[np.int32]], list[NDArray[np.int32]]]:
        """Source and target ids of these rows."""
        return [self._row(self._src, int(r)) for r in rows], [self._row(self._tgt, int(r)) for r in rows]

    def texts(self, rows: Sequence[int] | NDArray[np.int64] | None = None) -> tuple[list[str], list[str]]:
        """Source and target text of these rows, or of all."""
        table = self._table if rows is None else self._table.take(pa.array(rows, type=pa.int64()))
        return table.column("src_text").to_pylist(), table.column("tgt_text").to_pylist()

    def _lengths(self, column: str) -> NDArray[np.int32]:
        chunks = [np.diff(chunk.offsets.to_numpy()) for chunk in self._table.column(column).chunks]
        return np.concatenate(chunks) if chunks else np.zeros(0, dtype=np.int32)

    def _chunk_views(self, column: str) -> list[tuple[NDArray[np.int32], NDArray[np.int32]]]:
        return [(chunk.offsets.to_numpy(), chunk.values.to_numpy()) for chunk in self._table.column(column).chunks]

    @staticmethod
    def _row(chunks: list[tuple[NDArray[np.int32], NDArray[np.int32]]], row: int) -> NDArray[np.int32]:
        offsets, values = chunks[row // _ROWS_PER_CHUNK]
        i = row % _ROWS_PER_CHUNK
        return values[offsets[i] : offsets[i + 1]]


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


def prepare(config: Config, folder: Path, say: Say = lambda line: None) -> PreparedCorpus:
    """Make the prepared corpus, or open it where it is there already and made from the same."""
    _check(config, TEST_SPLITS)  # a bad test file is better found now than after the training
    fingerprint = _fingerprint(config)
    if _is_current(folder, fingerprint):
        say(f"{folder}: already prepared from the same files and settings")
        return PreparedCorpus(folder)
    _check(config, SPLITS)
    folder.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        info = _write_corpus(config, work, say)
        (work / "prepared.json").write_text(
            json.dumps({"version": FORMAT_VERSION, "fingerprint": fingerprint, **info}, indent=2, ensure_ascii=False)
        )
        work.chmod(0o755)
        if folder.exists():
            shutil.rmtree(folder)
        work.rename(folder)
    except OSError as error:
        if not _is_current(folder, fingerprint):  # another process may have made the same in the meantime
            raise ResourceError(f"{folder}: could not be written: {error.strerror or error}") from error
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return PreparedCorpus(folder)


def _check(config: Config, names: tuple[str, ...]) -> None:
    """Read files once, so that a bad one is refused before anything is written."""
    for name in names:
        if getattr(config.data, name) is not None:
            deque(_normalized(config, name), maxlen=0)


def _write_corpus(config: Config, work: Path, say: Say) -> dict[str, Any]:
    """Learn the pieces, then clean, encode and write each split."""
    _learn_tokenizers(config, work, say)
    src_tokenizer, tgt_tokenizer = open_tokenizers(work)
    cleaners = {"train": Cleaner(config.data), "valid": Cleaner(config.data, only_length=True)}
    for name, cleaner in cleaners.items():
        pairs = (pair for pair in _normalized(config, name) if cleaner.accept_text(*pair))
        encoded = _encoded(pairs, src_tokenizer, tgt_tokenizer)
        _write_split(work / f"{name}.arrow", (row for row in encoded if cleaner.accept_pieces(row[0], row[1])))
        say(f"{name}: {cleaner.summary()}")
        if cleaner.num_kept == 0:
            raise DataError(f"data.{name}: no pair is left after cleaning: {cleaner.summary()}")
    return {
        name: {"read": cleaner.num_read, "kept": cleaner.num_kept, "dropped": dict(cleaner.dropped)}
        for name, cleaner in cleaners.items()
    }


def _learn_tokenizers(config: Config, work: Path, say: Say) -> None:
    settings, data = config.tokenizer, config.data
    coverage = [language(code).character_coverage for code in (data.source, data.target)]
    if settings.joint:
        jobs = [("tokenizer.model", (text for pair in _usable(config) for text in pair), min(coverage))]
    else:
        jobs = [
            ("source.model", (src for src, _ in _usable(config)), coverage[0]),
            ("target.model", (tgt for _, tgt in _usable(config)), coverage[1]),
        ]
    problems = []
    for name, texts, character_coverage in jobs:
        first = next(texts, None)
        if first is None:
            raise DataError("data.train holds no pair with text on both sides")
        all_texts = itertools.chain([first], texts)
        try:
            train_tokenizer(all_texts, work / name, settings.kind, settings.vocab_size, character_coverage)
        except TokenizerError as problem:
            problems.append(problem)
    if problems:
        raise min(problems, key=lambda problem: problem.limit)  # the size that it names works for both languages
    say(f"{settings.vocab_size:,} {settings.kind} pieces learned" + ("" if settings.joint else " for each language"))


def _usable(config: Config) -> Iterator[Pair]:
    """Training pairs with text on both sides."""
    return ((src, tgt) for src, tgt in _normalized(config, "train") if src and tgt)


def _normalized(config: Config, name: str) -> Iterator[Pair]:
    data = config.data
    for src, tgt in read_pairs(getattr(data, name), data.source, data.target, data.folder):
        yield normalize(src), normalize(tgt)


def _encoded(
    pairs: Iterator[Pair], src_tokenizer: Tokenizer, tgt_tokenizer: Tokenizer
) -> Iterator[tuple[list[int], list[int], str, str]]:
    while chunk := list(itertools.islice(pairs, _ROWS_PER_CHUNK)):
        src_texts, tgt_texts = zip(*chunk, strict=True)
        yield from zip(
            src_tokenizer.encode(src_texts), tgt_tokenizer.encode(tgt_texts), src_texts, tgt_texts, strict=True
        )


def _write_split(path: Path, rows: Iterator[tuple[list[int], list[int], str, str]]) -> None:
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, _SCHEMA) as writer:
        while chunk := list(itertools.islice(rows, _ROWS_PER_CHUNK)):
            columns = [
                pa.array(column, type=field.type)
                for column, field in zip(zip(*chunk, strict=True), _SCHEMA, strict=True)
            ]
            writer.write_batch(pa.record_batch(columns, schema=_SCHEMA))


def _fingerprint(config: Config) -> str:
    """Settings and contents of what training reads, as one SHA-256."""
    data = config.data
    digest = hashlib.sha256()
    settings = {
        "version": FORMAT_VERSION,
        "data": data.model_dump(exclude={"folder", *TEST_SPLITS}),
        "tokenizer": config.tokenizer.model_dump(exclude={"sampling"}),
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
