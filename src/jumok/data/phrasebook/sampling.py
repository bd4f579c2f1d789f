"""The splits: a pure function of the seed, without leaks, with word combinations kept out for the last one."""

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from . import actions, asking, describing, joining, means, relating, scenes, speaking
from .clauses import Sentence

Pair = tuple[str, str]
Combination = tuple[str, str]

SAMPLE_SENTENCE: Pair = (
    "어제 카페에 갔었어. 거기 사람이 많더라.",
    "I went to the cafe yesterday. There were many people there.",
)
# The sample must be within reach of what is trained on, so its combinations are never held out.
_SAMPLE_WORDS = frozenset({"어제", "카페", "가다", "사람", "많다"})
TRAIN_SIZE, VALID_SIZE, TEST_SIZE, COMPOSITION_SIZE = 20_000, 500, 500, 200

CONSTRUCTIONS: tuple[tuple[Callable[[random.Random], Sentence], int], ...] = (
    *actions.CONSTRUCTIONS,
    *describing.CONSTRUCTIONS,
    *speaking.CONSTRUCTIONS,
    *asking.CONSTRUCTIONS,
    *joining.CONSTRUCTIONS,
    *relating.CONSTRUCTIONS,
    *scenes.CONSTRUCTIONS,
    *means.CONSTRUCTIONS,
)
_DRAWS = [draw for draw, _ in CONSTRUCTIONS]
_WEIGHTS = [weight for _, weight in CONSTRUCTIONS]

# How much is looked at to choose the combinations to hold out, and how many are chosen.
_SURVEY_SIZE = 6_000
_HELD_OUT = 60
# A word keeps at least this share of its occurrences when its combination is held out.
_LARGEST_SHARE = 0.2
_FEWEST_IN_SURVEY = 15
_FEWEST_OCCURRENCES = 26
# After this share of the corpus only sentences with words still rarer than that are taken, for so many attempts.
_FREE_SHARE = 0.85
_ATTEMPTS_FOR_RARE_WORDS = 36_000


@dataclass(frozen=True)
class Phrasebook:
    """The embedded corpus: (Korean, English) pairs in four parts."""

    train: list[Pair]
    valid: list[Pair]
    test: list[Pair]
    composition: list[Pair]


def generate_sentence(rng: random.Random) -> Sentence:
    """Draw one sentence of any construction."""
    return rng.choices(_DRAWS, _WEIGHTS)[0](rng)


def generate(rng: random.Random) -> Pair:
    """Draw one (Korean, English) pair."""
    sentence = generate_sentence(rng)
    return sentence.korean, sentence.english


def choose_held_out(rng: random.Random) -> frozenset[Combination]:
    """Choose combinations that are frequent enough to be met and rare enough for both words to be missed nowhere."""
    survey = [generate_sentence(rng) for _ in range(_SURVEY_SIZE)]
    words = Counter(word for sentence in survey for word in sentence.words)
    together: Counter[Combination] = Counter()
    for sentence in survey:
        together.update(sentence.combinations)
    candidates = sorted(
        pair
        for pair, count in together.items()
        if count >= 2
        and not (pair[0] in _SAMPLE_WORDS and pair[1] in _SAMPLE_WORDS)
        and min(words[pair[0]], words[pair[1]]) >= _FEWEST_IN_SURVEY
        and count <= _LARGEST_SHARE * min(words[pair[0]], words[pair[1]])
    )
    rng.shuffle(candidates)
    chosen: list[Combination] = []
    used: Counter[str] = Counter()
    for predicate, noun in candidates:
        # No word loses more than one noun or two predicates, so that none becomes rare.
        if used[noun] == 0 and used[predicate] < 3 and len(chosen) < _HELD_OUT:
            chosen.append((predicate, noun))
            used.update((predicate, noun))
    return frozenset(chosen)


def touches(sentence: Sentence, held_out: frozenset[Combination]) -> bool:
    """Whether both words of a held-out combination stand anywhere in the sentence, bound by grammar or not."""
    return any(first in sentence.words and second in sentence.words for first, second in held_out)


@lru_cache(maxsize=2)
def sample_sentences(seed: int = 1) -> dict[str, list[Sentence]]:
    """The four splits as sentences, with their words and combinations."""
    rng = random.Random(seed)
    held_out = choose_held_out(rng)
    seen = {SAMPLE_SENTENCE[0]}
    occurrences: Counter[str] = Counter()
    ordinary: list[Sentence] = []
    novel: list[Sentence] = []
    size = TRAIN_SIZE + VALID_SIZE + TEST_SIZE
    attempts_for_rare_words = _ATTEMPTS_FOR_RARE_WORDS
    while len(ordinary) < size or len(novel) < 2 * COMPOSITION_SIZE:
        sentence = generate_sentence(rng)
        if sentence.korean in seen or sentence.english == SAMPLE_SENTENCE[1]:
            continue
        if len(ordinary) >= _FREE_SHARE * size and attempts_for_rare_words > 0:
            attempts_for_rare_words -= 1
            is_wanted = any(occurrences[word] < _FEWEST_OCCURRENCES for word in sentence.words)
        else:
            is_wanted = True
        if sentence.combinations & held_out:
            seen.add(sentence.korean)
            novel.append(sentence)
        elif is_wanted and len(ordinary) < size and not touches(sentence, held_out):
            seen.add(sentence.korean)
            ordinary.append(sentence)
            occurrences.update(sentence.words)
    rng.shuffle(ordinary)
    train = ordinary[:TRAIN_SIZE]
    known = {sentence.english for sentence in train}
    composition = [sentence for sentence in novel if sentence.english not in known]
    rng.shuffle(composition)
    return {
        "train": train,
        "valid": ordinary[TRAIN_SIZE : TRAIN_SIZE + VALID_SIZE],
        "test": ordinary[TRAIN_SIZE + VALID_SIZE :],
        "composition": composition[:COMPOSITION_SIZE],
    }


def sample(seed: int = 1) -> Phrasebook:
    """Make the whole corpus; the same seed always makes the same one."""
    parts = {
        name: [(sentence.korean, sentence.english) for sentence in sentences]
        for name, sentences in sample_sentences(seed).items()
    }
    return Phrasebook(parts["train"], parts["valid"], parts["test"], parts["composition"])


def split(name: str, seed: int = 1) -> list[Pair]:
    """One split by name: train, valid, test or composition."""
    if name not in ("train", "valid", "test", "composition"):
        raise ValueError(f"expected one of train, valid, test, composition; found {name!r}")
    return [(sentence.korean, sentence.english) for sentence in sample_sentences(seed)[name]]
