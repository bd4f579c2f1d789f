"""Constructions with a clause before a noun, and with two qualities of one thing."""

import random
from dataclasses import replace

from . import conjugation as ko
from . import english as en
from .adjectives import ADJECTIVES, ADJECTIVES_OF, Adjective
from .clauses import Clause, Form, Phrase, Sentence
from .conjugation import Tense
from .describing import DETERMINERS, place_name, pointed_out
from .drawing import chance, draw_clause, draw_level, draw_person, draw_verb
from .hangul import attach
from .nouns import Noun
from .occasions import suits_time
from .people import ME, NAMES, Person
from .tables import entries, words
from .times import DAY_PAST_TIMES, GREAT_TIMES, NEAR_PAST_TIMES, Time
from .verbs import TRANSITIVE, Verb, verb_frames

_BY_LEMMA = {adjective.lemma: adjective for adjective in ADJECTIVES}
_THESE_DAYS = Time("요즘", "these days")

# Verbs by whose deed a thing is told from others, and whether one still has it to judge now.
_TELLING: dict[str, Tense] = {
    **dict.fromkeys(("먹다", "마시다", "보다", "듣다", "주문하다", "만들다", "입다", "신다", "타다"), "past"),
    **dict.fromkeys(("사다", "받다", "빌리다", "읽다", "쓰다", "그리다", "고르다"), "present"),
}
# What is eaten is judged by its taste, what is read or seen by its story, what is worn by its looks.
_JUDGED_BY = {
    **dict.fromkeys(("먹다", "마시다", "만들다"), words("맛있다 달다 맵다 짜다 시다 뜨겁다 차갑다")),
    "주문하다": words("맛있다 맵다 짜다 뜨겁다 차갑다 비싸다"),
    **dict.fromkeys(
        ("보다", "듣다", "읽다"),
        words("재미있다 지루하다 슬프다 무섭다 길다 짧다 어렵다 쉽다"),
    ),
    **dict.fromkeys(("입다", "신다"), words("예쁘다 편하다 불편하다 따뜻하다 비싸다")),
}
_JUDGED_BY |= {
    "그리다": words("귀엽다 예쁘다 아름답다"),
    "쓰다": words("길다 짧다 슬프다 어렵다"),
    "타다": words("빠르다 느리다"),
    "빌리다": words("재미있다 지루하다 슬프다 무섭다 길다 어렵다 쉽다 두껍다 가볍다 무겁다 좋다 빠르다 느리다"),
    "받다": words("예쁘다 특별하다 길다 짧다 슬프다 귀엽다 좋다 아름답다"),
}
_UNJUDGED = frozenset({"더럽다", "위험하다"})
# What was hot when it was bought is not hot now.
_PASSING = frozenset({"뜨겁다", "차갑다"})
_TELLING_FRAMES = [verb for verb in TRANSITIVE if verb.lemma in _TELLING and "generic" not in verb.traits]


def _relative(
    verb: Verb, subject: Person | None, time: Time | None, tense: Tense, level: ko.Level
) -> tuple[Clause, str, str]:
    """The clause before the noun in Korean, and after it in English: 제가 어제 산, I bought yesterday."""
    clause = Clause(verb, subject, time=time, marker="subject")
    p = verb.predicate
    doer = subject or ME
    if doer.honoured:
        p = ko.honorific(p)
    korean = clause.korean_arguments(level) + ko.adnominal(p, tense)
    # What one reads "these days" one is reading.
    mode: en.Mode = "progressive" if tense == "present" else "plain"
    verb_said = en.finite(verb.english, doer.agreement, tense, mode).statement(doer.english)
    return clause, korean, verb_said + (" " + time.english if time else "")


# Of another one sees what he bought or made, but not how it tasted to him.
_SEEN_OF_OTHERS = words("사다 만들다 굽다 쓰다 그리다 고르다 받다 빌리다")


def _draw_teller(rng: random.Random, verb: Verb, noun: Noun) -> Person | None:
    roll = rng.random() if verb.lemma in _SEEN_OF_OTHERS else 0.65 * rng.random()
    if roll < 0.3:
        return None
    if roll < 0.65:
        return ME
    return draw_person(rng, verb, noun, role=False)


def _times_for(verb: Verb, noun: Noun) -> tuple[Time, ...]:
    # What is eaten was bought or made the day before at most.
    if verb.lemma in ("주문하다", "굽다", "만들다") or "taste" in noun.classes:
        return tuple(time for time in NEAR_PAST_TIMES if suits_time(time, verb, noun))
    return GREAT_TIMES["past"] if "great" in verb.traits else DAY_PAST_TIMES


