"""Drawing a clause that makes sense: who does what, to which thing, where, with whom and when."""

import random
from collections import Counter
from collections.abc import Sequence

from .adjectives import ADJECTIVES_OF
from .clauses import Clause, Form, Phrase
from .conjugation import LEVELS, Level
from .nouns import Noun
from .people import COMPANIONS, HONOURED, KIN, ME, NAMES, ROLES, US, Person
from .places import Place
from .tables import words
from .times import (
    DAY_FUTURE_TIMES,
    DAY_PARTS,
    DAY_PAST_TIMES,
    FREQUENCIES,
    GREAT_TIMES,
    HABIT_TIMES,
    HOURS,
    NEAR_PAST_TIMES,
    NOW,
    SEASONS,
    SMALL_TIMES,
    TODAY,
    WEEKDAYS,
    Time,
)
from .verbs import GIVING, INTRANSITIVE, MOTION, PERSONAL, TRANSITIVE, Verb

_CHILDREN = frozenset({"아들", "딸", "아이", "학생"})
_ELDERS = frozenset({"엄마", "아빠"})
_GROWN_UP = (
    _ELDERS
    | {"남편", "아내", "삼촌", "이모", "이웃", "동료", "사장님"}
    | {p.lemma for p in HONOURED if p.kind == "kin"}
)
_SCHOOL_PLACES = frozenset({"학교", "기숙사", "운동장"})
# What a customer is seen to do; anything else would ask for a story.
_CUSTOMER_VERBS = frozenset({"먹다", "마시다", "주문하다", "고르다", "기다리다"})
# One gives up what is bad, and seeks out what is not.
_PARTING_VERBS = frozenset({"버리다", "팔다"})
# What the season decides.
_SEASONAL_VERBS = words("수영하다 등산하다 낚시하다 여행하다 산책하다 먹다 마시다 입다 신다 쓰다 끼다 찍다")
_DAYS_OFF = frozenset({"지난 주말에", "이번 주말에", "토요일에", "일요일에"})
# Small numbers are the common ones.
_NUMBERS = (1, 1, 2, 2, 2, 3, 3, 4, 5)


def chance(rng: random.Random, probability: float) -> bool:
    """True with the given probability."""
    return rng.random() < probability


def draw_level(rng: random.Random) -> Level:
    """A speech level; the formal one is a little rarer, as in life."""
    return rng.choices(LEVELS, (36, 40, 24))[0]


def _weights(verbs: Sequence[Verb]) -> list[float]:
    # A frame is drawn the more often the more nouns depend on it, so that every noun gets its turn.
    frames = Counter(noun for verb in verbs for noun in verb.objects)
    return [max(2.5, sum(1 / frames[noun] for noun in verb.objects), len(verb.places) ** 0.6) for verb in verbs]


_SORTS: tuple[tuple[Sequence[Verb], list[float]], ...] = tuple(
    (verbs, _weights(verbs)) for verbs in (TRANSITIVE, PERSONAL, GIVING, INTRANSITIVE, MOTION)
)
_SORT_WEIGHTS = (60, 8, 4, 16, 12)


def draw_verb(rng: random.Random, avoid: str = "", require: str = "") -> Verb:
    """A verb without any of the traits to avoid, with the one required."""
    avoided = set(avoid.split())
    while True:
        verbs, weights = rng.choices(_SORTS, _SORT_WEIGHTS)[0]
        verb = rng.choices(verbs, weights)[0]
        if not (verb.traits & avoided) and (not require or require in verb.traits):
            return verb


def suits(person: Person, verb: Verb, thing: Noun | None = None) -> bool:
    """Whether one would say of this person that they do this."""
    if "youthful" in verb.traits and (person.honoured or person.lemma in _ELDERS):
        return False
    if "pupil" in verb.traits and (person.lemma in _GROWN_UP or person.honoured or person.lemma in ("간호사", "손님")):
        return False
    if "domestic" in verb.traits and person.kind == "role":
        return False
    if "own" in verb.traits and not person.possessive:
        return False
    is_adult_matter = "adult" in verb.traits or (thing is not None and "alcohol" in thing.classes)
    if person.lemma in _CHILDREN and is_adult_matter:
        return False
    return person.lemma != "손님" or verb.lemma in _CUSTOMER_VERBS


def draw_person(rng: random.Random, verb: Verb, thing: Noun | None = None, *, role: bool = True) -> Person:
    """Somebody other than speaker and hearer whom the verb suits; without ``role``, somebody one knows."""
    while True:
        person = rng.choice(rng.choices((HONOURED, KIN, NAMES, ROLES), (20, 45, 25, 10))[0])
        if suits(person, verb, thing) and (role or person.kind != "role"):
            return person


def draw_subject(rng: random.Random, verb: Verb, thing: Noun | None = None, *, question: bool = False) -> Person | None:
    """The subject, or None where Korean leaves it unsaid."""
    roll = rng.random()
    if question:
        return None if roll < 0.6 else draw_person(rng, verb, thing)
    if roll < 0.28:
        return None
    if roll < 0.48:
        return ME
    if roll < 0.55:
        return US
    return draw_person(rng, verb, thing)


def draw_phrase(rng: random.Random, verb: Verb, form: Form) -> Phrase:
    """An object of the verb, sometimes counted, sometimes with an adjective."""
    noun = rng.choice(verb.objects)
    roll = rng.random()
    is_habit = form.tense == "present" and form.mode == "plain"
    can_count = noun.kind == "count" or noun.unit
    # One drinks two cups every day, but does not buy three every day, nor not two of them.
    is_daily_fare = verb.lemma in ("먹다", "마시다") and bool(noun.classes & {"fruit", "drink"})
    fits_number = not form.negation and (is_daily_fare or not is_habit)
    if roll < 0.2 and "counted" in verb.traits and noun.counter and can_count and fits_number:
        return Phrase(noun, number=rng.choice((1, 2) if is_habit else _NUMBERS))
    if roll > 0.76 and "described" in verb.traits:
        unfit = "+" if verb.lemma in _PARTING_VERBS else "-"
        fitting = [adjective for adjective in ADJECTIVES_OF.get(noun, ()) if adjective.sort != unfit]
        if fitting:
            return Phrase(noun, rng.choice(fitting))
    return Phrase(noun)


def draw_companion(rng: random.Random, subject: Person | None) -> Person:
    """Somebody to do it with. Another's relatives would need "his" and "her", so others go with names alone."""
    if subject is None or subject.kind == "me":
        return rng.choice(COMPANIONS)
    return rng.choice([name for name in NAMES if name != subject])


def draw_time(rng: random.Random, form: Form, verb: Verb) -> Time:
    """A time word that agrees with the tense and with the size of the matter."""
    tense = "future" if form.mode in ("want", "can", "must") and form.tense == "present" else form.tense
    is_great = "great" in verb.traits
    if tense == "present":
        # Who does not do it does not do it "every day"; only "these days" goes with denial.
        if form.negation:
            return HABIT_TIMES[0]
        is_seasonal = verb.lemma in _SEASONAL_VERBS and chance(rng, 0.4)
        return rng.choice(SEASONS if is_seasonal else HABIT_TIMES)
    if "dwelling" in verb.traits:
        return GREAT_TIMES[tense][2]
    if is_great:
        return rng.choice(SEASONS if chance(rng, 0.2) else GREAT_TIMES[tense])
    if "daily" in verb.traits:
        times = WEEKDAYS if chance(rng, 0.3) else DAY_PAST_TIMES if tense == "past" else DAY_FUTURE_TIMES
        return rng.choice([t for t in times if "routine" not in verb.traits or t.korean not in _DAYS_OFF])
    if chance(rng, 0.3):
        return rng.choice(rng.choice((WEEKDAYS, HOURS, HOURS, DAY_PARTS, (TODAY,))))
    return rng.choice(SMALL_TIMES[tense])


def fitting_places(verb: Verb, subject: Person | None) -> list[Place]:
    """Relatives who have left school are not met there at play, nor the teacher in one's home."""
    out_of_place: set[str] = set()
    if subject and subject.lemma in _GROWN_UP:
        out_of_place |= _SCHOOL_PLACES
    if subject and subject.kind == "role":
        out_of_place |= {"집", "기숙사"}
    return [place for place in verb.places if place.korean not in out_of_place]


def draw_clause(
    rng: random.Random,
    form: Form,
    verb: Verb,
    *,
    subject: Person | None,
    thing: Phrase | None = None,
    adjuncts: float = 1.0,
) -> Clause:
    """A clause about the verb; ``adjuncts`` scales how much is said of place, company, manner and time."""
    is_state = "state" in verb.traits
    is_habit = form.tense == "present" and form.mode == "plain" and not is_state
    person = place = companion = time = manner = frequency = None
    if verb.takes in ("person", "recipient"):
        person = draw_companion(rng, subject)
    spots = fitting_places(verb, subject)
    if verb.takes == "goal" or (spots and chance(rng, 0.4 * adjuncts)):
        place = rng.choice(spots or verb.places)
    is_counted = thing is not None and thing.number > 0
    # Only we do it together, and nobody wishes or has to be late.
    unfit = {"같이"} if subject is not US else set()
    unfit |= {"늦게", "잘"} if form.mode != "plain" or form.tense == "future" else set()
    manners = [m for m in verb.manners if m.korean not in unfit]
    is_routine = "routine" in verb.traits
    may_vary = bool(manners) and not is_counted and not form.negation and form.mode != "experience"
    if may_vary and (is_routine or chance(rng, 0.28 * adjuncts)):
        manner = rng.choice(manners)
    is_social = any(m.korean == "같이" for m in verb.manners)
    if manner is None and is_social and chance(rng, 0.2 * adjuncts):
        companion = draw_companion(rng, subject)
    if not is_state and form.mode not in ("experience", "progressive"):
        may_recur = is_habit and not form.negation and "great" not in verb.traits
        if may_recur and (manner is None or is_routine) and chance(rng, 0.45):
            frequency = rng.choice(FREQUENCIES)
        elif "instant" in verb.traits:
            time = rng.choice(NEAR_PAST_TIMES) if form.tense == "past" and chance(rng, 0.5) else None
        elif chance(rng, (0.8 if is_habit else 0.5) * adjuncts) and not (is_habit and "great" in verb.traits):
            time = draw_time(rng, form, verb)
        if may_recur and not form.question and frequency is None and time is None:
            frequency = rng.choice(FREQUENCIES)
    elif form.mode == "progressive" and form.tense == "present" and chance(rng, 0.5 * adjuncts):
        time = NOW
    takes_subject_marker = subject and subject.kind not in ("me", "us") and form.tense == "past"
    return Clause(
        verb,
        subject,
        thing,
        person,
        place,
        companion,
        time,
        manner,
        frequency,
        time_first=bool(time) and chance(rng, 0.3),
        marker="subject" if takes_subject_marker and chance(rng, 0.3) else "topic",
    )
