"""Text to ids and back, nothing ever unknown."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jumok.errors import TokenizerError
from jumok.text.normalization import normalize
from jumok.text.tokenizer import BOS_ID, EOS_ID, PAD_ID, UNK_ID, Tokenizer, train_tokenizer

KINDS: list[Literal["bpe", "unigram"]] = ["bpe", "unigram"]
# SentencePiece writes a space as ▁ (U+2581), so that one character comes back as a space.
ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\u2581"), max_size=60)


def one_space(text: str) -> str:
    return re.sub(" +", " ", normalize(text)).strip(" ")


@given(ANY_TEXT)
@example("어제 카페에 갔었어. 😀👨‍👩‍👧 🇰🇷")
@example("ひらがな カタカナ 漢字 𠮷野家 ﬁ \u200b \x00 \x7f \ufffd")
@example("<s> </s> <pad> <unk> <0x41>")
@example("tab\there, no-break\u00a0space, ideographic\u3000space")
def test_any_text_comes_back_and_is_never_unknown(tokenizer: Tokenizer, text: str) -> None:
    ids = tokenizer.encode([text])[0]
    assert UNK_ID not in ids
    assert not {PAD_ID, BOS_ID, EOS_ID} & set(ids)
    assert tokenizer.decode([ids]) == [one_space(text)]


@given(ANY_TEXT)
def test_any_text_comes_back_with_unigram(unigram: Tokenizer, text: str) -> None:
    ids = unigram.encode([text])[0]
    assert UNK_ID not in ids
    assert unigram.decode([ids]) == [one_space(text)]


@given(st.lists(st.integers(0, 379), max_size=20))
def test_whatever_a_model_says_is_one_line(tokenizer: Tokenizer, ids: list[int]) -> None:
    [text] = tokenizer.decode([ids])
    assert len(text.splitlines()) <= 1


@pytest.mark.parametrize("end", ["\n", "\r", "\u2028", "\x85", "\v"])
def test_line_end_spelled_in_bytes_becomes_a_space(tokenizer: Tokenizer, end: str) -> None:
    spelled = [tokenizer._processor.piece_to_id(f"<0x{byte:02X}>") for byte in end.encode()]
    first, second = tokenizer.encode(["cat", "cafe"])
    [text] = tokenizer.decode([[*first, *spelled, *second]])
    assert text.split() == ["cat", "cafe"]
    assert len(text.splitlines()) == 1


def test_rare_character_is_spelled_in_its_utf8_bytes(tokenizer: Tokenizer) -> None:
    assert [p for p in tokenizer.pieces("龘") if p != "▁"] == ["<0xE9>", "<0xBE>", "<0x98>"]


def test_special_ids_leave_no_trace_in_text(tokenizer: Tokenizer) -> None:
    [ids] = tokenizer.encode(["the cat"])
    assert tokenizer.decode([[BOS_ID, *ids, EOS_ID, PAD_ID]]) == ["the cat"]


def test_what_is_unknown_is_shown_or_replaced(tokenizer: Tokenizer) -> None:
    [ids] = tokenizer.encode(["the cat"])
    unknown = [UNK_ID, *ids, UNK_ID]
    assert tokenizer.decode([ids, unknown]) == ["the cat", "⟨unk⟩ the cat ⟨unk⟩"]
    assert tokenizer.decode([ids, unknown], [[], ["▁Yes,", "▁meows"]]) == ["the cat", "Yes, the cat meows"]


def test_special_ids_are_the_first_four(tokenizer: Tokenizer) -> None:
    assert tokenizer.id_to_piece([PAD_ID, UNK_ID, BOS_ID, EOS_ID]) == ["<pad>", "<unk>", "<s>", "</s>"]
    assert (PAD_ID, UNK_ID, BOS_ID, EOS_ID) == (0, 1, 2, 3)


def test_no_text_and_empty_text(tokenizer: Tokenizer) -> None:
    assert tokenizer.encode([]) == []
    assert tokenizer.decode([]) == []
    assert tokenizer.encode(["", "  "]) == [[], []]
    assert tokenizer.decode([[]]) == [""]


def test_jamo_and_syllables_have_the_same_ids(tokenizer: Tokenizer) -> None:
    decomposed, composed = tokenizer.encode(["\u1100\u1161", "\uac00"])
    assert decomposed == composed


def test_batch_and_single_encoding_agree(tokenizer: Tokenizer, lines: list[str]) -> None:
    assert tokenizer.encode(lines) == [tokenizer.encode([line])[0] for line in lines]


@pytest.mark.parametrize("kind", KINDS)
def test_sampling_is_decided_by_the_seed(kind: str, tokenizer: Tokenizer, unigram: Tokenizer, lines: list[str]) -> None:
    chosen = tokenizer if kind == "bpe" else unigram
    first, again, other = (chosen.encode_sampled(lines, 0.3, seed) for seed in (7, 7, 8))
    assert first == again
    assert first != other
    assert first != chosen.encode(lines)
    assert chosen.decode(first) == lines


def test_sampling_leaves_plain_encoding_as_it_was(tokenizer: Tokenizer, lines: list[str]) -> None:
    before = tokenizer.encode(lines)
    tokenizer.encode_sampled(lines, 0.5, 3)
    assert tokenizer.encode(lines) == before


@pytest.mark.parametrize("kind", KINDS)
def test_largest_vocabulary_that_the_message_names_works(
    kind: Literal["bpe", "unigram"], lines: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "tokenizer.model"
    with pytest.raises(TokenizerError) as caught:
        train_tokenizer(lines, path, kind, 50_000, 1.0)
    matched = re.fullmatch(
        r"tokenizer\.vocab_size = 50000 is more than the training text allows; the largest that works is (\d+)",
        str(caught.value),
    )
    assert matched
    largest = int(matched.group(1))
    assert list(tmp_path.iterdir()) == []
    train_tokenizer(lines, path, kind, largest, 1.0)
    assert Tokenizer(path).vocab_size == largest
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(TokenizerError):
        train_tokenizer(lines, path, kind, largest + 1, 1.0)


@pytest.mark.parametrize("kind", KINDS)
def test_smallest_vocabulary_that_the_message_names_works(
    kind: Literal["bpe", "unigram"], lines: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "tokenizer.model"
    with pytest.raises(TokenizerError) as caught:
        train_tokenizer(lines, path, kind, 262, 1.0)
    matched = re.fullmatch(
        r"tokenizer\.vocab_size = 262 does not hold the characters of the training text and the 256 bytes; "
        r"the smallest that works is (\d+)",
        str(caught.value),
    )
    assert matched
    smallest = int(matched.group(1))
    train_tokenizer(lines, path, kind, smallest, 1.0)
    assert Tokenizer(path).vocab_size == smallest
    with pytest.raises(TokenizerError):
        train_tokenizer(lines, path, kind, smallest - 1, 1.0)


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_text_gives_the_same_model(kind: Literal["bpe", "unigram"], lines: list[str], tmp_path: Path) -> None:
    models = []
    for _ in range(2):
        train_tokenizer(lines, tmp_path / "t.model", kind, 310, 1.0)
        models.append((tmp_path / "t.model").read_bytes())
    assert models[0] == models[1]


def test_missing_model_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.model"
    message = f"{path}: is missing or not a SentencePiece model; run `jumok prepare` again"
    with pytest.raises(TokenizerError, match=f"^{re.escape(message)}$"):
        Tokenizer(path)


def test_damaged_model_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.model"
    path.write_bytes(b"not a model")
    message = f"{path}: is missing or not a SentencePiece model; run `jumok prepare` again"
    with pytest.raises(TokenizerError, match=f"^{re.escape(message)}$"):
        Tokenizer(path)
