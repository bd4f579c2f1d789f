"""One spelling for one text, on one line."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jumok.text.normalization import normalize


def test_hangul_typed_as_jamo_is_composed() -> None:
    jamo = unicodedata.normalize("NFD", "한국어 갔었어")
    assert len(jamo) > len("한국어 갔었어")
    assert normalize(jamo) == "한국어 갔었어"


def test_letter_and_combining_accent_are_composed() -> None:
    assert normalize("u\u0308ber cafe\u0301") == "über café"


def test_compatibility_characters_stay_as_they_are() -> None:
    assert normalize("ﬁ ① ２ ㎏") == "ﬁ ① ２ ㎏"


@pytest.mark.parametrize("end", ["\r", "\n", "\r\n", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"])
def test_inner_line_end_becomes_a_space(end: str) -> None:
    assert normalize(f"a{end}b") == "a b"


def test_spaces_at_the_ends_go_and_inside_stay() -> None:
    assert normalize(" \t\u3000a  b\u00a0\n") == "a  b"


@given(st.text())
def test_result_is_one_line_for_every_tool_and_stable(text: str) -> None:
    result = normalize(text)
    assert len(result.splitlines()) == (1 if result else 0)
    assert normalize(result) == result
