"""From prepared sentences to tensors: batches of about equally many tokens, with little padding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from jumok.text.tokenizer import BOS_ID, EOS_ID, PAD_ID

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
) -> list[NDArray[np.int64]]:
    """Rows of each batch of an epoch: a pure function of lengths, size, seed and epoch.

    Sentences are shuffled, then sorted by target and source length (so that which of equal length meet is
    chance), cut where the padded batch would exceed `batch_tokens` on either side, and the batches shuffled.
    Without a seed nothing is shuffled. A sentence longer than `batch_tokens` is a batch by itself.
    """
    num_rows = len(src_lengths)
    rng = np.random.default_rng((seed, epoch)) if seed is not None else None
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