def _are_several(noun: Noun) -> bool:
    # Of what is bought by the bag there are several: the tomatoes I bought.
    return noun.is_many or (noun.kind == "count" and bool(noun.classes & {"fruit", "vegetable", "staple"}))


def _the(noun: Noun) -> str:
    return "the " + (noun.many if _are_several(noun) else noun.english.removeprefix("the "))


def judgements(verb: Verb, noun: Noun) -> list[Adjective]:
    """What one may say of a thing after having dealt with it in this way."""
    allowed = _JUDGED_BY.get(verb.lemma)
    unjudged = _UNJUDGED | (_PASSING if verb.lemma == "사다" else frozenset())
    adjectives = ADJECTIVES_OF.get(noun, ())
    return [a for a in adjectives if (a.lemma in allowed if allowed else a.lemma not in unjudged)]


# What one is at for some days.
_TAKING_DAYS = words("책 소설 만화책 드라마 만화 다큐멘터리 그림 보고서")


def thing_told_apart(rng: random.Random) -> Sentence:
    """제가 어제 산 책은 재미있어요."""
    while True:
        verb = rng.choice(_TELLING_FRAMES)
        noun = rng.choice(verb.objects)
        fitting = judgements(verb, noun)
        if noun.kind not in ("name", "the") and fitting and "tableware" not in noun.classes:
            break
    adjective = rng.choice(fitting)
    level = draw_level(rng)
    tense: Tense = "past" if chance(rng, 0.8) else "present"
    if tense == "present" and (verb.lemma not in ("읽다", "보다", "쓰다", "그리다") or noun.korean not in _TAKING_DAYS):
        tense = "past"
    matrix: Tense = "present" if tense == "present" or _TELLING[verb.lemma] == "present" else "past"
    subject = _draw_teller(rng, verb, noun)
    if verb.english == "wear" and adjective.lemma not in ("예쁘다", "비싸다"):
        # How it feels only the wearer knows.
        subject = ME if subject else None
    time: Time | None = _THESE_DAYS if tense == "present" else rng.choice(_times_for(verb, noun))
    if subject is not None and tense == "past" and chance(rng, 0.35):
        time = None
    clause, before, after = _relative(verb, subject, time, tense, level)
    form = Form(level, matrix, question=False)
    degree = "정말 " if chance(rng, 0.3) else ""
    korean = f"{before} {attach(noun.korean, '은/는')} {degree}{ko.finish(adjective.predicate, level, matrix)}."
    quality = ("really " if degree else "") + adjective.english
    be = en.finite("be " + quality, "they" if _are_several(noun) else "it", matrix)
    english = be.statement(f"{_the(noun)} {after}") + "."
    return Sentence(
        korean,
        en.capitalise(english),
        "relative clause",
        form.level,
        clause.words | {noun.korean, adjective.lemma} | ({"정말"} if degree else set()),
        frozenset({(verb.lemma, noun.korean), (adjective.lemma, noun.korean)}),
    )


# What is done to a thing after something else was done to it.
_THEN = {
    "사다": "읽다 입다 신다 쓰다 먹다 마시다 끼다", "빌리다": "읽다 돌려주다", "받다": "읽다 버리다",
    "만들다": "먹다", "주문하다": "먹다 마시다", "쓰다": "보내다", "고르다": "사다 입다 신다",
    "굽다": "먹다",
}  # fmt: skip
_CHAINS = [
    (first, second, noun)
    for first in TRANSITIVE
    if first.lemma in _THEN and "ongoing" not in first.traits
    for second in TRANSITIVE
    if second.lemma in _THEN[first.lemma].split() and first is not second and "own" not in second.traits
    # 쓰다 is to put on what was bought, and to write nothing.
    if second.english != "write"
    for noun in first.objects
    if noun in second.objects and noun.kind not in ("name", "the")
    # Noodles are eaten at once.
    if first.lemma != "만들다" or noun.korean not in ("라면", "국수", "냉면")
]


