"""Every sentence once an epoch, in batches that fit, with little padding."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from jumok.data import batching
from jumok.data.batching import collate, num_pools, pad_sources, plan_batches, plan_pool
from jumok.text.tokenizer import BOS_ID, EOS_ID, PAD_ID

LENGTHS = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), min_size=1, max_size=200)
MULTI30K = Path(__file__).resolve().parents[4] / "shared" / "data" / "multi30k"


def arrays(lengths: list[tuple[int, int]]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    both = np.array(lengths, dtype=np.int32)
    return both[:, 0], both[:, 1]


@given(LENGTHS, st.integers(16, 500), st.integers(0, 2**40), st.integers(0, 50))
def test_every_row_exactly_once_an_epoch(
    lengths: list[tuple[int, int]], batch_tokens: int, seed: int, epoch: int
) -> None:
    batches = plan_batches(*arrays(lengths), batch_tokens, seed, epoch)
    assert sorted(int(row) for batch in batches for row in batch) == list(range(len(lengths)))
    assert all(len(batch) for batch in batches)


@given(LENGTHS, st.integers(16, 500), st.integers(0, 5))
def test_padded_batch_is_within_the_limit_on_both_sides(
    lengths: list[tuple[int, int]], batch_tokens: int, epoch: int
) -> None:
    src, tgt = arrays(lengths)
    for rows in plan_batches(src, tgt, batch_tokens, 1, epoch):
        batch = collate([[5] * src[r] for r in rows], [[5] * tgt[r] for r in rows])
        assert len(rows) == 1 or max(batch.src.numel(), batch.tgt_out.numel()) <= batch_tokens


def test_plan_is_a_function_of_seed_and_epoch() -> None:
    rng = np.random.default_rng(0)
    src, tgt = rng.integers(1, 40, (2, 500)).astype(np.int32)

    def plan(seed: int, epoch: int) -> list[list[int]]:
        return [batch.tolist() for batch in plan_batches(src, tgt, 256, seed, epoch)]

    np.random.seed(99)
    first = plan(1, 0)
    np.random.seed(100)
    assert plan(1, 0) == first
    assert plan(1, 1) != first
    assert plan(2, 0) != first
    assert {frozenset(batch) for batch in plan(1, 1)} != {frozenset(batch) for batch in first}


def test_without_a_seed_nothing_is_shuffled() -> None:
    src = np.array([3, 1, 2, 1], dtype=np.int32)
    [batch] = plan_batches(src, src, 100)
    assert batch.tolist() == [1, 3, 2, 0]


def test_sentence_above_the_limit_is_a_batch_by_itself() -> None:
    lengths = np.array([5, 500, 5], dtype=np.int32)
    assert sorted(map(len, plan_batches(lengths, lengths, 64, 1, 0))) == [1, 2]


class Lengths:
    """What planning needs of a split."""

    def __init__(self, num_rows: int) -> None:
        self.src_lengths, self.tgt_lengths = np.random.default_rng(0).integers(1, 40, (2, num_rows)).astype(np.int32)

    def __len__(self) -> int:
        return len(self.src_lengths)

    def lengths(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        return self.src_lengths[rows], self.tgt_lengths[rows]

    def release_memory(self) -> None:
        pass


def plan_epoch(split: Any, epoch: int, seed: int = 1) -> list[list[list[int]]]:
    pools = range(num_pools(len(split)))
    return [[batch.tolist() for batch in plan_pool(split, 256, seed, epoch, pool)] for pool in pools]


@pytest.fixture
def small_pools(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pools of 4 chunks of 10 rows."""
    monkeypatch.setattr(batching, "_CHUNK_ROWS", 10)
    monkeypatch.setattr(batching, "_CHUNKS_PER_POOL", 4)


