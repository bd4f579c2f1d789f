"""What was seen, and lines of two sentences: somewhere was gone to, and how it was there."""

import random
from dataclasses import replace

from . import conjugation as ko
from . import english as en
from .adjectives import ADJECTIVES, WEATHER
from .clauses import Clause, Form, Phrase, Sentence
from .conjugation import Level
from .drawing import chance, draw_clause, draw_level, draw_person
from .hangul import attach
from .joining import effect_form, times_of
from .occasions import suits_time
from .people import ME, NAMES, PERSON
from .places import PLACE, Place
from .reasons import draw_reason
from .relating import judgements
from .tables import rows, words
from .times import DAY_PAST_TIMES, SMALL_TIMES, TODAY
from .verbs import INTRANSITIVE, TRANSITIVE, verb_frames

_MANY = ko.predicate("많다", "adjective")

# What there can be many of, and where.
_SEEN = """
사람 | people | 카페 식당 공원 시장 백화점 편의점 병원 은행 우체국 서점 영화관 박물관 미술관 공항 기차역 바다 산 강
    수영장 체육관 호텔 교회 동물원 놀이공원 빵집 미용실 도서관 서울 부산 노래방 학교 꽃집 약국
학생     | students  | 학교 도서관 서점 카페 체육관 운동장 편의점 기숙사 노래방 박물관 영화관 식당
아이     | children  | 공원 동물원 놀이공원 수영장 바다 운동장 박물관 식당 병원 학교 교회
외국인   | foreigners | 서울 부산 공항 호텔 박물관 시장 백화점 미술관 식당 카페
관광객   | tourists  | 공항 박물관 바다 호텔 부산 서울 기차역 산 시장 미술관 강
손님     | customers | 카페 식당 시장 백화점 빵집 미용실 서점 꽃집 편의점 은행 약국
환자     | patients  | 병원 약국
책       | books     | 도서관 서점 학교
꽃       | flowers   | 꽃집 공원 산 시장
나무     | trees     | 공원 산 학교 강
그림     | pictures  | 미술관 박물관 카페
동물     | animals   | 동물원 산
오리     | ducks     | 강 공원
고양이   | cats      | 공원 시장 카페
"""


def _read_seen() -> tuple[tuple[str, str, tuple[Place, ...]], ...]:
    return tuple(
        (korean, english, tuple(PLACE[name] for name in spots.split())) for korean, english, spots in rows(_SEEN)
    )


SEEN = _read_seen()
_SEEN_AT = {
    place: [(korean, english) for korean, english, spots in SEEN if place in spots]
    for place in {place for _, _, spots in SEEN for place in spots}
}
_GO = verb_frames("가다")[0]
_VISITED = sorted(_SEEN_AT, key=lambda place: place.korean)
# Fame is known, not observed.
_HOW = {place: [a for a in ADJECTIVES if place in a.places and a.lemma != "유명하다"] for place in _VISITED}
_OUTSIDE = words("공원 바다 산 강 부산 서울 동물원 놀이공원 운동장")
_DEGREES = (("", ""), ("", ""), ("정말 ", "really "), ("아주 ", "very "), ("너무 ", "so "))


def _went(rng: random.Random, level: Level) -> tuple[Clause, Form, Place]:
    place = rng.choice(_VISITED)
    form = Form(level, "past", remote=chance(rng, 0.55))
    subject = None if chance(rng, 0.65) else ME
    return Clause(_GO, subject, place=place, time=rng.choice(DAY_PAST_TIMES)), form, place


def _followed(
    first: Clause, form: Form, korean: str, english: str, words: set[str], bound: set[tuple[str, str]]
) -> Sentence:
    return Sentence(
        f"{first.korean(form)} {korean}",
        f"{first.english(form)} {english}",
        "went and saw",
        form.level,
        first.words | words,
        first.combinations | bound,
    )


