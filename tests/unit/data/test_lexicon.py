from __future__ import annotations

import random

import pytest

from jumok.data.lexicon import learn_lexicon, read_lexicon, write_lexicon
from jumok.errors import DataError

NUMBERS = {"eins": "one", "zwei": "two", "drei": "three", "vier": "four", "fünf": "five", "sechs": "six", "Rom": "Rom"}


def test_words_that_go_together_are_found_though_they_never_stand_alone():
    rng = random.Random(1)
    pairs = []
    for _ in range(200):
        words = rng.sample(sorted(NUMBERS), 4)
        translated = [NUMBERS[word] for word in words]
        rng.shuffle(translated)  # places tell nothing
        pairs.append((f"Das ({' '.join(words)}).", f"{' '.join(translated)}!"))
    lexicon = learn_lexicon(pairs)
    assert {word: lexicon.get(word, word) for word in NUMBERS} == NUMBERS
    assert "Rom" not in lexicon  # it would be copied anyway
    assert not any(mark in lexicon for mark in "().")


def test_a_word_seen_once_is_found_where_the_others_are_known():
    pairs = [("ein Hund", "a dog"), ("ein Haus", "a house"), ("ein Hund", "a dog"), ("ein Haus", "a house")]
    assert learn_lexicon([*pairs, ("ein Zug", "a train")])["Zug"] == "train"


def test_nothing_is_learned_from_nothing_or_from_what_has_no_words():
    assert learn_lexicon([]) == {}
    assert learn_lexicon([("...", "!")]) == {}


def test_a_word_without_a_clear_translation_has_none():
    assert learn_lexicon([("doch", f"word{i}") for i in range(60)]) == {}


def test_a_lexicon_is_written_and_read(tmp_path):
    path = tmp_path / "lexicon.tsv"
    assert read_lexicon(path) == {}
    write_lexicon({"집": "house", "개": "dog"}, path)
    assert path.read_text() == "개\tdog\n집\thouse\n"
    assert read_lexicon(path) == {"개": "dog", "집": "house"}
    path.write_text("개\tdog\n집 house\n")
    message = r"lexicon.tsv:2: expected a source word, a tab and a target word; mend or remove the line$"
    with pytest.raises(DataError, match=message):
        read_lexicon(path)
    path.write_bytes(b"\xff")
    with pytest.raises(DataError, match=r"lexicon.tsv: cannot be read \(.*\); copy it from the run again, or remove"):
        read_lexicon(path)
