"""Splitting long texts: nothing is lost, nothing is too long."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jumok.text.sentences import join_parts, split_long, split_sentences
from jumok.text.tokenizer import Tokenizer

TEXTS = st.text(alphabet=st.sampled_from("ab 한글。！？」』.!?…\"'”’) \u3000\t日本é😀"), max_size=120)


def without_space(text: str) -> str:
    return re.sub(r"\s+", "", text)


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        (
            "어제 카페에 갔었어. 거기 사람이 많더라. 왜?",
            ["어제 카페에 갔었어.", "거기 사람이 많더라.", "왜?"],
        ),
        ("昨日行った。楽しかった！本当？", ["昨日行った。", "楽しかった！", "本当？"]),
        ("「もう行く。」と言った。彼は（はい。）", ["「もう行く。」", "と言った。", "彼は（はい。）"]),
        ("何？！まさか。", ["何？！", "まさか。"]),
        ('Er sagte: "Komm." Dann ging er. Wohin?', ['Er sagte: "Komm."', "Dann ging er.", "Wohin?"]),
        ("„Gut.“ Ja.", ["„Gut.“", "Ja."]),
        ("Es kostet 3.50 Euro... Wirklich!?", ["Es kostet 3.50 Euro...", "Wirklich!?"]),
        ("Nichts am Ende", ["Nichts am Ende"]),
        ("a.b.c", ["a.b.c"]),
        ("", []),
        (" . ", ["."]),
    ],
)
def test_sentences_end_where_a_reader_would_end_them(text: str, sentences: list[str]) -> None:
    assert split_sentences(text) == sentences


@given(TEXTS)
def test_splitting_into_sentences_loses_nothing_but_white_space(text: str) -> None:
    assert without_space("".join(split_sentences(text))) == without_space(text)


@given(TEXTS | st.text(max_size=80), st.integers(1, 30))
def test_split_long_loses_nothing_but_white_space(text: str, limit: int) -> None:
    parts = split_long(text, limit, lambda part: len(without_space(part)))
    assert without_space("".join(parts)) == without_space(text)


@given(TEXTS, st.integers(1, 30))
def test_no_part_is_above_the_limit(text: str, limit: int) -> None:
    parts = split_long(text, limit, lambda part: len(without_space(part)))
    assert all(len(without_space(part)) <= limit for part in parts)


def test_short_text_is_left_alone() -> None:
    assert split_long("One.  Two.", 100, len) == ["One.  Two."]


def test_neighbouring_sentences_share_a_part_while_they_fit() -> None:
    def count(part: str) -> int:
        return len(part.split())

    text = "One two. Three four. Five six seven. Eight."
    assert split_long(text, 4, count) == ["One two. Three four.", "Five six seven. Eight."]
    assert split_long(text, 3, count) == ["One two.", "Three four.", "Five six seven.", "Eight."]


def test_character_that_is_too_long_by_itself_is_kept_whole() -> None:
    assert split_long("😀😀", 1, lambda part: 4 * len(part)) == ["😀", "😀"]


def test_line_of_100_000_characters_is_split_and_whole(tokenizer: Tokenizer) -> None:
    def count(part: str) -> int:
        return len(tokenizer.encode([part])[0])

    for text in ("카페에 갔어요. " * 12_500, "카" * 100_000, "word " * 20_000):
        parts = split_long(text.strip(), 200, count)
        assert max(map(count, parts)) <= 200
        assert without_space("".join(parts)) == without_space(text)


@given(TEXTS)
def test_parts_counted_by_the_tokenizer_are_within_the_limit(tokenizer: Tokenizer, text: str) -> None:
    def count(part: str) -> int:
        return len(tokenizer.encode([part])[0])

    parts = split_long(text, 8, count)
    assert all(count(part) <= 8 for part in parts)


@pytest.mark.parametrize(
    ("target", "joined"),
    [("en", "A. B."), ("ko", "A. B."), ("ja", "A.B."), ("zh", "A.B."), ("zh-CN", "A.B."), ("xx", "A. B.")],
)
def test_parts_are_joined_as_the_target_language_writes(target: str, joined: str) -> None:
    assert join_parts(["A.", "", "B."], target) == joined