@pytest.mark.parametrize(("num_rows", "count"), [(0, 1), (1, 1), (40, 1), (41, 2), (80, 2), (81, 3), (997, 25)])
def test_every_row_is_in_one_pool_of_an_epoch(small_pools: None, num_rows: int, count: int) -> None:
    assert num_pools(num_rows) == count
    pools = plan_epoch(Lengths(num_rows), epoch=3) if num_rows else []
    assert sorted(row for pool in pools for batch in pool for row in batch) == list(range(num_rows))
    assert all(sum(map(len, pool)) <= 40 for pool in pools)


def test_one_pool_is_planned_as_a_whole(small_pools: None) -> None:
    split = Lengths(40)
    whole = plan_batches(split.src_lengths, split.tgt_lengths, 256, 1, 2)
    assert plan_epoch(split, epoch=2) == [[batch.tolist() for batch in whole]]


def test_pools_are_a_function_of_seed_and_epoch(small_pools: None) -> None:
    split = Lengths(400)

    def rows_of_pools(epoch: int, seed: int = 1) -> list[set[int]]:
        return [{row for batch in pool for row in batch} for pool in plan_epoch(split, epoch, seed)]

    assert plan_epoch(split, 0) == plan_epoch(split, 0)
    assert rows_of_pools(0) != rows_of_pools(1)
    assert rows_of_pools(0) != rows_of_pools(0, seed=2)
    assert any(abs(a - b) > 1 for pool in rows_of_pools(0) for a, b in pairwise(sorted(pool)))  # from all over


def test_collate_puts_begin_end_and_padding_where_they_belong() -> None:
    batch = collate([[10, 11, 12], [13]], [[20], [21, 22, 23]])
    assert batch.src.tolist() == [[10, 11, 12, EOS_ID], [13, EOS_ID, PAD_ID, PAD_ID]]
    assert batch.tgt_in.tolist() == [[BOS_ID, 20, PAD_ID, PAD_ID], [BOS_ID, 21, 22, 23]]
    assert batch.tgt_out.tolist() == [[20, EOS_ID, PAD_ID, PAD_ID], [21, 22, 23, EOS_ID]]
    assert (batch.num_src_tokens, batch.num_tgt_tokens) == (6, 6)
    assert batch.src.dtype == torch.int64


@given(st.lists(st.tuples(*[st.lists(st.integers(4, 99), max_size=9)] * 2), min_size=1, max_size=6))
def test_collate_holds_what_it_was_given(pairs: list[tuple[list[int], list[int]]]) -> None:
    batch = collate([s for s, _ in pairs], [t for _, t in pairs])
    for i, (src, tgt) in enumerate(pairs):
        assert [x for x in batch.src[i].tolist() if x != PAD_ID] == [*src, EOS_ID]
        assert [x for x in batch.tgt_in[i].tolist() if x != PAD_ID] == [BOS_ID, *tgt]
        assert [x for x in batch.tgt_out[i].tolist() if x != PAD_ID] == [*tgt, EOS_ID]
    assert batch.num_src_tokens == int((batch.src != PAD_ID).sum())
    assert batch.num_tgt_tokens == int((batch.tgt_out != PAD_ID).sum())
    assert torch.equal(batch.src, pad_sources([s for s, _ in pairs]))


@pytest.mark.skipif(not MULTI30K.is_dir(), reason=f"Multi30k is not at {MULTI30K}")
@pytest.mark.parametrize("batch_tokens", [2048, 4096])
def test_padding_on_multi30k_is_under_8_percent(batch_tokens: int) -> None:
    def lengths(name: str) -> NDArray[np.int32]:
        # about 1.3 pieces a word, and the end of a sentence is a piece of its own
        lines = (MULTI30K / name).read_text(encoding="utf-8").split("\n")[:29_000]
        return np.array([len(line.split()) + sum(len(w) > 8 for w in line.split()) + 1 for line in lines], np.int32)

    src, tgt = lengths("train.de"), lengths("train.en")
    padded = real = 0
    for rows in plan_batches(src, tgt, batch_tokens, 1, 0):
        padded += len(rows) * int(src[rows].max() + tgt[rows].max() + 2)
        real += int(src[rows].sum() + tgt[rows].sum()) + 2 * len(rows)
    assert 1 - real / padded < 0.08
