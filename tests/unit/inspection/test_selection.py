"""What somebody chose: found if it is there, refused in one line if it is not."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from jumok.errors import UsageError
from jumok.inspection.kinds import Kind
from jumok.inspection.labels import Span
from jumok.inspection.selection import ChosenWord, Selection, choose_word, strongest_links
from jumok.inspection.trace import AttentionRecord, AttentionTrace

SOURCE, TARGET = ["▁어제", "▁카페", "에", "▁갔어요", ".", "</s>"], ["▁I", "▁went", "▁to", "▁the", "▁the", "."]


@pytest.fixture
def made() -> AttentionTrace:
    """Two layers of two heads: everything looks at 카페 in the first, at the first piece in the second."""
    weights = np.zeros((2, 2, len(TARGET) + 1, len(SOURCE)), dtype=np.float32)
    weights[0, :, :, 1], weights[0, :, :, 2], weights[1, :, :, 0] = 0.5, 0.5, 1
    cross = [AttentionRecord(layer) for layer in weights]
    return AttentionTrace(SOURCE, ["<s>", *TARGET], [*TARGET, "</s>"], [], [], cross)


def test_links_are_between_words_and_sum_over_pieces(made: AttentionTrace) -> None:
    links = strongest_links(made, Selection.of(made, "cross", [0]))
    assert [(link.word.text, link.looks_at.text, link.weight) for link in links] == [
        (word, "카페에", 1.0) for word in ("I", "went", "to", "the", "the.")
    ]
    both = strongest_links(made, Selection.of(made, "cross"))[0]  # 어제 and 카페에 get one half each
    assert (both.looks_at.text, both.weight) == ("어제", 0.5)


def test_nothing_to_look_at_gives_no_links(made: AttentionTrace) -> None:
    empty = dataclasses.replace(made, src_pieces=["</s>"], cross=[AttentionRecord(np.ones((2, 7, 1), np.float32))])
    assert strongest_links(empty, Selection.of(empty, "cross")) == []


def test_selected_weights(made: AttentionTrace) -> None:
    chosen = Selection.of(made, "cross", [1], [0])
    [weights] = chosen.weights(made)
    assert weights.shape == (1, 7, 6) and (weights[..., 0] == 1).all()


@pytest.mark.parametrize(
    ("kind", "layers", "heads", "message"),
    [
        ("encoder", None, None, "kind encoder: this model has cross attention only"),
        ("cross", [2], None, "no layer of cross attention has number 3; there are 1 to 2"),
        ("cross", None, [0, 7], "no head in a layer has number 8; there are 1 to 2"),
    ],
)
def test_what_is_not_there_is_refused(
    made: AttentionTrace, kind: Kind, layers: list[int] | None, heads: list[int] | None, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        Selection.of(made, kind, layers, heads)


def test_word_by_number_and_by_text(made: AttentionTrace) -> None:
    assert choose_word(made, "cross", "2").span.text == "went"
    assert choose_word(made, "cross", "WENT").span == choose_word(made, "cross", "2").span
    found = choose_word(made, "cross", "카페")  # of the other side
    assert found.is_looked_at and (found.span.start, found.span.end) == (1, 2)
    assert choose_word(made, "cross", "</s>") == ChosenWord(Span("</s>", 6, 7))


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("9", "word 9: “I went to the the.” has words 1 to 5; choose one of them"),
        ("0", "word 0: “I went to the the.” has words 1 to 5; choose one of them"),
        ("train", "word train: is not in “I went to the the.” nor in “어제 카페에 갔어요.”; choose one that is, or"),
        ("the", "word the: stands in “I went to the the.” as word 4 and 5; give the number"),
        ("", "word : is not in"),
    ],
)
def test_word_that_is_not_there_or_there_twice(made: AttentionTrace, word: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        choose_word(made, "cross", word)
