"""How much the grammar can say, counted from its own tables."""

from .conjugation import LEVELS, Tense
from .doers import fitting_places, suits
from .drawing import SMALL_MATTERS
from .nouns import Noun
from .occasions import suits_time
from .people import OTHERS, ROLES
from .times import DAY_FUTURE_TIMES, DAY_PAST_TIMES, GREAT_TIMES, SMALL_TIMES, Time
from .verbs import TRANSITIVE, Verb

# What cannot be said plainly of yesterday and tomorrow, or only with times of its own.
_SET_ASIDE = frozenset({"state", "ongoing", "accident", "instant"})
_TENSES: tuple[Tense, ...] = ("past", "future")


def _times(verb: Verb, noun: Noun, tense: Tense) -> list[Time]:
    if "great" in verb.traits:
        times = GREAT_TIMES[tense][2:3] if "dwelling" in verb.traits else GREAT_TIMES[tense]
    elif "daily" in verb.traits:
        times = DAY_PAST_TIMES if tense == "past" else DAY_FUTURE_TIMES
    else:
        times = SMALL_TIMES[tense]
    return [time for time in times if suits_time(time, verb, noun)]


def count_lower_bound() -> int:
    """Count only statements and questions of the shape subject, time, place, object, verb, in past and future.

    The time and the place may be left unsaid. Each choice shows in the Korean: no two subjects, times, places, objects
    or endings are spelled alike, a question has its mark, and a frame listed twice is counted once, so every one
    counted is a sentence of its own. Subjects are others than speaker and hearer; negation, modes, adjectives,
    numbers, company, joined clauses and all other constructions come on top.
    """
    sentences: dict[tuple[str, ...], int] = {}
    for verb in TRANSITIVE:
        # Another's trifles are told, but neither foretold nor asked after.
        is_trifle = bool(verb.traits & {"unwilled", "passive", "slight"})
        if verb.traits & _SET_ASIDE:
            continue
        for noun in verb.objects:
            for person in OTHERS:
                if not suits(person, verb, noun):
                    continue
                is_known = person not in ROLES
                num_moods = 2 if is_known and not is_trifle and verb.lemma not in SMALL_MATTERS else 1
                num_places = 1 + len(fitting_places(verb, person))
                for tense in _TENSES if is_known and not is_trifle else _TENSES[:1]:
                    key = (tense, person.lemma, noun.korean, verb.lemma)
                    sentences[key] = num_moods * num_places * (1 + len(_times(verb, noun, tense)))
    return len(LEVELS) * sum(sentences.values())
