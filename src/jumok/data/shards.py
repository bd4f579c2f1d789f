"""A corpus is prepared in shards: consecutive pairs, few enough for memory, each written whole or not at all.

A shard is an Arrow file of one record batch. How many of its pairs were left out, and why, stands in its metadata,
so that a finished shard needs nothing but itself to be used when preparing goes on after an interruption.
"""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from jumok.data.cleaning import Cleaner, Counts
from jumok.data.readers import Pair
from jumok.text.normalization import normalize
from jumok.text.tokenizer import Tokenizer

SHARD_ROWS = 16_384
_SHARD_CHARACTERS = 1 << 23  # a shard of long lines has fewer of them
_TEXTS_AT_A_TIME = 4096  # as lists of Python integers ids take ten times their room
_SCHEMA = pa.schema(
    [("src", pa.list_(pa.int32())), ("tgt", pa.list_(pa.int32())), ("src_text", pa.string()), ("tgt_text", pa.string())]
)


def cut_into_shards(pairs: Iterable[Pair], num_rows: int) -> Iterator[list[Pair]]:
    """Consecutive pairs; where a shard ends depends on the pairs in it alone."""
    shard: list[Pair] = []
    num_characters = 0
    for pair in pairs:
        shard.append(pair)
        num_characters += len(pair[0]) + len(pair[1])
        if len(shard) == num_rows or num_characters >= _SHARD_CHARACTERS:
            yield shard
            shard, num_characters = [], 0
    if shard:
        yield shard


def write_shard(
    path: Path,
    pairs: list[Pair],
    is_later: NDArray[np.bool_] | None,
    cleaner: Cleaner,
    tokenizers: tuple[Tokenizer, Tokenizer],
) -> Counts:
    """Normalise, clean and encode pairs, and write those that are kept."""
    normalized = [(normalize(src), normalize(tgt)) for src, tgt in pairs]
    kept = cleaner.accept_texts(normalized, is_later)
    texts = [[pair[side] for pair in kept] for side in (0, 1)]
    (src, src_lengths), (tgt, tgt_lengths) = (
        _encode(tokenizer, side) for tokenizer, side in zip(tokenizers, texts, strict=True)
    )
    is_accepted = cleaner.accept_lengths(src_lengths, tgt_lengths)
    columns = [src, tgt, *(pa.array(side, type=pa.string()) for side in texts)]
    batch = pa.record_batch(columns, schema=_SCHEMA).filter(pa.array(is_accepted))
    schema = _SCHEMA.with_metadata({"counts": json.dumps(cleaner.counts.to_json())})
    with whole_file(path) as file, pa.ipc.new_file(file, schema) as writer:
        writer.write_batch(batch)
    return cleaner.counts


def read_counts(path: Path) -> Counts:
    """How many pairs of a finished shard were read and left out."""
    with pa.memory_map(str(path)) as file:
        return Counts.from_json(json.loads(pa.ipc.open_file(file).schema.metadata[b"counts"]))


def join_shards(shards: Sequence[Path], path: Path) -> None:
    """One file of all shards, in order; a record batch each."""
    with whole_file(path) as file, pa.ipc.new_file(file, _SCHEMA) as writer:
        for shard in shards:
            with pa.memory_map(str(shard)) as source:
                batch = pa.ipc.open_file(source).get_batch(0)
                if batch.num_rows:
                    writer.write_batch(batch)


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file that gets its name when it is complete and on the disk."""
    temporary = path.with_name(f".{path.name}.new")
    try:
        with temporary.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _encode(tokenizer: Tokenizer, texts: list[str]) -> tuple[pa.ListArray, NDArray[np.int32]]:
    """The ids of each text, and how many they are."""
    ids, lengths = [np.zeros(0, dtype=np.int32)], [np.zeros(0, dtype=np.int32)]
    for start in range(0, len(texts), _TEXTS_AT_A_TIME):
        encoded = tokenizer.encode(texts[start : start + _TEXTS_AT_A_TIME], is_normalized=True)
        lengths.append(np.fromiter(map(len, encoded), dtype=np.int32, count=len(encoded)))
        flat = itertools.chain.from_iterable(encoded)
        ids.append(np.fromiter(flat, dtype=np.int32, count=int(lengths[-1].sum())))
    all_lengths = np.concatenate(lengths)
    offsets = np.concatenate([np.zeros(1, dtype=np.int32), np.cumsum(all_lengths, dtype=np.int32)])
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(np.concatenate(ids))), all_lengths
