"""The splits: sizes, no leaks, coverage, frequencies, and that Korean decides the English."""

import os
import random
import subprocess
import sys
from collections import Counter

import pytest

from jumok.data import phrasebook
from jumok.data.phrasebook import sampling
from jumok.data.phrasebook.adjectives import ADJECTIVES, PEOPLE_ADJECTIVES, WEATHER
from jumok.data.phrasebook.clauses import Sentence
from jumok.data.phrasebook.nouns import NOUNS
from jumok.data.phrasebook.people import JOB, OTHERS
from jumok.data.phrasebook.places import PLACES
from jumok.data.phrasebook.scenes import went_and_saw
from jumok.data.phrasebook.times import DEGREES, FREQUENCIES, MANNERS
from jumok.data.phrasebook.verbs import VERBS

SIZES = {"train": 20_000, "valid": 500, "test": 500, "composition": 200}


@pytest.fixture(scope="module")
def splits() -> dict[str, list[Sentence]]:
    return sampling.sample_sentences(1)


@pytest.fixture(scope="module")
def held_out() -> frozenset[tuple[str, str]]:
    return sampling.choose_held_out(random.Random(1))


def test_sizes(splits: dict[str, list[Sentence]]) -> None:
    assert {name: len(sentences) for name, sentences in splits.items()} == SIZES


def test_no_source_twice_and_no_composition_target_in_training(splits: dict[str, list[Sentence]]) -> None:
    sources = [sentence.korean for sentences in splits.values() for sentence in sentences]
    assert len(sources) == len(set(sources))
    known = {sentence.english for sentence in splits["train"]}
    assert not known & {sentence.english for sentence in splits["composition"]}


def test_composition_holds_only_unseen_combinations_of_well_known_words(
    splits: dict[str, list[Sentence]], held_out: frozenset[tuple[str, str]]
) -> None:
    assert len(held_out) >= 40
    for name in ("train", "valid", "test"):
        assert not any(sampling.touches(sentence, held_out) for sentence in splits[name])
    assert all(sentence.combinations & held_out for sentence in splits["composition"])
    counts = Counter(word for sentence in splits["train"] for word in sentence.words)
    assert all(counts[word] >= 25 for pair in held_out for word in pair)
    unseen = {word for sentence in splits["composition"] for word in sentence.words} - set(counts)
    assert not unseen


def test_every_word_is_met_often_enough(splits: dict[str, list[Sentence]]) -> None:
    counts = Counter(word for sentence in splits["train"] for word in sentence.words)
    lexicon = {noun.korean for noun in NOUNS} | {place.korean for place in PLACES} | set(JOB)
    lexicon |= {verb.lemma for verb in VERBS} | {a.lemma for a in (*ADJECTIVES, *PEOPLE_ADJECTIVES, *WEATHER)}
    lexicon |= {person.lemma for person in OTHERS if person.kind != "name"}
    lexicon |= {adverb.korean for adverb in (*DEGREES, *FREQUENCIES, *MANNERS.values())}
    assert len(lexicon) >= 380
    assert {word: counts[word] for word in lexicon if counts[word] < 15} == {}
    assert min(counts.values()) >= 15


def test_all_levels_and_constructions_occur(splits: dict[str, list[Sentence]]) -> None:
    levels = Counter(sentence.level for sentence in splits["train"])
    assert min(levels["casual"], levels["polite"], levels["formal"]) > 3_000
    constructions = Counter(sentence.construction for sentence in splits["train"])
    assert len(constructions) >= 30 and min(constructions.values()) >= 50
    relatives = sum(". 거기 " in sentence.korean for sentence in splits["train"])
    assert 0.02 <= relatives / SIZES["train"] <= 0.05


def test_every_particle_by_final_consonant_occurs(splits: dict[str, list[Sentence]]) -> None:
    means = [s for s in splits["train"] if s.construction in ("means of travel", "tool", "language", "direction")]
    assert 0.02 <= len(means) / SIZES["train"] <= 0.05
    words = Counter(word for sentence in splits["train"] for word in sentence.korean.split())
    # After a consonant, after a vowel, and after ㄹ, which counts as open.
    for word in ("볼펜으로", "젓가락으로", "버스로", "한국어로", "지하철로", "연필로", "칼로", "서울로"):
        assert words[word] >= 5, word
    for pair in (("은", "는"), ("이", "가"), ("을", "를"), ("과", "와")):
        assert all(any(word.endswith(particle) for word in words) for particle in pair)


def test_korean_decides_the_english() -> None:
    rng = random.Random(7)
    english: dict[str, str] = {}
    for _ in range(20_000):
        sentence = sampling.generate_sentence(rng)
        assert english.setdefault(sentence.korean, sentence.english) == sentence.english


def test_the_sample_sentence_follows_from_the_rules_but_is_kept_out(splits: dict[str, list[Sentence]]) -> None:
    korean, target = phrasebook.SAMPLE_SENTENCE
    rng = random.Random(1)
    drawn = (went_and_saw(rng) for _ in range(200_000))
    assert next(sentence.english for sentence in drawn if sentence.korean == korean) == target
    for sentences in splits.values():
        assert all(sentence.korean != korean and sentence.english != target for sentence in sentences)


# Everything random in the corpus, in small: the held-out combinations, and sentences of every construction.
_DIGEST = """
import hashlib, random
from jumok.data.phrasebook import sampling
rng = random.Random(1)
drawn = [sampling.generate_sentence(rng) for _ in range(2_000)]
told = [(s.korean, s.english, sorted(s.words), sorted(s.combinations)) for s in drawn]
told.append(sorted(sampling.choose_held_out(random.Random(1))))
digest = hashlib.sha256(repr(told).encode()).hexdigest()
"""


def test_the_sample_is_a_pure_function_of_the_seed(splits: dict[str, list[Sentence]]) -> None:
    assert phrasebook.split("test") == [(s.korean, s.english) for s in splits["test"]]
    environment = {**os.environ, "PYTHONHASHSEED": "123", "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", _DIGEST + "print(digest)"]
    other = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    here: dict[str, str] = {}
    exec(_DIGEST, here)
    assert other.stdout.strip() == here["digest"]


def test_splits_by_name() -> None:
    pairs = phrasebook.split("valid")
    pairs.clear()
    assert len(phrasebook.split("valid")) == SIZES["valid"]
    with pytest.raises(ValueError, match="expected one of train, valid, test, composition; found 'dev'"):
        phrasebook.split("dev")


def test_generate_gives_a_pair() -> None:
    assert phrasebook.generate(random.Random(4)) == phrasebook.generate(random.Random(4))


def test_more_than_a_million_pairs() -> None:
    assert phrasebook.count_lower_bound() > 1_000_000
