"""Bytes are shown as the characters they spell."""

from __future__ import annotations

from jumok.inspection.labels import join_pieces, label_pieces
from jumok.text.tokenizer import Tokenizer


def test_bytes_of_a_character_are_merged() -> None:
    pieces = ["▁", "<0xEB>", "<0xB7>", "<0x81>", "은", "<0xC3>", "<0xBC>", "<0x24>", "</s>"]
    assert label_pieces(pieces) == ["▁", "뷁", "·", "·", "은", "ü", "·", "$", "</s>"]
    assert join_pieces(pieces) == "뷁은ü$"


def test_neighbouring_characters_stay_apart() -> None:
    assert label_pieces(["<0xC3>", "<0xBC>", "<0xC3>", "<0xA4>"]) == ["ü", "·", "ä", "·"]
    assert label_pieces(["<0xF0>", "<0x9F>", "<0x99>", "<0x82>"]) == ["🙂", "·", "·", "·"]


def test_bytes_that_spell_nothing_stay_as_they_are() -> None:
    broken = ["<0xEB>", "<0xB7>", "a"]
    assert label_pieces(broken) == broken
    assert label_pieces(["<0x81>", "<0xC3>", "<0xBC>"]) == ["<0x81>", "ü", "·"]
    assert label_pieces(["<0x0A>"]) == ["<0x0A>"]  # a line break would not show


def test_text_comes_back_from_pieces(tokenizer: Tokenizer) -> None:
    text = "뷁은 さ와 葉"  # outside the training lines: spelled in bytes
    pieces = tokenizer.pieces(text)
    assert any(piece.startswith("<0x") for piece in pieces)
    assert join_pieces(["<s>", *pieces, "</s>"]) == text
    assert len(label_pieces(pieces)) == len(pieces)
