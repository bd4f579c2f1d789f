"""How much the grammar can say, counted from its own tables."""

from .conjugation import LEVELS
from .drawing import fitting_places, suits
from .people import OTHERS
from .times import GREAT_TIMES, SMALL_TIMES
from .verbs import TRANSITIVE

# What cannot be said plainly of yesterday and tomorrow, or only with times of its own.
_SET_ASIDE = frozenset({"state", "ongoing", "accident", "instant"})


def count_lower_bound() -> int:
    """Count only statements and questions of the shape subject, time, place, object, verb, in past and future.

    Each choice shows in the Korean: no two subjects, times, places, objects or endings are spelled alike, a question
    has its mark, and a frame listed twice is counted once, so every one counted is a sentence of its own. Negation,
    modes, adjectives, numbers, company, joined clauses and all other constructions come on top.
    """
    times = {
        verb: sum(len((GREAT_TIMES if "great" in verb.traits else SMALL_TIMES)[tense]) for tense in ("past", "future"))
        for verb in TRANSITIVE
        if not verb.traits & _SET_ASIDE
    }
    sentences = {
        (person.lemma, place.korean, noun.korean, verb.lemma): num_times
        for verb, num_times in times.items()
        for noun in verb.objects
        for person in OTHERS
        if suits(person, verb, noun)
        for place in fitting_places(verb, person)
    }
    return 2 * len(LEVELS) * sum(sentences.values())