def thing_acted_on(rng: random.Random) -> Sentence:
    """어머니가 만드신 비빔밥을 먹었어요; 어제 산 책을 읽고 있어요."""
    first, second, noun = rng.choice(_CHAINS)
    level = draw_level(rng)
    teller = _draw_teller(rng, first, noun) if first.lemma in ("사다", "만들다", "쓰다", "고르다", "굽다") else None
    is_others_food = teller is not None and teller.lemma in ("이웃", "동료") and "taste" in noun.classes
    if teller is ME or second.english == "wear" or is_others_food:
        teller = None
    times = _times_for(first, noun)[:1] if first.lemma == "주문하다" else _times_for(first, noun)
    time = rng.choice(times) if teller is None or chance(rng, 0.4) else None
    clause, before, after = _relative(first, teller, time, "past", level)
    forms = [Form(level, "past")]
    if first.lemma != "주문하다":
        forms.append(Form(level, "future"))
    if first.lemma != "주문하다" and "unwished" not in second.traits:
        forms.append(Form(level, "present", "want"))
    if "punctual" not in second.traits:
        forms.append(Form(level, "present", "progressive"))
    form = rng.choice(forms)
    outer = Clause(second, ME if teller is None and chance(rng, 0.3) else None)
    korean = outer.korean_arguments(level) + f"{before} {attach(noun.korean, '을/를')} "
    korean += ko.finish(outer.korean_predicate(form), level, form.tense) + "."
    english = f"{outer.english_clause(form)} {_the(noun)} {after}."
    return Sentence(
        korean,
        en.capitalise(english),
        "relative clause",
        level,
        clause.words | outer.words | {noun.korean},
        frozenset({(first.lemma, noun.korean), (second.lemma, noun.korean)}),
    )


_GO = verb_frames("가다")[0]
_JUDGED_PLACES = [
    (adjective, place)
    for adjective in ADJECTIVES
    for place in adjective.places
    if place in _GO.places and place.english.startswith("the ") and "nature" not in place.classes
    if place.korean not in ("사무실", "기숙사", "운동장")
]


# One does not go often where it is dull or uncomfortable, nor to the airport.
_KEEPING_AWAY = words("지루하다 불편하다 더럽다")
_SELDOM = words("호텔 공항 병원 동물원 놀이공원 기차역")


def place_told_apart(rng: random.Random) -> Sentence:
    """제가 자주 가는 카페는 조용해요; 어제 간 식당은 시끄러웠어요."""
    adjective, place = rng.choice(_JUDGED_PLACES)
    level = draw_level(rng)
    is_habit = chance(rng, 0.45) and adjective.lemma not in _KEEPING_AWAY and place.korean not in _SELDOM
    subject = rng.choice((None, ME, ME, rng.choice(NAMES) if is_habit else ME))
    who = subject.subject(level) + " " if subject else ""
    doer = subject or ME
    if is_habit:
        before, matrix = who + "자주 가는", "present"
        after = en.finite("go to", doer.agreement).statement(doer.english, "often")
        time_words = {"자주"}
    else:
        time = rng.choice(DAY_PAST_TIMES)
        before, matrix = f"{who}{time.korean} 간", "past"
        after = en.finite("go to", doer.agreement, "past").statement(doer.english) + " " + time.english
        time_words = {time.korean}
    tense: Tense = "present" if matrix == "present" else "past"
    korean = f"{before} {attach(place.korean, '은/는')} {ko.finish(adjective.predicate, level, tense)}."
    be = en.finite("be " + adjective.english, "it", tense)
    english = be.statement(f"{place.english} {after}") + "."
    return Sentence(
        korean,
        en.capitalise(english),
        "relative clause",
        level,
        frozenset({"가다", place.korean, adjective.lemma} | time_words | ({subject.lemma} if subject else set())),
        frozenset({("가다", place.korean), (adjective.lemma, place.korean)}),
    )


def person_told_apart(rng: random.Random) -> Sentence:
    """책을 읽고 있는 사람은 민수 씨예요."""
    level = draw_level(rng)
    who = rng.choice(NAMES)
    while True:
        verb = draw_verb(rng, "ongoing accident state event punctual great domestic own going")
        if verb.takes in ("thing", "nothing"):
            break
    thing = Phrase(rng.choice(verb.objects)) if verb.objects else None
    form = Form(level, "present", "progressive")
    clause = draw_clause(rng, form, verb, subject=who, thing=thing, adjuncts=0.6)
    place = None if clause.place and clause.place.korean == "집" else clause.place
    clause = replace(clause, subject=None, place=place, time=None, companion=None, manner=None)
    arguments = clause.korean_arguments(level)
    korean = f"{arguments}{ko.adnominal(ko.progressive(verb.predicate), 'present')} 사람은 "
    korean += ko.finish(ko.copula(who.korean(level)), level) + "."
    english = f"The person who is {en.gerund(verb.english)}{clause.english_complement()} is {who.english}."
    return Sentence(korean, english, "relative clause", level, clause.words | {"사람", who.lemma}, clause.combinations)


