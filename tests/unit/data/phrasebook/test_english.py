"""English inflection against tables checked by hand."""

import pytest

from jumok.data.phrasebook import english as en
from jumok.data.phrasebook.verbs import VERBS


@pytest.mark.parametrize(
    "row",
    [
        "eat eats ate eaten eating",
        "go goes went gone going",
        "study studies studied studied studying",
        "play plays played played playing",
        "watch watches watched watched watching",
        "wash washes washed washed washing",
        "fix fixes fixed fixed fixing",
        "swim swims swam swum swimming",
        "run runs ran run running",
        "get gets got gotten getting",
        "cut cuts cut cut cutting",
        "shop shops shopped shopped shopping",
        "lie lies lay lain lying",
        "write writes wrote written writing",
        "make makes made made making",
        "bake bakes baked baked baking",
        "choose chooses chose chosen choosing",
        "wear wears wore worn wearing",
        "teach teaches taught taught teaching",
        "buy buys bought bought buying",
        "read reads read read reading",
        "have has had had having",
        "do does did done doing",
        "order orders ordered ordered ordering",
        "cry cries cried cried crying",
        "visit visits visited visited visiting",
    ],
)
def test_verb_forms(row: str) -> None:
    base, third, past, done, ing = row.split()
    assert [f(base) for f in (en.third_person, en.past_tense, en.participle, en.gerund)] == [third, past, done, ing]


def test_only_the_first_word_of_a_verb_changes() -> None:
    assert en.past_tense("take a walk") == "took a walk"
    assert en.gerund("turn off") == "turning off"


@pytest.mark.parametrize(
    ("one", "many"),
    [
        ("apple", "apples"),
        ("strawberry", "strawberries"),
        ("toy", "toys"),
        ("watch", "watches"),
        ("dress", "dresses"),
        ("tomato", "tomatoes"),
        ("sweet potato", "sweet potatoes"),
        ("child", "children"),
        ("box", "boxes"),
        ("piece", "pieces"),
    ],
)
def test_plurals(one: str, many: str) -> None:
    assert en.plural(one) == many


@pytest.mark.parametrize(
    "phrase", ["an apple", "a book", "an umbrella", "a university", "an hour", "an expensive bag", "a used car"]
)
def test_articles(phrase: str) -> None:
    assert en.article(phrase.split(" ", 1)[1]) == phrase


@pytest.mark.parametrize(
    ("plain", "more"),
    [
        ("big", "bigger"),
        ("cheap", "cheaper"),
        ("cute", "cuter"),
        ("pretty", "prettier"),
        ("scary", "scarier"),
        ("thin", "thinner"),
        ("slow", "slower"),
        ("noisy", "noisier"),
        ("quiet", "quieter"),
        ("good", "better"),
        ("expensive", "more expensive"),
        ("comfortable", "more comfortable"),
        ("boring", "more boring"),
        ("difficult", "more difficult"),
        ("sour", "sourer"),
    ],
)
def test_comparatives(plain: str, more: str) -> None:
    assert en.comparative(plain) == more


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (en.finite("eat", "it").statement("she"), "she eats"),
        (en.finite("eat", "it", negated=True).statement("she"), "she doesn't eat"),
        (en.finite("eat", "you", "past", question=True).question("you"), "did you eat"),
        (en.finite("be busy", "I").statement("I"), "I am busy"),
        (en.finite("be busy", "I", negated=True).statement("I"), "I am not busy"),
        (en.finite("be busy", "they", "past", negated=True).statement("we"), "we weren't busy"),
        (en.finite("be busy", "it", question=True).question("she"), "is she busy"),
        (en.finite("go", "it", "future", negated=True).statement("he"), "he won't go"),
        (en.finite("go", "it", mode="want").statement("he"), "he wants to go"),
        (en.finite("go", "it", mode="want", question=True).question("he"), "does he want to go"),
        (en.finite("go", "I", mode="can", negated=True).statement("I"), "I can't go"),
        (en.finite("go", "I", "past", "can", negated=True).statement("I"), "I couldn't go"),
        (en.finite("go", "I", "future", "can").statement("I"), "I will be able to go"),
        (en.finite("go", "it", "past", "must").statement("he"), "he had to go"),
        (en.finite("go", "it", mode="must", question=True).question("he"), "does he have to go"),
        (en.finite("go", "they", "past", "progressive").statement("we"), "we were going"),
        (en.finite("eat", "it", mode="experience").statement("he"), "he has eaten"),
        (en.finite("go", "I").statement("I", "often"), "I often go"),
    ],
)
def test_finite_verbs(said: str, expected: str) -> None:
    assert said == expected


# Verbs of the lexicon that really are regular; a new one must be looked at before it joins them.
REGULAR = """
    drink cook bake order memorize receive watch listen learn practice study play finish borrow return look fix use
    open close turn clean raise plant wash prepare like dislike solve reserve help wait call invite talk love rest
    work exercise shop walk dance laugh travel move graduate arrive attend live stop visit cry show
"""


def test_no_irregular_verb_is_inflected_as_a_regular_one() -> None:
    heads = {verb.english.split()[0] for verb in VERBS}
    assert {head for head in heads if en.past_tense(head).endswith("ed")} <= set(REGULAR.split())
