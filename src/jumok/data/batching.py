"""From prepared sentences to tensors: batches of about equally many tokens, with little padding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from jumok.data.prepared import Split
from jumok.text.tokenizer import BOS_ID, EOS_ID, PAD_ID

_CHUNK_ROWS = 8192
_CHUNKS_PER_POOL = 64  # half a million rows: enough for batches with little padding
Ids = Sequence[int] | NDArray[np.int32]


@dataclass(frozen=True)
class Batch:
    """Sentences of similar length, padded to the longest."""

    src: Tensor  # (B, S) ids and <eos>
    tgt_in: Tensor  # (B, T) <bos> and ids: what the decoder reads
    tgt_out: Tensor  # (B, T) ids and <eos>: what it has to say
    num_src_tokens: int  # without padding
    num_tgt_tokens: int

    def to(self, device: torch.device) -> Batch:
        """The same batch on a device."""
        src, tgt_in, tgt_out = (t.to(device, non_blocking=True) for t in (self.src, self.tgt_in, self.tgt_out))
        return Batch(src, tgt_in, tgt_out, self.num_src_tokens, self.num_tgt_tokens)


def plan_batches(
    src_lengths: NDArray[np.int32],
    tgt_lengths: NDArray[np.int32],
    batch_tokens: int,
    seed: int | None = None,
    epoch: int = 0,
    pool: int = 0,
) -> list[NDArray[np.int64]]:
    """Rows of each batch: a pure function of lengths, size, seed, epoch and pool.

    Sentences are shuffled, then sorted by target and source length (so that which of equal length meet is
    chance), cut where the padded batch would exceed `batch_tokens` on either side, and the batches shuffled.
    Without a seed nothing is shuffled. A sentence longer than `batch_tokens` is a batch by itself.
    """
    num_rows = len(src_lengths)
    rng = _generator(seed, epoch, pool) if seed is not None else None
    order = rng.permutation(num_rows) if rng is not None else np.arange(num_rows)
    # The source length runs up for one target length and down for the next, so that it never jumps inside a batch.
    src_keys = np.where(tgt_lengths % 2 == 0, src_lengths, -src_lengths)
    order = order[np.lexsort((src_keys[order], tgt_lengths[order]))]
    longest = np.maximum(src_lengths, tgt_lengths)[order] + 1  # <eos> counts
    cuts, start, widest = [0], 0, 0
    for i, length in enumerate(longest.tolist()):
        widest = max(widest, length)
        if i > start and widest * (i + 1 - start) > batch_tokens:
            cuts.append(i)
            start, widest = i, length
    batches = np.split(order, cuts[1:])
    if rng is not None:
        batches = [batches[i] for i in rng.permutation(len(batches))]
    return batches


def num_pools(num_rows: int) -> int:
    """How many pools an epoch has: so many rows are shuffled and batched at a time, whatever the corpus has."""
    return max(1, -(-num_rows // (_CHUNK_ROWS * _CHUNKS_PER_POOL)))


def plan_pool(split: Split, batch_tokens: int, seed: int, epoch: int, pool: int) -> list[NDArray[np.int64]]:
    """Rows of each batch of one pool of an epoch.

    A pool is chunks of consecutive rows from all over the corpus, other ones in each epoch, so that memory and the
    time before the first batch do not grow with the corpus. Every row is in one pool. A corpus of one pool is
    planned as a whole.
    """
    split.release_memory()
    count = num_pools(len(split))
    if count == 1:
        return plan_batches(split.src_lengths, split.tgt_lengths, batch_tokens, seed, epoch)
    num_chunks = -(-len(split) // _CHUNK_ROWS)
    chunks = np.array_split(_generator(seed, epoch, count).permutation(num_chunks), count)[pool]
    ranges = [np.arange(chunk * _CHUNK_ROWS, min((chunk + 1) * _CHUNK_ROWS, len(split))) for chunk in chunks]
    lengths = [split.lengths(rows) for rows in ranges]
    src_lengths, tgt_lengths = (np.concatenate(side) for side in zip(*lengths, strict=True))
    rows = np.concatenate(ranges)
    return [rows[batch] for batch in plan_batches(src_lengths, tgt_lengths, batch_tokens, seed, epoch, pool)]


def _generator(seed: int, epoch: int, pool: int) -> np.random.Generator:
    return np.random.default_rng((seed, epoch, pool) if pool else (seed, epoch))


def collate(src: Sequence[Ids], tgt: Sequence[Ids]) -> Batch:
    """Pad the sentences of a batch into tensors."""
    src_lengths = [len(ids) + 1 for ids in src]
    tgt_lengths = [len(ids) + 1 for ids in tgt]
    tgt_out = _pad(tgt, max(tgt_lengths))
    tgt_in = torch.full_like(tgt_out, BOS_ID)
    tgt_in[:, 1:] = tgt_out[:, :-1]
    tgt_in[tgt_in == EOS_ID] = PAD_ID
    return Batch(_pad(src, max(src_lengths)), tgt_in, tgt_out, sum(src_lengths), sum(tgt_lengths))


def pad_sources(src: Sequence[Ids]) -> Tensor:
    """Source sentences alone, as `model.start` reads them."""
    return _pad(src, max(len(ids) for ids in src) + 1)


def _pad(rows: Sequence[Ids], width: int) -> Tensor:
    padded = np.full((len(rows), width), PAD_ID, dtype=np.int64)
    for row, ids in zip(padded, rows, strict=True):
        row[: len(ids)] = ids
        row[len(ids)] = EOS_ID
    return torch.from_numpy(padded)
