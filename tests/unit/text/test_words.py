"""A vocabulary of words: the same word wherever it stands, and every text comes back."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jumok.errors import TokenizerError
from jumok.text.normalization import normalize
from jumok.text.tokenizer import BOS_ID, EOS_ID, PAD_ID, UNK_ID, Tokenizer, train_tokenizer
from jumok.text.words import as_known, as_written, is_word, join_words, split_words

TEXTS = [
    *["Der Hund (klein) läuft.", "Der Hund, der Hund!", "나는 집에 간다.", "나는 산에 간다."] * 3,
    'Er sagt: "Hund"',
    "Das kostet 3.50",
]
# ▁ is a space to SentencePiece, and ￭ is taken: it comes back as ■.
ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\u2581￭"), max_size=60)


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    path = tmp_path_factory.mktemp("words") / "tokenizer.model"
    train_tokenizer(TEXTS, path, "word", 18, 0.9995)
    return Tokenizer(path)


def test_a_word_is_spelled_the_same_wherever_it_stands() -> None:
    assert as_known(split_words("Hund (Hund) Hund-Hund, Hund.")) == [
        *["▁Hund", "▁(￭", "▁Hund", ")", "▁Hund", "-￭", "▁Hund", ",", "▁Hund", "."]
    ]


@given(ANY_TEXT)
@example('don\'t "say" (3.5 – 4) ... -- ?! a_b')
@example("어제 카페에 갔었어. 😀👨‍👩‍👧 e\u0301 ^a")
def test_every_text_comes_back_but_for_the_white_space(text: str) -> None:
    pieces = split_words(normalize(text))
    assert as_written(as_known(pieces)) == pieces
    assert join_words(as_known(pieces)) == " ".join(normalize(text).split())


def test_combining_signs_stay_in_their_word() -> None:
    assert split_words("हिन्दी में।") == ["▁हिन्दी", "▁में", "।"]
    assert is_word("▁हिन्दी") and is_word("3") and not is_word("।") and not is_word("▁")


def test_the_most_frequent_words_are_known_and_neighbouring_unknown_ones_are_two(words: Tokenizer) -> None:
    assert words.has_words and words.has_unknowns
    assert words.id_to_piece([PAD_ID, UNK_ID, BOS_ID, EOS_ID]) == ["<pad>", "<unk>", "<s>", "</s>"]
    assert words.all_pieces()[4:7] == ["▁Hund", ".", "▁Der"]  # 10, 9 and 6 times
    [ids] = words.encode(["나는 저 산에 (Hund) Zug fährt."])
    assert [i == UNK_ID for i in ids] == [False, True, False, False, False, False, True, True, False]


def test_unknown_words_are_shown_or_replaced_where_they_stand(words: Tokenizer) -> None:
    text = "Der Zug (rot) fährt."
    [ids] = words.encode([text])
    assert words.decode([ids]) == ["Der ⟨unk⟩ (⟨unk⟩) ⟨unk⟩."]
    unknown = [piece for piece, i in zip(words.known_pieces(text), ids, strict=True) if i == UNK_ID]
    assert words.decode([ids], [unknown]) == [text]
    assert words.written_pieces(ids) == ["▁Der", "▁⟨unk⟩", "▁(", "⟨unk⟩", ")", "▁⟨unk⟩", "."]
    assert words.pieces(text) == ["▁Der", "▁Zug", "▁(", "rot", ")", "▁fährt", "."]


def test_the_largest_vocabulary_that_the_message_names_works(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.model"
    with pytest.raises(TokenizerError, match="^tokenizer.vocab_size = 500 is more than the training text") as caught:
        train_tokenizer(TEXTS, path, "word", 500, 1.0)
    largest = int(re.findall(r"\d+$", str(caught.value))[0])
    train_tokenizer(TEXTS, path, "word", largest, 1.0)
    tokenizer = Tokenizer(path)
    assert tokenizer.vocab_size == largest
    assert tokenizer.decode(tokenizer.encode(TEXTS)) == TEXTS
    assert not any(UNK_ID in ids for ids in tokenizer.encode(TEXTS))


def test_subwords_are_no_words(tokenizer: Tokenizer) -> None:
    assert not tokenizer.has_words and not tokenizer.has_unknowns
