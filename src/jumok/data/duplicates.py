"""Which pairs occurred before, found in memory that does not grow with the corpus.

Every pair becomes a number of 128 bits, and numbers are noted on disk in parts: equal ones fall into the same part,
so each part can be sorted by itself. The numbers are as good as the texts: among a thousand million different pairs
the chance that any two share one is 10⁻²¹.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from jumok.data.readers import Pair

_NUM_PARTS = 128  # a thousand million pairs are sorted 190 MB at a time


class DuplicateFinder:
    """Takes the pairs of a corpus in order and says which of them had been there before."""

    def __init__(self, folder: Path) -> None:
        self._paths = [folder / f"{part:03}.numbers" for part in range(_NUM_PARTS)]
        self._num_rows = 0
        for path in self._paths:
            path.unlink(missing_ok=True)  # of an attempt that was interrupted

    def add(self, pairs: list[Pair]) -> None:
        """Note the next pairs; one without text on both sides equals none."""
        rows = [i for i, (src, tgt) in enumerate(pairs) if src and tgt]
        digests = b"".join(_digest(*pairs[i]) for i in rows)
        entries = np.empty((len(rows), 3), dtype=np.uint64)  # row, number (two words)
        entries[:, 0] = rows
        entries[:, 0] += np.uint64(self._num_rows)
        entries[:, 1:] = np.frombuffer(digests, dtype=np.uint64).reshape(-1, 2)
        self._num_rows += len(pairs)
        parts = entries[:, 1] % np.uint64(_NUM_PARTS)
        order = np.argsort(parts, kind="stable")
        ends = np.searchsorted(parts[order], np.arange(1, _NUM_PARTS, dtype=np.uint64))
        for path, entries_of_part in zip(self._paths, np.split(entries[order], ends), strict=True):
            if len(entries_of_part):
                with path.open("ab") as file:
                    file.write(entries_of_part.tobytes())

    def later_occurrences(self) -> NDArray[np.uint8]:
        """A bit a pair, set where an equal one stands before it. The notes are removed."""
        bits = np.zeros(-(-self._num_rows // 8), dtype=np.uint8)
        for path in self._paths:
            if path.exists():
                rows = _repeated_rows(np.fromfile(path, dtype=np.uint64).reshape(-1, 3))
                np.bitwise_or.at(bits, rows >> 3, (128 >> (rows & 7)).astype(np.uint8))
                path.unlink()
        return bits


def bits_between(bits: NDArray[np.uint8], start: int, stop: int) -> NDArray[np.bool_]:
    """The bits of these rows, as booleans."""
    unpacked = np.unpackbits(bits[start // 8 : -(-stop // 8)])
    return unpacked[start % 8 :][: stop - start].astype(bool)


def _digest(src: str, tgt: str) -> bytes:
    return hashlib.blake2b(f"{src}\n{tgt}".encode(), digest_size=16).digest()


def _repeated_rows(entries: NDArray[np.uint64]) -> NDArray[np.int64]:
    entries = entries[np.lexsort((entries[:, 2], entries[:, 1]))]  # stable: the first occurrence stays first
    is_repeated = (entries[1:, 1:] == entries[:-1, 1:]).all(axis=1)
    rows: NDArray[np.int64] = entries[1:, 0][is_repeated].astype(np.int64)
    return rows
