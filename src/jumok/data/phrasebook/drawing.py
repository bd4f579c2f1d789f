"""Drawing a clause that makes sense: who does what, to which thing, where, with whom and when."""

import random
from collections import Counter
from collections.abc import Sequence

from .adjectives import ADJECTIVES_OF
from .clauses import Clause, Form, Phrase
from .conjugation import LEVELS, Level
from .doers import CHILDISH, GROWN_UP, PEERS, fitting_places, suits
from .nouns import Noun
from .occasions import frequencies_of, is_accustomed, seasons_of, suits_place, suits_time
from .people import COMPANIONS, HONOURED, KIN, ME, NAMES, ROLES, US, Person
from .tables import words
from .times import (
    COMING_TIMES,
    DAY_FUTURE_TIMES,
    DAY_PARTS,
    DAY_PAST_TIMES,
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

# What is true of a thing, but not why or how one deals with it so.
_IRRELEVANT = {
    "사다": words("깨끗하다 시다 뜨겁다 차갑다 맵다 무겁다"),
    "보내다": words("슬프다 무겁다 두껍다"),
    "주다": words("무겁다 크다 싸다 얇다 길다 짧다 슬프다 가볍다 두껍다 무섭다 쉽다 어렵다 까맣다"),
    "고르다": words("깨끗하다 슬프다 무섭다"),
    "주문하다": words("시다"),
    "먹다": words("싸다 비싸다 깨끗하다 신선하다"),
    "마시다": words("싸다 신선하다"),
    "만들다": words("뜨겁다 차갑다 시다 짜다"),
    "읽다": words("무겁다 얇다 길다 짧다"),
    "그리다": words("유명하다 크다 재미있다 똑똑하다"),
    "쓰다": words("유명하다"),
    "빌리다": words("깨끗하다 무겁다 얇다"),
    "버리다": words("크다 무섭다 길다 짧다"),
    "사용하다": words("무겁다 크다"),
    "입다": words("싸다"),
    "찍다": words("특별하다"),
    "신다": words("싸다"),
}
# One gives up what is bad, and seeks out what is not.
_PARTING_VERBS = frozenset({"버리다", "팔다"})
_DAYS_OFF = frozenset({"지난 주말에", "이번 주말에", "토요일에", "일요일에"})
# Small numbers are the common ones.
_NUMBERS = (1, 2, 2, 2, 3, 3, 4, 5)
_FEW = (1, 2, 2, 3)
# What one wants, can or has to do now, if ever.
_UNPLANNED_VERBS = words("자다 눕다 먹다 마시다 입다 신다 끼다 벗다 씻다 쉬다 샤워하다 열다 닫다")
# What is done by the clock, what is done on no workday, and what one may have taken to lately.
_TIMED_VERBS = words("가다 오다 만나다 기다리다 전화하다 도착하다 자다 일어나다 출근하다 퇴근하다 타다 운동하다")
_WEEKLY_VERBS = words(
    "쇼핑하다 찍다 등산하다 낚시하다 사다 청소하다 만나다 그리다 굽다 빌리다 보내다 놀다 부르다 노래하다"
)
_LATELY_VERBS = words(
    "배우다 공부하다 읽다 보다 듣다 운동하다 연습하다 쓰다 일하다 먹다 마시다 하다 치다 걷다 산책하다 가르치다 만나다 "
    "이야기하다 수영하다 춤추다 그리다 입다 신다 사용하다 주문하다"
)


# What is done often or seldom, but not every week.
_UNSCHEDULED = words("도와주다 보내다")
# What is owed by a day of the week.
_OWED_ON_A_DAY = words("가다 만나다 일하다 끝내다 보내다 예약하다 출근하다 청소하다 공부하다")
# What one may be in the habit of doing alone.
_SOLITARY = words("낚시하다 등산하다 여행하다 산책하다 운동하다 걷다 수영하다 쇼핑하다 살다 가다 오다 공부하다")


# What one asks only the doer about.
SMALL_MATTERS = words(
    "먹다 마시다 씻다 켜다 끄다 열다 닫다 벗다 입다 신다 끼다 버리다 가져오다 사용하다 외우다 타다 가르치다"
)
# What a group does not do as one.
_ALONE = words("자다 샤워하다 울다 씻다 벗다 찾다 켜다 끄다 열다 닫다 잃어버리다")


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


def draw_person(
    rng: random.Random, verb: Verb, thing: Noun | None = None, *, role: bool = True, asked: bool = False
) -> Person:
    """Somebody other than speaker and hearer whom the verb suits; without ``role``, somebody one knows.

    Who is ``asked`` after is known by more than a part played: not the child, nor the customer.
    """
    while True:
        person = rng.choice(rng.choices((HONOURED, KIN, NAMES, ROLES), (20, 45, 25, 0 if asked else 10))[0])
        if suits(person, verb, thing) and (role or person.kind != "role"):
            return person


def draw_subject(
    rng: random.Random, verb: Verb, thing: Noun | None = None, *, question: bool = False, known: bool = False
) -> Person | None:
    """The subject, or None where Korean leaves it unsaid; only of the ``known`` one tells habits, plans and wishes."""
    roll = rng.random()
    if question:
        return None if roll < 0.6 or verb.lemma in SMALL_MATTERS else draw_person(rng, verb, thing, asked=True)
    if roll < 0.28:
        return None
    if roll < 0.48:
        return ME
    if roll < 0.55:
        return ME if verb.lemma in _ALONE else US
    return draw_person(rng, verb, thing, asked=known)


def draw_phrase(rng: random.Random, verb: Verb, form: Form) -> Phrase:
    """An object of the verb, sometimes counted, sometimes with an adjective."""
    noun = rng.choice(verb.objects)
    roll = rng.random()
    is_habit = form.tense == "present" and form.mode == "plain"
    can_count = noun.kind == "count" or noun.unit
    # One drinks two cups every day, but does not buy three every day, nor not two of them.
    is_daily_fare = verb.lemma in ("먹다", "마시다") and bool(noun.classes & {"fruit", "drink"})
    is_told = not form.negation and not form.question and form.mode != "progressive"
    # What is sold by the bottle is drunk by the glass.
    is_glass = verb.lemma == "사다" and noun.counter in ("잔", "그릇")
    is_need = form.mode == "must" and form.tense == "present"
    fits_number = is_told and not is_glass and not is_need and (is_daily_fare or not is_habit)
    if roll < 0.2 and "counted" in verb.traits and noun.counter and can_count and fits_number:
        return Phrase(noun, number=rng.choice((1, 2) if is_habit else _NUMBERS if "taste" in noun.classes else _FEW))
    if roll > 0.74 and "described" in verb.traits and is_told and not is_habit and form.mode not in ("can", "must"):
        unfit = "+" if verb.lemma in _PARTING_VERBS else "-"
        irrelevant = _IRRELEVANT.get(verb.lemma, frozenset())
        fitting = [a for a in ADJECTIVES_OF.get(noun, ()) if a.sort != unfit and a.lemma not in irrelevant]
        if fitting:
            return Phrase(noun, rng.choice(fitting))
    return Phrase(noun)


# What one would do with one's teacher.
_OUTINGS = words("가다 먹다 마시다 등산하다 이야기하다 산책하다 여행하다 공부하다 걷다")
# One's household is not met by appointment.
_HOUSEHOLD = words("엄마 아빠 어머니 아버지 부모님 남편 아내 아들 딸 룸메이트")
_LOVED = words("엄마 아빠 어머니 아버지 부모님 남편 아내 아들 딸 할머니 할아버지 누나 형 언니 오빠 여동생 남동생 친구")
_ABROAD_VERBS = words("만나다 초대하다 놀다 보내다 빌려주다")


def draw_companion(rng: random.Random, subject: Person | None, verb: Verb | None = None) -> Person:
    """Somebody to do it with. Another's relatives would need "his" and "her", so others go with names alone."""
    if subject is None or subject.kind == "me":
        if verb and verb.lemma == "사랑하다":
            return rng.choice([person for person in COMPANIONS if person.lemma in _LOVED])
        met = [person for person in COMPANIONS if person.lemma not in _HOUSEHOLD]
        if verb and verb.lemma == "놀다":
            met = [person for person in met if person.lemma in PEERS and person.lemma != "동료"]
        return rng.choice(met if verb and verb.lemma in _ABROAD_VERBS else COMPANIONS)
    return rng.choice([name for name in NAMES if name != subject])


def _habit_times(verb: Verb, noun: Noun | None) -> list[Time]:
    unfit = set() if verb.lemma in _LATELY_VERBS else {"요즘"}
    if verb.lemma in _WEEKLY_VERBS:
        unfit |= {"매일", "아침마다", "저녁마다"}
    if verb.lemma == "먹다" and noun and not noun.classes & {"dish", "western"}:
        unfit |= {"주말마다", "매주", "요즘"}
    if verb.lemma in ("듣다", "마시다"):
        unfit |= {"매주", "주말마다"}
    if "routine" in verb.traits:
        unfit |= {"매주"} if verb.lemma in ("자다", "일어나다") else {"매주", "주말마다"}
    if verb.lemma == "운전하다":
        unfit |= {"매주", "주말마다", "아침마다", "저녁마다"}
    if verb.lemma == "주문하다":
        unfit |= {"매일", "매주", "아침마다"}
    return [time for time in HABIT_TIMES if time.korean not in unfit and suits_time(time, verb, noun)]


# From when until when, by the clock.
_CLOCK = {"일어나다": (5, 9), "출근하다": (7, 9), "퇴근하다": (5, 8), "자다": (9, 10)}


def _hours(verb: Verb) -> tuple[Time, ...]:
    first, last = _CLOCK.get(verb.lemma, (1, 10))
    return HOURS[first - 1 : last]


def draw_time(rng: random.Random, form: Form, verb: Verb, noun: Noun | None = None) -> Time:
    """A time word that agrees with the tense, with the size of the matter and with the time of day for it."""
    while True:
        time = _draw_time(rng, form, verb, noun)
        if suits_time(time, verb, noun):
            return time


def _draw_time(rng: random.Random, form: Form, verb: Verb, noun: Noun | None) -> Time:
    tense = "future" if form.mode in ("want", "can", "must") and form.tense == "present" else form.tense
    is_great = "great" in verb.traits
    if form.mode == "want" and "dwelling" not in verb.traits:
        return rng.choice(GREAT_TIMES[tense][1:] if is_great else COMING_TIMES)
    if tense == "present":
        # Who does not do it does not do it "every day"; only "these days" goes with denial.
        if form.negation:
            return HABIT_TIMES[0]
        seasons = seasons_of(verb, noun)
        if seasons and (verb.english == "wear" or chance(rng, 0.7)):
            return rng.choice(seasons)
        return rng.choice(_habit_times(verb, noun))
    if "dwelling" in verb.traits:
        return GREAT_TIMES[tense][2]
    if is_great:
        seasons = seasons_of(verb, noun)
        return rng.choice(seasons if seasons and chance(rng, 0.2) else GREAT_TIMES[tense])
    if (
        verb.lemma in _TIMED_VERBS
        and verb.english != "ride"
        and not form.negation
        and form.mode not in ("want", "can")
        and chance(rng, 0.5)
    ):
        return rng.choice(_hours(verb))
    if form.mode == "must" and not (verb.lemma in _OWED_ON_A_DAY and chance(rng, 0.3)):
        return rng.choice(COMING_TIMES)
    if "daily" in verb.traits:
        times = WEEKDAYS if chance(rng, 0.3) else DAY_PAST_TIMES if tense == "past" else DAY_FUTURE_TIMES
        return rng.choice([t for t in times if "routine" not in verb.traits or t.korean not in _DAYS_OFF])
    if chance(rng, 0.3):
        parts = WEEKDAYS if form.mode == "must" else DAY_PARTS
        return rng.choice(rng.choice((WEEKDAYS, parts, (TODAY,))))
    # Nobody tells what was not done a while ago.
    return rng.choice([time for time in SMALL_TIMES[tense] if not (form.negation and time.korean == "아까")])


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
        person = draw_companion(rng, subject, verb)
    if verb.takes == "recipient" and person and (person.honoured or person.lemma in GROWN_UP):
        person = rng.choice(NAMES) if thing and thing.noun.korean in CHILDISH else person
    spots = fitting_places(verb, subject)
    if is_habit and verb.takes in ("goal", "person"):
        spots = [place for place in spots if is_accustomed(place) and place.korean != "집"]
    # What is not done is not done anywhere, nor with anybody.
    is_placed = not form.negation and not (form.mode == "can" and thing is not None)
    if verb.takes == "goal" or (spots and is_placed and chance(rng, 0.4 * adjuncts)):
        place = rng.choice(spots or verb.places)
    if place and form.mode == "want" and place.korean == "집" and verb.takes == "thing":
        place = None
    is_counted = thing is not None and thing.number > 0
    # Only we do it together, and nobody wishes or has to be late.
    unfit = {"같이"} if subject is not US else {"혼자"}
    unfit |= {"조금"} if form.question or form.tense != "past" or form.mode == "progressive" else set()
    unfit |= {"혼자", "천천히", "조용히", "크게"} if form.question else set()
    unfit |= {"잘"} if form.question and form.tense == "past" else set()
    unfit |= {"다시"} if is_habit else set()
    unfit |= {"많이", "오래"} if form.mode == "want" or (form.tense == "future" and form.mode == "plain") else set()
    unfit |= {"혼자"} if form.mode == "must" or (form.tense == "future" and verb.lemma in ("먹다", "마시다")) else set()
    unfit |= {"일찍", "늦게", "많이", "오래", "다시", "빨리"} if form.mode == "progressive" else set()
    unfit |= {"혼자", "많이"} if form.mode == "can" and verb.takes != "goal" else set()
    # How it is to be done one is asked, but seldom plans (a request is a must of the future).
    is_asked_for = form.mode == "must" and form.tense == "future"
    is_plan = form.mode in ("want", "must") or is_habit or form.tense == "future"
    unfit |= {"천천히", "빨리", "조용히", "크게"} if is_plan and not is_asked_for else set()
    is_outsider = subject is not None and subject.kind not in ("me", "us")
    if form.question and is_outsider:
        unfit |= {"많이", "빨리", "다시", "오래"}
    unfit |= {"혼자"} if is_habit and verb.lemma not in _SOLITARY else set()
    unfit |= {"많이", "오래"} if form.mode == "must" and not is_asked_for else set()
    unfit |= {"오래"} if "dwelling" in verb.traits and form.tense != "past" else set()
    unfit |= {"늦게", "잘"} if form.mode != "plain" or form.tense == "future" else set()
    manners = [m for m in verb.manners if m.korean not in unfit]
    is_routine = "routine" in verb.traits
    may_vary = (
        bool(manners)
        and not is_counted
        and not form.negation
        and form.mode != "experience"
        and not (thing and thing.adjective)
        and not (subject and subject.kind == "role")
    )
    if may_vary and (is_routine or chance(rng, 0.28 * adjuncts)):
        manner = rng.choice(manners)
    if verb.lemma in ("걷다", "뛰다", "여행하다") and manner is None and is_placed:
        place = place or rng.choice(verb.places)
    if manner and manner.korean == "다시" and place and place.korean == "집":
        manner = None
    is_social = any(m.korean == "같이" for m in verb.manners)
    is_distant = subject is US or (subject is not None and is_outsider and subject.lemma not in PEERS)
    is_hearsay = is_outsider and (is_habit or form.question)
    has_company = (
        is_social
        and not (place and "workplace" in place.classes)
        and not form.negation
        and form.mode not in ("can", "must")
        and not is_distant
        and not is_hearsay
    )
    if manner is None and has_company and chance(rng, 0.2 * adjuncts):
        companion = draw_companion(rng, subject)
        is_formal = companion.kind == "role" and verb.lemma not in _OUTINGS
        if is_formal or not suits(companion, verb, thing.noun if thing else None):
            companion = rng.choice([name for name in NAMES if name != subject])
    if not is_state and form.mode not in ("experience", "progressive"):
        may_recur = is_habit and not form.negation and "great" not in verb.traits
        if may_recur and (manner is None or is_routine) and chance(rng, 0.45):
            frequency = rng.choice(frequencies_of(verb, place))
            manner = manner if manner and manner.korean in ("일찍", "늦게") else None
        elif "instant" in verb.traits:
            time = rng.choice(NEAR_PAST_TIMES) if form.tense == "past" and chance(rng, 0.5) else None
        elif (is_outsider and form.mode in ("want", "can")) or (
            (form.mode in ("want", "can", "must") or (form.negation and form.tense == "future"))
            and (verb.lemma in _UNPLANNED_VERBS or verb.english == "wear")
        ):
            # One does not know the day another's wish is for.
            time = None
        elif is_habit and ("great" in verb.traits or verb.takes == "recipient" or verb.lemma in _UNSCHEDULED):
            time = None
        elif chance(rng, (0.8 if is_habit else 0.5) * adjuncts):
            time = draw_time(rng, form, verb, thing.noun if thing else None)
        if is_habit and time and place and not suits_place(time, place):
            time = None
        if is_habit and time and time not in SEASONS and (verb.english == "wear" or verb.lemma == "요리하다"):
            time = None
        asks_plainly = form.question and place is None and verb.takes == "thing"
        if may_recur and not asks_plainly and frequency is None and time is None:
            frequency = rng.choice(frequencies_of(verb, place))
            manner = None if manner and manner.korean in ("많이", "조금") else manner
        is_daily = time is not None and time.korean in ("매일", "아침마다", "저녁마다", "요즘")
        if is_habit and (is_daily or (frequency and frequency.korean in ("항상", "보통"))):
            companion = None
    elif form.mode == "progressive" and form.tense == "present" and chance(rng, 0.5 * adjuncts):
        time = NOW
    if time in HOURS:
        manner = None
    is_daily_habit = verb.lemma == "샤워하다" or (thing and thing.noun.classes & {"medicine", "task"})
    if is_habit and not form.negation and (is_counted or is_daily_habit):
        # So many a day, or simply every day.
        time, frequency = rng.choice([t for t in HABIT_TIMES if t.korean in ("매일", "아침마다")]), None
    if is_habit and verb.lemma == "일하다" and place:
        # Where one works one works, and not often.
        time = frequency = manner = None
    if verb.lemma == "자다" and (manner or form.question or form.tense == "future" or is_outsider or time in HOURS):
        place = None
    if manner and manner.korean == "잘":
        # A skill is not bound to an occasion.
        place = time = frequency = None
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
