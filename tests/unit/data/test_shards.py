"""Shards hold all pairs in order, and a file has its name only when it is whole."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jumok.data import shards
from jumok.data.shards import cut_into_shards, whole_file


@given(st.integers(0, 50), st.integers(1, 20))
def test_every_pair_is_in_one_shard_in_order(num_pairs: int, num_rows: int) -> None:
    pairs = [(str(i), "t") for i in range(num_pairs)]
    cut = list(cut_into_shards(pairs, num_rows))
    assert [pair for shard in cut for pair in shard] == pairs
    assert all(len(shard) == num_rows for shard in cut[:-1])
    assert all(cut)


def test_long_lines_make_shorter_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "_SHARD_CHARACTERS", 100)
    pairs = [("a" * 30, "b" * 30)] * 5 + [("a", "b")] * 9
    assert list(map(len, cut_into_shards(pairs, 8))) == [2, 2, 8, 2]


def test_file_that_was_not_finished_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), whole_file(tmp_path / "a") as file:
        file.write(b"half")
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []
