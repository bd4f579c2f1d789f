"""How much the grammar can say, counted from its own tables."""

from .conjugation import LEVELS
from .people import OTHERS
from .times import PAST_TIMES
from .verbs import TRANSITIVE


def count_lower_bound() -> int:
    """Count only statements in the past of the shape subject, time, place, object, verb.

    Each choice shows in the Korean (no two subjects, times, places, objects or endings are spelled alike), so
    every one counted is a sentence of its own. Questions, negation, modes, adjectives, numbers, company, joined
    clauses and all other constructions come on top.
    """
    frames = {
        (verb.lemma, noun.korean, place.korean)
        for verb in TRANSITIVE
        if not verb.traits & {"state", "youthful", "adult"}
        for noun in verb.objects
        if "alcohol" not in noun.classes
        for place in verb.places
    }
    subjects = [person for person in OTHERS if person.lemma != "손님"]
    return len(frames) * len(subjects) * len(PAST_TIMES) * len(LEVELS)
