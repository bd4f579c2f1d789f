"""English inflection: verbs, nouns, articles, comparison, and the finite verb with its auxiliaries."""

from dataclasses import dataclass
from functools import cache
from typing import Literal

from .tables import words

Agreement = Literal["I", "you", "it", "they"]
Tense = Literal["past", "present", "future"]
Mode = Literal["plain", "progressive", "want", "can", "must", "experience"]

# Base, past, past participle.
_IRREGULAR_TABLE = """
be was been; become became become; begin began begun; break broke broken; bring brought brought;
build built built; buy bought bought; catch caught caught; choose chose chosen; come came come; cut cut cut;
do did done; draw drew drawn; drink drank drunk; drive drove driven; eat ate eaten; fall fell fallen;
feed fed fed; find found found; forget forgot forgotten; get got gotten; give gave given; go went gone;
grow grew grown; hang hung hung; have had had; hear heard heard; keep kept kept; know knew known;
leave left left; lend lent lent; lie lay lain; lose lost lost; make made made; meet met met; put put put;
read read read; ride rode ridden; run ran run; say said said; see saw seen; sell sold sold; send sent sent;
sing sang sung; sit sat sat; sleep slept slept; speak spoke spoken; spend spent spent; stand stood stood;
swim swam swum; take took taken; teach taught taught; think thought thought; throw threw thrown;
understand understood understood; wake woke woken; wear wore worn; win won won; write wrote written
"""
_IRREGULAR_VERBS: dict[str, tuple[str, str]] = {
    base: (past, done) for base, past, done in (row.split() for row in _IRREGULAR_TABLE.split(";"))
}
_DOUBLING = words("beg chat drop fit get hug jog pat plan put run shop sit stop swim cut win wrap begin")
_IRREGULAR_PLURALS = {
    "child": "children", "person": "people", "man": "men", "woman": "women", "foot": "feet", "tooth": "teeth",
    "fish": "fish", "knife": "knives", "shelf": "shelves", "leaf": "leaves", "sheep": "sheep", "goose": "geese",
    "potato": "potatoes", "sweet potato": "sweet potatoes", "tomato": "tomatoes",
}  # fmt: skip
_IRREGULAR_COMPARATIVES = {"good": "better", "bad": "worse", "far": "farther", "fun": "more fun"}
# Long words compare with "more"; these two-syllable ones do not.
_SHORT_TWO_SYLLABLES = words("quiet narrow clever")
# Spelled with a vowel letter but spoken with a consonant, and the other way round.
_SPOKEN_CONSONANT = ("uni", "use", "eu", "one ")
_SPOKEN_VOWEL = ("hour", "honest")
NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def article(phrase: str) -> str:
    """Put a or an before a phrase, by its sound."""
    spoken_vowel = phrase[0] in "aeiou" and not phrase.startswith(_SPOKEN_CONSONANT)
    return ("an " if spoken_vowel or phrase.startswith(_SPOKEN_VOWEL) else "a ") + phrase


def plural(noun: str) -> str:
    """Make a noun plural; of several words the last."""
    for singular, many in _IRREGULAR_PLURALS.items():
        if noun == singular or noun.endswith(" " + singular):
            return noun[: len(noun) - len(singular)] + many
    if noun.endswith(("s", "x", "ch", "sh")):
        return noun + "es"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + "s"


def third_person(verb: str) -> str:
    """Eat → eats, go home → goes home."""
    head, space, rest = verb.partition(" ")
    if head in ("be", "have"):
        return {"be": "is", "have": "has"}[head] + space + rest
    if head.endswith("y") and head[-2] not in "aeiou":
        return head[:-1] + "ies" + space + rest
    return head + ("es" if head.endswith(("s", "x", "ch", "sh", "o")) else "s") + space + rest


def _regular_past(head: str) -> str:
    if head in _DOUBLING:
        return head + head[-1] + "ed"
    if head.endswith("y") and head[-2] not in "aeiou":
        return head[:-1] + "ied"
    return head + ("d" if head.endswith("e") else "ed")


def past_tense(verb: str) -> str:
    """Eat → ate, take a walk → took a walk."""
    head, space, rest = verb.partition(" ")
    return (_IRREGULAR_VERBS[head][0] if head in _IRREGULAR_VERBS else _regular_past(head)) + space + rest


