"""Constructions addressed to somebody: requests, prohibitions, suggestions, promises."""

import random
from dataclasses import replace

from . import conjugation as ko
from . import english as en
from .clauses import Clause, Form, Sentence
from .conjugation import Level
from .drawing import chance, draw_clause, draw_level, draw_phrase, draw_verb
from .people import ME, NAMES
from .places import places
from .tables import words
from .times import COMING_TIMES, FUTURE_TIMES, HOURS, MANNERS

_REQUEST = Form("polite", "future", "must")
_COUNTED_ALOUD = frozenset({"사다", "주문하다", "찍다"})
# One does not ask another to eat an apple at three o'clock, but to come, to wait or to bring something then.
_DATED_REQUESTS = words("사다 보내다 가져오다 가다 오다 들르다 전화하다 도와주다 돌려주다 준비하다 예약하다 일어나다")
# Where one sends another, and where one promises to be.
_SENT_TO = places("병원 약국 집 학교 도서관 사무실 회사 은행")
_PROMISED_PLACES = places("학교 회사 집 카페 도서관 공항 기차역 식당 병원 사무실")
_PROMISED = words(
    "전화하다 도와주다 기다리다 사다 가져오다 보내다 끝내다 청소하다 설거지하다 빨래하다 준비하다 예약하다 고치다 "
    "돌려주다 닫다 끄다 가다 들르다 하다 쓰다 풀다 씻다 공부하다 연습하다"
)
_SOON = tuple(time for time in FUTURE_TIMES if time.korean in ("이따가", "내일", "오늘 저녁에", "내일 아침에"))


def _bare(rng: random.Random, require: str, avoid: str = "", adjuncts: float = 0.5) -> Clause:
    """A clause without subject, for speech to the hearer."""
    verb = draw_verb(rng, "ongoing accident state passive " + avoid, require)
    thing = draw_phrase(rng, verb, _REQUEST) if verb.objects else None
    if thing and thing.number and verb.lemma not in _COUNTED_ALOUD:
        thing = replace(thing, number=0)
    clause = draw_clause(rng, _REQUEST, verb, subject=None, thing=thing, adjuncts=adjuncts)
    return replace(clause, companion=None)


def _spoken(construction: str, clause: Clause, level: Level, ending: str, english: str, mark: str = ".") -> Sentence:
    korean = clause.korean_arguments(level) + ending + mark
    return Sentence(korean, en.capitalise(english) + mark, construction, level, clause.words, clause.combinations)


def _imperative(clause: Clause) -> str:
    # What is "own" is the hearer's: wash your hands.
    return clause.english_verb + clause.english_complement(question="own" in clause.verb.traits)


def request(rng: random.Random) -> Sentence:
    """문을 닫아 주세요; 손을 씻으세요."""
    level = draw_level(rng)
    clause = _bare(rng, "request")
    if clause.verb.lemma not in _DATED_REQUESTS:
        clause = replace(clause, time=None, place=clause.place if clause.verb.takes == "goal" else None)
    elif clause.time and clause.time not in HOURS:
        clause = replace(clause, time=rng.choice(_SOON))
    if clause.verb.lemma == "가다":
        clause = replace(clause, place=rng.choice(_SENT_TO))
    if clause.object and clause.object.adjective and clause.object.adjective.sort == "+":
        # Whether it will be good nobody knows who asks for it.
        clause = replace(clause, object=replace(clause.object, adjective=None))
    if clause.manner and clause.manner.korean == "혼자":
        clause = replace(clause, manner=None)
    if clause.person:
        # Whose brother is meant the hearer would not know.
        clause = replace(clause, person=rng.choice(NAMES))
    if clause.verb.lemma == "고르다":
        clause = replace(clause, manner=None)
    for_me = clause.verb.takes in ("thing", "recipient", "person") and "own" not in clause.verb.traits
    is_favour = level == "casual" or (for_me and clause.verb.lemma not in _GOOD_FOR_HEARER)
    if is_favour and (clause.verb.lemma in _GOOD_FOR_HEARER or not for_me):
        level = "polite"
        is_favour = False
    p = clause.korean_predicate(Form(level))
    if is_favour and p.stem.endswith("주"):
        p = ko.Predicate(p.stem)
        endings = {"casual": ko.infinitive(p), "polite": p.stem + "세요", "formal": p.stem + "십시오"}
        ending = endings[level]
    elif is_favour:
        stem = ko.favour(p).stem
        ending = {"casual": stem[:-1] + "줘", "polite": stem + "세요", "formal": stem + "십시오"}[level]
    else:
        ending = ko.command(p, level)
    return _spoken("request", clause, level, ending, "please " + _imperative(clause))


# Done for the doer's own good, so not begged as a favour.
_GOOD_FOR_HEARER = words("먹다 마시다 입다 신다 쓰다 끼다 자다 쉬다 타다 읽다 운동하다 일어나다 벗다 씻다 눕다 고르다")


def prohibition(rng: random.Random) -> Sentence:
    """여기에서 사진을 찍지 마세요."""
    level = draw_level(rng)
    while True:
        clause = _bare(rng, "request", adjuncts=0.35)
        is_meal = clause.object is not None and "meal" in clause.object.noun.classes
        if (
            clause.verb.lemma in _FORBIDDEN
            and not is_meal
            and not (clause.object and clause.object.noun.korean == "민요")
            and not (clause.object and (clause.object.number or clause.object.adjective))
        ):
            break
    too_much = words("늦게") if clause.verb.lemma == "자다" else _TOO_MUCH
    manner = clause.manner if clause.manner and clause.manner.korean in too_much else None
    place = rng.choice(_SHUNNED) if clause.verb.lemma == "가다" else clause.place
    place = place if clause.verb.takes == "goal" else None
    clause = replace(clause, manner=manner, place=place, time=None, person=rng.choice(NAMES) if clause.person else None)
    ending = ko.forbid(clause.korean_predicate(Form(level)), level)
    return _spoken("prohibition", clause, level, ending, "don't " + _imperative(clause))


_FORBIDDEN = words("먹다 마시다 찍다 열다 닫다 켜다 끄다 버리다 가다 오다 타다 사다 부르다 자다 기다리다 벗다 초대하다")
_SHUNNED = places("바다 산 강 노래방 놀이공원 수영장 시장 백화점 편의점 카페 영화관 식당")
_TOO_MUCH = words("많이 빨리 늦게 크게 혼자")


def suggestion(rng: random.Random) -> Sentence:
    """같이 점심을 먹을까요; 내일 영화를 보자."""
    level = draw_level(rng)
    clause = replace(_bare(rng, "fun"), companion=None, person=None)
    while clause.verb.takes in ("person", "recipient") or clause.verb.lemma in ("가르치다", "쓰다"):
        clause = replace(_bare(rng, "fun"), companion=None, person=None)
    manner = clause.manner if clause.manner and clause.manner.korean in ("같이", "다시") else None
    if manner is None and MANNERS["같이"] in clause.verb.manners and chance(rng, 0.5):
        manner = MANNERS["같이"]
    is_near = clause.time in COMING_TIMES or "great" in clause.verb.traits
    clause = replace(clause, manner=manner, time=clause.time if is_near else None)
    p = clause.korean_predicate(Form(level))
    phrase = clause.english_verb + clause.english_complement()
    if level == "polite" or chance(rng, 0.5):
        asked: Level = "polite" if level == "formal" else level
        return _spoken("suggestion", clause, asked, ko.propose(p, asked), "shall we " + phrase, "?")
    return _spoken("suggestion", clause, level, ko.suggest(p, level), "let's " + phrase)


def promise(rng: random.Random) -> Sentence:
    """제가 내일 전화할게요."""
    level = draw_level(rng)
    clause = _bare(rng, "duty", "great own routine", adjuncts=0.8)
    while not _is_promised(clause):
        clause = _bare(rng, "duty", "great own routine", adjuncts=0.8)
    quick = ("일찍",) if clause.verb.takes == "goal" else ("빨리", "일찍")
    quick = ("다시",) if clause.verb.lemma in ("전화하다", "보내다") else quick
    manner = clause.manner if clause.manner and clause.manner.korean in quick else None
    if clause.verb.lemma in ("공부하다", "연습하다"):
        manner = MANNERS["열심히"]
    if clause.verb.lemma == "가다":
        clause = replace(clause, place=rng.choice(_PROMISED_PLACES))
    clause = replace(clause, time=rng.choice(_SOON) if clause.time else None, manner=manner, time_first=False)
    if chance(rng, 0.6):
        clause = replace(clause, subject=ME, marker="subject")
    p = clause.korean_predicate(Form(level))
    english = clause.english_clause(Form(level, "future"))
    return _spoken("promise", clause, level, ko.promise(p, level), english)


def _is_promised(clause: Clause) -> bool:
    buys = clause.verb.lemma == "사다"
    is_food = clause.object is not None and "taste" in clause.object.noun.classes
    return clause.verb.lemma in _PROMISED and clause.verb.english != "wear" and (is_food or not buys)


CONSTRUCTIONS = (
    (request, 5),
    (prohibition, 2),
    (suggestion, 4),
    (promise, 3),
)
