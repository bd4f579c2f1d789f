"""Words that differ are marked, and no text is lost."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from jumok.inspection.difference import mark_differences


def test_other_word_is_marked() -> None:
    left, right = mark_differences("I don't like tea.", "I like green tea.")
    assert left == [("I", False), (" ", False), ("don't", True), (" like", False), (" tea.", False)]
    assert [text for text, differs in right if differs] == ["green"]


def test_script_without_spaces_is_compared_by_characters() -> None:
    left, right = mark_differences("私は猫です", "私は犬です", has_spaces=False)
    assert [text for text, differs in left if differs] == ["猫"]
    assert [text for text, differs in right if differs] == ["犬"]


@given(st.text(), st.text(), st.booleans())
def test_parts_make_up_the_text(text: str, other: str, has_spaces: bool) -> None:
    left, right = mark_differences(text, other, has_spaces)
    assert "".join(part for part, _ in left) == text
    assert "".join(part for part, _ in right) == other


@given(st.text())
def test_equal_texts_have_no_mark(text: str) -> None:
    left, right = mark_differences(text, text)
    assert not any(differs for _, differs in left + right)
