"""Constructions addressed to somebody: requests, prohibitions, suggestions, promises, and questions with a word."""

import random
from dataclasses import replace

from . import conjugation as ko
from . import english as en
from .clauses import Clause, Form, Negation, Phrase, Sentence
from .conjugation import Level, Tense
from .drawing import chance, draw_clause, draw_level, draw_person, draw_phrase, draw_time, draw_verb
from .people import ME, NAMES, Person
from .places import places
from .tables import entries, words
from .times import FREQUENCIES, FUTURE_TIMES, HOURS, MANNERS, PAST_TIMES, Time
from .verbs import TRANSITIVE, Verb, verb_frames

_REQUEST = Form("polite", "future", "must")
_COUNTED_ALOUD = frozenset({"사다", "주문하다", "찍다"})
# One does not ask another to eat an apple at three o'clock, but to come, to wait or to bring something then.
_DATED_REQUESTS = words(
    "사다 보내다 가져오다 가다 오다 들르다 기다리다 전화하다 돕다 돌려주다 준비하다 예약하다 일어나다"
)
# Where one sends another, and where one promises to be.
_SENT_TO = places("병원 약국 집 학교 도서관 사무실 회사 은행")
_PROMISED_PLACES = places("학교 회사 집 카페 도서관 공항 기차역 식당 병원 사무실")
_PROMISED = words(
    "전화하다 돕다 기다리다 사다 가져오다 보내다 끝내다 청소하다 설거지하다 빨래하다 준비하다 예약하다 고치다 돌려주다 "
    "닫다 끄다 가다 들르다 하다 쓰다 풀다 씻다 공부하다 연습하다"
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
    if clause.person and clause.person.honoured and clause.verb.takes == "recipient":
        clause = replace(clause, person=rng.choice(NAMES))
    for_me = clause.verb.takes in ("thing", "recipient") and "own" not in clause.verb.traits
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
    manner = clause.manner if clause.manner and clause.manner.korean in _TOO_MUCH else None
    clause = replace(clause, manner=manner, time=None, person=rng.choice(NAMES) if clause.person else None)
    ending = ko.forbid(clause.korean_predicate(Form(level)), level)
    return _spoken("prohibition", clause, level, ending, "don't " + _imperative(clause))


_FORBIDDEN = words("먹다 마시다 찍다 열다 닫다 켜다 끄다 버리다 가다 오다 타다 사다 부르다 자다 기다리다 벗다 초대하다")
_TOO_MUCH = words("많이 빨리 늦게 크게 혼자")


def suggestion(rng: random.Random) -> Sentence:
    """같이 점심을 먹을까요; 내일 영화를 보자."""
    level = draw_level(rng)
    clause = replace(_bare(rng, "fun"), companion=None, person=None)
    while clause.verb.takes in ("person", "recipient") or clause.verb.lemma in ("가르치다", "쓰다"):
        clause = replace(_bare(rng, "fun"), companion=None, person=None)
    manner = clause.manner if clause.manner and clause.manner.korean in ("같이", "천천히", "다시") else None
    if manner is None and MANNERS["같이"] in clause.verb.manners and chance(rng, 0.5):
        manner = MANNERS["같이"]
    clause = replace(clause, manner=manner)
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
    manner = clause.manner if clause.manner and clause.manner.korean in ("빨리", "일찍", "다시") else None
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


# Questions with a question word. The word takes the place of one part of the clause.

_WHAT_VERBS = dict(
    entries(
        "먹다 eat; 마시다 drink; 사다 buy; 읽다 read; 보다 watch; 배우다 learn; 만들다 make; 주문하다 order; "
        "받다 receive; 공부하다 study; 가르치다 teach; 고르다 choose; 그리다 draw; 쓰다 write; 입다 wear; "
        "빌리다 borrow; 듣다 listen to; 하다 do"
    )
)


_USUALLY = next(adverb for adverb in FREQUENCIES if adverb.korean == "보통")


def _draw_asking_form(rng: random.Random) -> Form:
    tense: Tense = rng.choices(("past", "present", "future"), (45, 15, 40))[0]
    modes: tuple[en.Mode, ...] = ("plain", "want", "progressive") if tense == "present" else ("plain",)
    return Form(draw_level(rng), tense, rng.choice(modes), question=True)


def _whom(rng: random.Random, verb: Verb) -> Person | None:
    return None if chance(rng, 0.65) else draw_person(rng, verb, asked=True)


# What one does at a time worth asking for.
_DATED = words(
    "이사하다 결혼하다 졸업하다 여행하다 일어나다 출근하다 퇴근하다 빨래하다 "
    "등산하다 낚시하다 사다 만들다 굽다 쓰다 보내다 보다 배우다 "
    "끝내다 빌리다 돌려주다 고치다 청소하다 팔다 심다 준비하다 예약하다 만나다 전화하다 초대하다 가다 오다 "
    "도착하다 들르다 방문하다 하다 찍다"
)


def _askable(rng: random.Random, avoid: str) -> Verb:
    """A verb whose occasion is worth asking about."""
    while True:
        verb = draw_verb(rng, "ongoing accident state passive slight " + avoid)
        if verb.takes != "nothing" or verb.lemma in _DATED:
            return verb


def _of_the_thing(verb: Verb, thing: Phrase | None) -> Verb:
    """Who asks when or by whom it was done has a certain thing in mind: when did you buy the bag."""
    if thing is None or verb.traits & {"generic", "own", "those"} or thing.noun.classes & {"ridden", "animal"}:
        return verb
    if thing.noun.kind not in ("count", "plural"):
        return verb
    is_several = bool(thing.noun.classes & {"fruit", "vegetable", "staple"})
    return replace(verb, traits=verb.traits | {"those" if is_several else "definite"})


def _plain_thing(rng: random.Random, verb: Verb, form: Form) -> Phrase | None:
    return replace(draw_phrase(rng, verb, form), number=0, adjective=None) if verb.objects else None


def ask_what(rng: random.Random) -> Sentence:
    """Ask for the thing: 어제 시장에서 뭐 샀어요."""
    form = _draw_asking_form(rng)
    lemma = rng.choice(tuple(_WHAT_VERBS))
    candidates = verb_frames(lemma, _WHAT_VERBS[lemma])
    verb = rng.choice(candidates) if candidates else replace(TRANSITIVE[0], lemma="하다", english="do", places=())
    if form.mode == "progressive" and (verb.traits & {"punctual"} or lemma == "입다"):
        form = replace(form, tense="past", mode="plain")
    if lemma == "하다":
        verb = replace(verb, lemma="하다", english="do", places=(), objects=(), traits=frozenset())
    if form.tense == "present" and form.mode == "plain" and verb.traits & {"punctual", "once", "passive"}:
        form = replace(form, tense="past")
    subject = _whom(rng, verb)
    if subject and subject.honoured and lemma == "마시다":
        # 드시다 is both eating and drinking; without an object nothing tells them apart.
        subject = rng.choice(NAMES)
    clause = draw_clause(rng, form, verb, subject=subject, adjuncts=0.9)
    # 뭐 읽어요 asks what one is reading; the habit is asked for with 보통.
    is_habit = form.tense == "present" and form.mode == "plain"
    frequency = _USUALLY if is_habit else None
    is_small = form.tense == "future" and lemma in ("마시다", "듣다", "그리다", "쓰다", "고르다", "빌리다")
    time = None if is_habit or is_small or lemma in ("입다", "쓰다", "그리다") else clause.time
    clause = replace(clause, manner=None, time=time, frequency=frequency, companion=None, marker="topic")
    p = clause.korean_predicate(form)
    word = {"casual": "뭐", "polite": "뭐", "formal": "무엇을"}[form.level]
    ending = word + " " + ko.finish(p, form.level, form.tense, question=True)
    english = "what " + clause.english_clause(form)
    sentence = _spoken("question word", clause, form.level, ending, english, "?")
    return replace(sentence, words=sentence.words | {"뭐"})


_VAGUE = tuple(
    time
    for time in (*PAST_TIMES, *FUTURE_TIMES)
    if time.korean in words("지난주에 그저께 모레") or "며칠" in time.korean
)


def ask_where(rng: random.Random) -> Sentence:
    """Ask for the place: 어디에서 커피를 마셨어요; 내일 어디에 갈 거예요."""
    form = _draw_asking_form(rng)
    if form.tense == "present" and form.mode == "plain":
        form = replace(form, tense="past")
    while True:
        verb = draw_verb(
            rng, "ongoing accident state passive slight unwilled " + ("punctual" if form.mode == "progressive" else "")
        )
        if len(verb.places) > 1 and verb.lemma not in (
            "방문하다",
            "여행하다",
            "들르다",
            "도착하다",
            "오다",
            "외우다",
            "풀다",
        ):
            break
    thing = _plain_thing(rng, verb, form)
    clause = draw_clause(rng, form, verb, subject=_whom(rng, verb), thing=thing)
    time = None if clause.time in HOURS or (verb.takes != "goal" and clause.time in _VAGUE) else clause.time
    clause = replace(clause, place=None, time=time, manner=None, frequency=None, marker="topic", time_first=False)
    # The question word stands where the place would, before object and person.
    head = replace(clause, object=None, person=None).korean_arguments(form.level)
    tail = replace(clause, subject=None, time=None, companion=None).korean_arguments(form.level)
    word = "어디에 " if verb.takes == "goal" else "어디에서 "
    ending = ko.finish(clause.korean_predicate(form), form.level, form.tense, question=True)
    return Sentence(
        head + word + tail + ending + "?",
        "Where " + clause.english_clause(form) + "?",
        "question word",
        form.level,
        clause.words | {"어디"},
        clause.combinations,
    )


def ask_when(rng: random.Random) -> Sentence:
    """Ask for the time: 언제 한국에 왔어요."""
    tense: Tense = rng.choices(("past", "future"), (55, 45))[0]
    form = Form(draw_level(rng), tense, question=True)
    verb = _askable(rng, "instant")
    while verb.lemma not in _DATED or verb.english == "wear":
        verb = _askable(rng, "instant")
    thing = _plain_thing(rng, verb, form)
    verb = _of_the_thing(verb, thing)
    clause = draw_clause(rng, form, verb, subject=_whom(rng, verb), thing=thing, adjuncts=0.5)
    place = clause.place if verb.takes == "goal" else None
    clause = replace(
        clause, time=Time("언제", ""), place=place, companion=None, manner=None, marker="topic", time_first=False
    )
    korean = clause.korean(form)
    english = "When " + replace(clause, time=None).english_clause(form) + "?"
    return Sentence(korean, english, "question word", form.level, clause.words, clause.combinations)


def ask_who(rng: random.Random) -> Sentence:
    """Ask for the person: 누가 케이크를 만들었어요; 어제 누구를 만났어요."""
    level = draw_level(rng)
    tense: Tense = rng.choices(("past", "future"), (70, 30))[0]
    if chance(rng, 0.5):
        verb = _askable(rng, "great own routine")
        # "Who" takes a plain verb in English: who made, who will make.
        form = Form(level, tense)
        thing = _plain_thing(rng, verb, form)
        verb = _of_the_thing(verb, thing)
        someone = Person("누구", "who", "it", "role")
        clause = draw_clause(rng, form, verb, subject=NAMES[0], thing=thing, adjuncts=0.7)
        place = clause.place if verb.takes == "goal" else None
        clause = replace(clause, subject=someone, place=place, manner=None, companion=None, marker="topic")
        clause = replace(clause, time_first=clause.time is not None)
        korean = clause.korean(replace(form, question=True)).replace("누구는", "누가")
        english = en.capitalise(clause.english_clause(form)) + "?"
        return Sentence(korean, english, "question word", level, clause.words, clause.combinations)
    form = Form(level, tense, question=True)
    waits = verb_frames("기다리다") if tense == "past" else ()
    verb = rng.choice(verb_frames("만나다") + waits + verb_frames("돕다") + verb_frames("초대하다"))
    time = draw_time(rng, form, verb)
    place = rng.choice(verb.places) if verb.places and chance(rng, 0.4) else None
    clause = Clause(verb, _whom(rng, verb), place=place, time=time)
    ending = "누구를 " + ko.finish(clause.korean_predicate(form), level, form.tense, question=True)
    english = "who " + clause.english_clause(form)
    sentence = _spoken("question word", clause, level, ending, english, "?")
    return replace(sentence, words=sentence.words | {"누구"})


# What one is asked the reason of.
_WHY = words("먹다 하다 자다 쉬다 일하다 운동하다 울다 웃다 가다 오다 만나다 기다리다 전화하다 초대하다 끝내다")
_WHY_DONE = words("쉬다 일하다 울다 웃다 가다 오다 만나다 기다리다 전화하다 초대하다")
_WHY_THINGS = words("meal medicine task writing")


def ask_why(rng: random.Random) -> Sentence:
    """Ask for the reason: 왜 학교에 안 갔어요."""
    negation: Negation = rng.choice(("", "안", "못"))
    form = Form(draw_level(rng), "past", negation=negation, question=True)
    while True:
        verb = draw_verb(rng, "ongoing accident great")
        thing = _plain_thing(rng, verb, form)
        is_odd = "unwilled" in verb.traits if negation else verb.lemma not in _WHY_DONE
        if verb.lemma in _WHY and not is_odd and not (thing and not thing.noun.classes & _WHY_THINGS):
            break
    clause = draw_clause(rng, form, verb, subject=_whom(rng, verb), thing=thing, adjuncts=0.6)
    place = clause.place if verb.takes == "goal" else None
    clause = replace(clause, place=place, companion=None, manner=None, marker="topic", time_first=False)
    rest = replace(clause, subject=None, time=None)
    head = replace(clause, object=None, person=None, place=None, companion=None).korean_arguments(form.level)
    korean = head + "왜 " + rest.korean_arguments(form.level)
    korean += ko.finish(clause.korean_predicate(form), form.level, "past", question=True) + "?"
    english = "Why " + clause.english_clause(form) + "?"
    return Sentence(korean, english, "question word", form.level, clause.words | {"왜"}, clause.combinations)


CONSTRUCTIONS = (
    (request, 5),
    (prohibition, 2),
    (suggestion, 4),
    (promise, 3),
    (ask_what, 3),
    (ask_where, 2),
    (ask_when, 2),
    (ask_who, 2),
    (ask_why, 1),
)
