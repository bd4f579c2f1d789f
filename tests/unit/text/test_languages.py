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