def went_and_saw(rng: random.Random) -> Sentence:
    """어제 공원에 갔었어. 거기 아이가 많더라."""
    first, form, place = _went(rng, draw_level(rng))
    seen, english = rng.choice(_SEEN_AT[place])
    # People are seen everywhere, so they come up more often than their share of the table.
    if chance(rng, 0.25) and ("사람", "people") in _SEEN_AT[place]:
        seen, english = "사람", "people"
    second = f"거기 {attach(seen, '이/가')} {ko.observed(_MANY, form.level)}."
    return _followed(first, form, second, f"There were many {english} there.", {seen, "많다"}, {("많다", seen)})


def went_and_found(rng: random.Random) -> Sentence:
    """어제 식당에 갔어요. 정말 조용하더라고요; 그저께 바다에 갔었어. 날씨가 춥더라."""
    first, form, place = _went(rng, draw_level(rng))
    degree, english_degree = rng.choice(_DEGREES)
    while place.korean not in _OUTSIDE and not _HOW[place]:
        first, form, place = _went(rng, form.level)
    if _HOW[place] and (place.korean not in _OUTSIDE or chance(rng, 0.5)):
        adjective = rng.choice(_HOW[place])
        subject, english, noun = "", "It", place.korean
    else:
        adjective = rng.choice(WEATHER)
        subject, english, noun = "날씨가 ", "The weather", "날씨"
    second = f"{subject}{degree}{ko.observed(adjective.predicate, form.level)}."
    said = f"{english} was {english_degree}{adjective.english}."
    return _followed(first, form, second, said, {adjective.lemma, noun}, {(adjective.lemma, noun)})


def seen_there(rng: random.Random) -> Sentence:
    """공원에 아이가 많더라; 거기 손님이 많더라고요."""
    level = draw_level(rng)
    seen, english, spots = rng.choice(SEEN)
    place = rng.choice(spots)
    where, there, words = f"{place.korean}에", place.at, {place.korean}
    if chance(rng, 0.25):
        where, there, words = "거기", "there", set()
    korean = f"{where} {attach(seen, '이/가')} {ko.observed(_MANY, level)}."
    return Sentence(
        korean,
        f"There were many {english} {there}.",
        "observation",
        level,
        frozenset({seen, "많다"} | words),
        frozenset({("많다", seen)}),
    )


_OBSERVED = [
    adjective
    for adjective in ADJECTIVES
    if any(noun.kind != "name" for noun in adjective.things)
    if adjective.lemma not in ("유명하다", "하얗다", "빨갛다", "파랗다", "노랗다", "까맣다")
]


def observed_quality(rng: random.Random) -> Sentence:
    """그 영화는 정말 재미있더라."""
    level = draw_level(rng)
    adjective = rng.choice(_OBSERVED)
    noun = rng.choice([noun for noun in adjective.things if noun.kind != "name"])
    degree, english_degree = rng.choice(_DEGREES)
    korean = f"그 {attach(noun.korean, '은/는')} {degree}{ko.observed(adjective.predicate, level)}."
    be = en.finite(f"be {english_degree}{adjective.english}", "they" if noun.is_many else "it", "past")
    english = be.statement(("those " if noun.is_many else "that ") + noun.english)
    return Sentence(
        korean,
        en.capitalise(english) + ".",
        "observation",
        level,
        frozenset({noun.korean, adjective.lemma} | ({degree.strip()} if degree else set())),
        frozenset({(adjective.lemma, noun.korean)}),
    )


_UNWATCHED = words("state ongoing accident punctual event great domestic instant passive")
_WATCHED = [
    verb
    for verb in (*TRANSITIVE, *INTRANSITIVE)
    if verb.places and not verb.traits & _UNWATCHED and verb.lemma not in ("키우다", "일하다")
]


def observed_action(rng: random.Random) -> Sentence:
    """민수는 도서관에서 책을 읽더라."""
    level = draw_level(rng)
    verb = rng.choice(_WATCHED)
    thing = Phrase(rng.choice(verb.objects)) if verb.objects else None
    subject = draw_person(rng, verb, thing.noun if thing else None, role=False)
    while subject.honoured:
        subject = draw_person(rng, verb, thing.noun if thing else None, role=False)
    form = Form(level, "past", "progressive")
    clause = draw_clause(rng, form, verb, subject=subject, thing=thing, adjuncts=0.0)
    place = rng.choice([place for place in verb.places if place.korean != "학교"] or verb.places)
    clause = replace(clause, place=place, manner=None)
    korean = clause.korean_arguments(level) + ko.observed(verb.predicate, level) + "."
    return Sentence(korean, clause.english(form), "observation", level, clause.words, clause.combinations)


