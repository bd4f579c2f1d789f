"""Bytes are shown as the characters they spell."""

from __future__ import annotations

from jumok.inspection.labels import Span, find_text, join_pieces, label_pieces, words_of
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


def test_words_of_a_vocabulary_of_words_are_joined_as_they_stood() -> None:
    pieces = ["▁(￭", "▁Hund", ".", ")", "<unk>", "</s>"]
    assert label_pieces(pieces) == ["▁(", "Hund", ".", ")", "▁⟨unk⟩", "</s>"]
    assert join_pieces(pieces) == "(Hund.) ⟨unk⟩"


def test_words_are_cut_at_spaces_and_bytes_belong_to_their_character() -> None:
    pieces = ["<s>", "▁", "<0xEB>", "<0xB7>", "<0x81>", "은", "▁카페", "에", ".", "</s>"]
    assert words_of(pieces) == [Span("뷁은", 1, 6), Span("카페에.", 6, 9)]
    assert words_of(["▁", "葉", "<0xE3>", "<0x81>", "<0x95>", "</s>"], has_spaces=False) == [
        Span("葉", 1, 2),
        Span("さ", 2, 5),
    ]


def test_text_is_found_as_words_before_parts_of_words() -> None:
    pieces = ["▁go", "ing", "▁to", "▁go", ".", "▁cafe", "teria", "</s>"]
    assert find_text(pieces, "go") == [Span("go", 3, 4)]
    assert find_text(pieces, "Going") == [Span("going", 0, 2)]
    assert find_text(pieces, "cafe") == [Span("cafe", 5, 6)]
    assert find_text(pieces, "to go") == [Span("to go", 2, 4)]
    assert find_text(pieces, "eteria") == [Span("cafeteria", 5, 7)]  # inside a piece: the word that holds it
    assert find_text(pieces, "</s>") == [Span("</s>", 7, 8)]
    assert find_text(pieces, "sea") == find_text(pieces, " ") == []
    assert find_text(["▁", "<0xEB>", "<0xB7>", "<0x81>", "▁"], "뷁") == [Span("뷁", 0, 4)]
