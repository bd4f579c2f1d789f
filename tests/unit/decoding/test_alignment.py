from __future__ import annotations

import numpy as np
import pytest

from jumok.decoding.alignment import align_words, pharaoh, word_of_piece


@pytest.mark.parametrize(
    ("pieces", "words"),
    [
        ([], []),
        (["▁the", "▁cat"], [0, 1]),
        (["▁c", "at", "s", "▁sleep", "."], [0, 0, 0, 1, 1]),
        (["▁", "카", "페", "▁", "<0xEA>", "<0xB0>", "<0x80>"], [0, 0, 0, 1, 1, 1, 1]),
        (["▁", "▁the", "▁", "▁cat"], [0, 0, 1, 1]),
        (["cat", "▁s"], [0, 1]),
    ],
)
def test_a_word_begins_where_a_space_was(pieces, words):
    assert word_of_piece(pieces) == words


def test_without_spaces_pieces_are_counted():
    assert word_of_piece(["▁猫", "は", "▁x"], has_spaces=False) == [0, 1, 2]


SRC = ["▁die", "▁Kat", "ze", "▁schläft"]
TGT = ["▁s", "leeps", "▁cat"]
ATTENTION = np.array(
    [
        # die  Kat   ze    schläft end
        [0.30, 0.20, 0.05, 0.25, 0.2],  # ▁s
        [0.10, 0.00, 0.00, 0.40, 0.5],  # leeps: with ▁s 0.40 for die, 0.65 for schläft
        [0.30, 0.24, 0.26, 0.00, 0.2],  # ▁cat: Kat + ze outweigh die
        [0.0, 0.0, 0.0, 0.0, 1.0],  # end
    ],
    dtype=np.float32,
)


def test_links_by_hand():
    assert align_words(SRC, TGT, ATTENTION) == [(2, 0), (1, 1)]


def test_the_end_marks_are_not_linked_and_a_missing_one_is_no_matter():
    assert align_words(SRC, TGT, ATTENTION[:3]) == [(2, 0), (1, 1)]
    assert align_words(["▁a"], ["▁b"], np.array([[0.01, 0.99]], dtype=np.float32)) == [(0, 0)]


def test_pieces_on_a_side_without_spaces():
    assert align_words(SRC, TGT, ATTENTION, src_has_spaces=False) == [(3, 0), (0, 1)]
    assert align_words(SRC, TGT, ATTENTION, tgt_has_spaces=False) == [(0, 0), (2, 1), (1, 2)]


def test_nothing_is_linked_to_nothing():
    assert align_words([], TGT, np.ones((4, 1), dtype=np.float32)) == []
    assert align_words(SRC, [], np.ones((1, 5), dtype=np.float32)) == []


def test_pharaoh_is_source_then_target():
    assert pharaoh([(2, 0), (1, 1)]) == "2-0 1-1"
    assert pharaoh([]) == ""