_TRIED = [
    (verb, noun, adjective)
    for verb in TRANSITIVE
    if verb.lemma in ("먹다", "마시다", "보다", "읽다", "듣다", "사다") and "great" not in verb.traits
    for noun in verb.objects
    if noun.kind not in ("name", "the")
    for adjective in judgements(verb, noun)
    if verb.lemma != "사다" or adjective.lemma in ("비싸다", "싸다")
    if adjective.lemma not in ("유명하다", "뜨겁다", "차갑다")
]


def tried_and_found(rng: random.Random) -> Sentence:
    """어제 비빔밥을 먹었어요. 정말 맛있더라고요."""
    verb, noun, adjective = rng.choice(_TRIED)
    level = draw_level(rng)
    time = rng.choice([time for time in SMALL_TIMES["past"] if suits_time(time, verb, noun)])
    form = Form(
        level, "past", remote=time in DAY_PAST_TIMES and verb.lemma in ("먹다", "보다", "읽다") and chance(rng, 0.4)
    )
    first = Clause(verb, None if chance(rng, 0.6) else ME, Phrase(noun), time=time)
    degree, english_degree = rng.choice(_DEGREES)
    is_observed = chance(rng, 0.65)
    p = adjective.predicate
    second = degree + (ko.observed(p, level) if is_observed else ko.finish(p, level, "past")) + "."
    it = "They were" if noun.is_many or (noun.kind == "count" and "generic" in verb.traits) else "It was"
    sentence = _followed(
        first,
        form,
        second,
        f"{it} {english_degree}{adjective.english}.",
        {adjective.lemma},
        {(adjective.lemma, noun.korean)},
    )
    return replace(sentence, construction="tried and found")


_RECENT = tuple(time for time in DAY_PAST_TIMES if time.korean in ("어제", "그저께", "지난 주말에"))


def state_and_deed(rng: random.Random) -> Sentence:
    """피곤해요. 집에서 쉬고 싶어요; 오늘은 날씨가 더워요. 물을 마실 거예요."""
    fact, clause, unable = draw_reason(rng)
    level = draw_level(rng)
    form = effect_form(rng, fact, clause, level, unable)
    first_form = Form(level, "past" if form.tense == "past" else "present")
    if form.tense == "past":
        if "시험" in fact.words:
            # Now that it is over, nobody tells what was done for it.
            return state_and_deed(rng)
        times = times_of(fact, clause, _RECENT)
        fact = replace(fact, time=rng.choice(times) if times and chance(rng, 0.7) else None)
    elif chance(rng, 0.6):
        fact = replace(fact, time=TODAY)
    return Sentence(
        f"{fact.korean(first_form)} {clause.korean(form)}",
        f"{fact.english(first_form)} {clause.english(form)}",
        "state and deed",
        level,
        fact.words | clause.words,
        fact.combinations | clause.combinations,
    )


_MET = (*NAMES, *(PERSON[lemma] for lemma in ("친구", "동료", "이웃", "사촌", "선생님", "교수님", "이모", "삼촌")))


def met_there(rng: random.Random) -> Sentence:
    """어제 서점에 갔어요. 거기에서 민수 씨를 만났어요."""
    level = draw_level(rng)
    first, form, _ = _went(rng, level)
    meet = verb_frames("만나다")[0]
    person = rng.choice(_MET)
    second = Clause(meet, person=person)
    korean = f"거기에서 {second.korean(Form(level, 'past'))}"
    english = second.english(Form(level, "past")).removesuffix(".") + " there."
    return replace(_followed(first, form, korean, english, set(second.words), set()), construction="met there")


CONSTRUCTIONS = (
    (went_and_saw, 7),
    (went_and_found, 2),
    (seen_there, 2),
    (observed_quality, 2),
    (observed_action, 2),
    (tried_and_found, 3),
    (state_and_deed, 4),
    (met_there, 1),
)
