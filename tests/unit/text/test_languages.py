"""What the program knows about a language."""

from __future__ import annotations

import pytest

from jumok.text.languages import language


@pytest.mark.parametrize(("code", "base"), [("ko", "ko"), ("en-GB", "en"), ("zh_CN", "zh"), ("KO", "ko")])
def test_region_and_case_do_not_matter(code: str, base: str) -> None:
    assert language(code).code == base


@pytest.mark.parametrize("code", ["ko", "ja", "zh"])
def test_rare_characters_of_large_scripts_are_left_to_bytes(code: str) -> None:
    assert language(code).character_coverage == 0.9995


def test_unknown_language_is_like_english() -> None:
    unknown = language("tlh")
    assert (unknown.code, unknown.has_spaces, unknown.character_coverage) == ("tlh", True, 1.0)


def test_length_is_counted_in_words_or_characters() -> None:
    korean, japanese = language("ko"), language("ja")
    assert (korean.length_of("나는 집에 간다"), korean.unit_of_length) == (3, "words")
    assert (japanese.length_of("私は行く"), japanese.unit_of_length) == (4, "characters")
