"""How an update is dealt to the ranks."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from jumok.training.distributed import Share, World, deal, join_world

LENGTHS = np.sort(np.random.default_rng(1).integers(1, 40, size=200)).astype(np.int32)
CPU = torch.device("cpu")


def count_tokens(rows: np.ndarray) -> int:
    return int(LENGTHS[rows].sum())


def dealt(batches: list[np.ndarray], size: int) -> list[list[Share]]:
    return [deal(batches, count_tokens, World(CPU, rank, size)) for rank in range(size)]


def an_update(num_batches: int) -> list[np.ndarray]:
    return np.array_split(np.arange(len(LENGTHS)), num_batches)


@pytest.mark.parametrize("num_batches", [1, 2, 3, 4, 8])
@pytest.mark.parametrize("size", [1, 2, 3, 4, 8])
def test_every_sentence_goes_to_exactly_one_rank_and_ranks_have_equally_many_shares(num_batches, size):
    hands = dealt(an_update(num_batches), size)
    rows = [row for hand in hands for share in hand for row in share.rows]
    assert sorted(rows) == list(range(len(LENGTHS)))
    assert len({len(hand) for hand in hands}) == 1
    assert len(hands[0]) == math.lcm(num_batches, size) // size


@pytest.mark.parametrize("size", [2, 4])
def test_ranks_have_about_equally_many_tokens(size):
    for num_batches in (1, size, 2 * size):
        batches = an_update(1) if num_batches == 1 else list(an_update(num_batches))
        tokens = [sum(count_tokens(share.rows) for share in hand) for hand in dealt(batches, size)]
        if num_batches != size:  # one batch each is as long as it is
            assert max(tokens) / min(tokens) < 1.1


def test_batches_that_can_be_dealt_whole_are_never_cut():
    for size in (1, 2, 4):
        shares = [share for hand in dealt(an_update(4), size) for share in hand]
        assert {(share.batch, share.piece) for share in shares} == {(i, 0) for i in range(4)}


def test_a_rank_without_a_sentence_gets_a_filler_that_does_not_count():
    hands = dealt([np.array([7])], 4)
    fillers = [share for hand in hands for share in hand if share.is_filler]
    assert len(fillers) == 3
    assert all(share.rows.tolist() == [7] for share in fillers)


def test_one_process_takes_the_batches_as_they_come():
    shares = deal(an_update(3), count_tokens, World(CPU))
    assert [share.batch for share in shares] == [0, 1, 2]


def test_without_torchrun_the_world_is_one_process(monkeypatch):
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    world = join_world("cpu")
    assert (world.rank, world.size, world.is_main) == (0, 1, True)
    assert world.total(2.0, True) == [2.0, 1.0]
    world.wait()
    world.leave()