# Qualities that agree, and qualities that surprise after one another.
_AGREEING = """
넓다 깨끗하다; 싸다 맛있다; 예쁘다 따뜻하다; 작다 가볍다; 크다 무겁다; 달다 맛있다; 싸다 좋다; 얇다 가볍다;
빠르다 편리하다; 작다 귀엽다; 똑똑하다 귀엽다; 길다 지루하다; 짧다 재미있다; 깨끗하다 조용하다; 크다 아름답다;
시끄럽다 복잡하다; 맵다 짜다; 쉽다 재미있다; 두껍다 따뜻하다; 하얗다 예쁘다; 빨갛다 예쁘다; 느리다 불편하다;
크다 유명하다; 작다 조용하다; 크다 위험하다; 신선하다 싸다; 편하다 예쁘다
"""
_SURPRISING = """
예쁘다 비싸다; 맛있다 비싸다; 싸다 불편하다; 편하다 비싸다; 작다 비싸다; 작다 무겁다; 맛있다 맵다; 맛있다 짜다;
재미있다 길다; 어렵다 재미있다; 유명하다 작다; 깨끗하다 시끄럽다; 좋다 비싸다; 싸다 맛있다; 크다 가볍다;
넓다 더럽다; 예쁘다 불편하다; 짧다 어렵다; 조용하다 작다; 유명하다 지루하다; 귀엽다 비싸다; 크다 귀엽다;
무섭다 재미있다; 슬프다 아름답다; 무겁다 편하다; 두껍다 가볍다; 느리다 싸다; 얇다 따뜻하다; 위험하다 귀엽다
"""


def _pairs(table: str) -> list[tuple[Adjective, Adjective]]:
    return [(_BY_LEMMA[first], _BY_LEMMA[second]) for first, second in entries(table)]


def _shared(pairs: list[tuple[Adjective, Adjective]]) -> list[tuple[Adjective, Adjective, tuple[Noun, ...]]]:
    return [(a, b, tuple(noun for noun in a.things if noun in b.things)) for a, b in pairs]


_BOTH = [row for row in _shared(_pairs(_AGREEING)) if row[2]]
_YET = [row for row in _shared(_pairs(_SURPRISING)) if row[2]]
_PLACES_BOTH = [(a, b, p) for a, b in _pairs(_AGREEING) for p in a.places if p in b.places]
_PLACES_YET = [(a, b, p) for a, b in _pairs(_SURPRISING) for p in a.places if p in b.places]


def two_qualities(rng: random.Random) -> Sentence:
    """이 방은 넓고 깨끗해요; 이 가방은 예쁘지만 비싸요."""
    level = draw_level(rng)
    agrees = chance(rng, 0.5)
    determiner = rng.choice(DETERMINERS)
    tense: Tense = "past" if chance(rng, 0.2) else "present"
    agreement: en.Agreement = "it"
    if chance(rng, 0.25):
        first, second, place = rng.choice(_PLACES_BOTH if agrees else _PLACES_YET)
        (korean, english), word = place_name(place, determiner), place.korean
    else:
        first, second, things = rng.choice(_BOTH if agrees else _YET)
        noun = rng.choice(things)
        korean, english, agreement = pointed_out(noun, determiner)
        word = noun.korean
    linked = ko.past(first.predicate) if tense == "past" and not agrees else first.predicate
    said = attach(korean, "은/는") + " " + (ko.and_then if agrees else ko.although)(linked)
    said += " " + ko.finish(second.predicate, level, tense) + "."
    # One be serves both: pretty but expensive.
    conjunction = "and" if agrees else "but"
    be = en.finite(f"be {first.english} {conjunction} {second.english}", agreement, tense)
    return Sentence(
        said,
        en.capitalise(be.statement(english)) + ".",
        "two qualities",
        level,
        frozenset({first.lemma, second.lemma, word}),
        frozenset({(first.lemma, word), (second.lemma, word)}),
    )


CONSTRUCTIONS = (
    (thing_told_apart, 6),
    (thing_acted_on, 5),
    (place_told_apart, 3),
    (person_told_apart, 2),
    (two_qualities, 5),
)
