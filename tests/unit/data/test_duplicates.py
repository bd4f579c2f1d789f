"""Every later occurrence is found, and nothing else, however far apart and in however many blocks they come."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from jumok.data.duplicates import DuplicateFinder, bits_between

Pair = tuple[str, str]
TEXTS = st.sampled_from(["", "a", "b", "a\tb", "b\tc", "ab"])


def later_occurrences(folder: Path, pairs: list[Pair], block: int) -> list[bool]:
    finder = DuplicateFinder(folder)
    for start in range(0, len(pairs), block):
        finder.add(pairs[start : start + block])
    bits = finder.later_occurrences()
    assert list(folder.iterdir()) == []
    return list(bits_between(bits, 0, len(pairs)).tolist())


@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=60), st.integers(1, 20))
def test_same_as_remembering_every_pair(pairs: list[Pair], block: int) -> None:
    seen: set[Pair] = set()
    expected = []
    for pair in pairs:
        expected.append(pair in seen)
        if all(pair):
            seen.add(pair)
    with tempfile.TemporaryDirectory() as folder:
        assert later_occurrences(Path(folder), pairs, block) == expected


def test_far_apart(tmp_path: Path) -> None:
    pairs = [(f"source {i}", f"target {i}") for i in range(20_000)]
    pairs += [pairs[17], ("new", "one"), pairs[0], pairs[17]]
    assert later_occurrences(tmp_path, pairs, 999) == [False] * 20_000 + [True, False, True, True]


def test_notes_of_an_interrupted_attempt_count_for_nothing(tmp_path: Path) -> None:
    DuplicateFinder(tmp_path).add([("a", "b")])
    assert later_occurrences(tmp_path, [("a", "b")], 1) == [False]


@given(st.lists(st.booleans(), min_size=1, max_size=70), st.data())
def test_bits_between(flags: list[bool], data: st.DataObject) -> None:
    import numpy as np

    start = data.draw(st.integers(0, len(flags)))
    stop = data.draw(st.integers(start, len(flags)))
    assert bits_between(np.packbits(flags), start, stop).tolist() == flags[start:stop]