def participle(verb: str) -> str:
    """Eat → eaten, take a walk → taken a walk."""
    head, space, rest = verb.partition(" ")
    return (_IRREGULAR_VERBS[head][1] if head in _IRREGULAR_VERBS else _regular_past(head)) + space + rest


def gerund(verb: str) -> str:
    """Eat → eating, take a walk → taking a walk."""
    head, space, rest = verb.partition(" ")
    if head in _DOUBLING:
        head += head[-1]
    elif head.endswith("ie"):
        head = head[:-2] + "y"
    elif head.endswith("e") and not head.endswith("ee") and head != "be":
        head = head[:-1]
    return head + "ing" + space + rest


def comparative(adjective: str) -> str:
    """Big → bigger, happy → happier, beautiful → more beautiful."""
    if adjective in _IRREGULAR_COMPARATIVES:
        return _IRREGULAR_COMPARATIVES[adjective]
    vowel_groups = sum(
        letter in "aeiouy" and (i == 0 or adjective[i - 1] not in "aeiouy") for i, letter in enumerate(adjective)
    ) - (adjective.endswith("e") and not adjective.endswith("le"))
    if adjective.endswith("y") and vowel_groups <= 2 and adjective[-2] not in "aeiou":
        return adjective[:-1] + "ier"
    is_short = vowel_groups == 1 or adjective in _SHORT_TWO_SYLLABLES
    if not is_short and not (vowel_groups == 2 and adjective.endswith("le")):
        return "more " + adjective
    if adjective.endswith("e"):
        return adjective + "r"
    is_closed = adjective[-1] not in "aeiouwxy" and adjective[-2] in "aeiou" and adjective[-3:-2] not in "aeiou"
    return adjective + (adjective[-1] + "er" if is_closed else "er")


_BE = {
    ("I", "present"): "am", ("I", "past"): "was", ("it", "present"): "is", ("it", "past"): "was",
    ("you", "present"): "are", ("you", "past"): "were", ("they", "present"): "are", ("they", "past"): "were",
}  # fmt: skip
_NOT = {"am": "am not", "will": "won't", "can": "can't"}


@dataclass(frozen=True)
class Finite:
    """A finite verb in two parts, so that a question can put its subject between them."""

    auxiliary: str
    rest: str

    def statement(self, subject: str, adverb: str = "") -> str:
        """I will often eat."""
        return " ".join(part for part in (subject, self.auxiliary, adverb, self.rest) if part)

    def question(self, subject: str, adverb: str = "") -> str:
        """Ask: will you often eat."""
        return " ".join(part for part in (self.auxiliary, subject, adverb, self.rest) if part)


@cache
def finite(
    verb: str,
    agreement: Agreement,
    tense: Tense = "present",
    mode: Mode = "plain",
    *,
    negated: bool = False,
    question: bool = False,
) -> Finite:
    """Inflect a verb (its first word; the rest follows) with do-support, be, have and the modals."""
    auxiliary = ""
    if mode == "experience":
        auxiliary, verb = ("has" if agreement == "it" else "have"), participle(verb)
    elif mode == "can" and tense != "future":
        auxiliary = "could" if tense == "past" else "can"
    else:
        if mode == "progressive":
            verb = "be " + gerund(verb)
        elif mode == "can":
            verb = "be able to " + verb
        elif mode in ("want", "must"):
            verb = ("want to " if mode == "want" else "have to ") + verb
        if tense == "future":
            auxiliary = "will"
        elif verb.split()[0] == "be":
            auxiliary, verb = _BE[agreement, tense], verb[len("be ") :]
        elif negated or question:
            auxiliary = "did" if tense == "past" else ("does" if agreement == "it" else "do")
        else:
            verb = past_tense(verb) if tense == "past" else third_person(verb) if agreement == "it" else verb
    if negated:
        auxiliary = _NOT.get(auxiliary, auxiliary + "n't")
    return Finite(auxiliary, verb)


def capitalise(sentence: str) -> str:
    """Give a sentence its capital letter."""
    return sentence[0].upper() + sentence[1:]
