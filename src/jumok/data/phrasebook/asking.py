"""Questions with a question word, which takes the place of one part of the clause."""

import random
from dataclasses import replace

from . import conjugation as ko
from . import english as en
from .clauses import Clause, Form, Negation, Phrase, Sentence
from .conjugation import Level, Tense
from .drawing import chance, draw_clause, draw_level, draw_person, draw_phrase, draw_time, draw_verb
from .people import NAMES, Person
from .tables import entries, words
from .times import COMING_TIMES, FREQUENCIES, FUTURE_TIMES, HOURS, PAST_TIMES, RECENT_TIMES, Time
from .verbs import TRANSITIVE, Verb, verb_frames

_WHAT_VERBS = dict(
    entries(
        "먹다 eat; 마시다 drink; 사다 buy; 읽다 read; 보다 watch; 배우다 learn; 만들다 make; 주문하다 order; "
        "받다 receive; 공부하다 study; 가르치다 teach; 고르다 choose; 그리다 draw; 쓰다 write; 입다 wear; "
        "빌리다 borrow; 듣다 listen to; 하다 do"
    )
)


# What one may ask that another does, did or will do.
_WHAT_OF_OTHERS = words("먹다 사다 읽다 배우다 만들다 공부하다 하다 보다 받다")
_USUAL = words("먹다 마시다 읽다 보다 듣다 하다 입다")
_USUALLY = next(adverb for adverb in FREQUENCIES if adverb.korean == "보통")


def _draw_asking_form(rng: random.Random) -> Form:
    tense: Tense = rng.choices(("past", "present", "future"), (45, 15, 40))[0]
    modes: tuple[en.Mode, ...] = ("plain", "want", "progressive") if tense == "present" else ("plain",)
    return Form(draw_level(rng), tense, rng.choice(modes), question=True)


def _whom(rng: random.Random, verb: Verb, of_others: frozenset[str]) -> Person | None:
    """The one who is asked after: mostly the hearer, and somebody else only for what one hears ``of_others``."""
    return None if verb.lemma not in of_others or chance(rng, 0.55) else draw_person(rng, verb, asked=True)


def _said(clause: Clause, level: Level, ending: str, english: str, word: str) -> Sentence:
    return Sentence(
        clause.korean_arguments(level) + ending + "?",
        en.capitalise(english) + "?",
        "question word",
        level,
        clause.words | {word},
        clause.combinations,
    )


# What one does at a time worth asking for, and what of it one asks of others.
_DATED = words(
    "이사하다 결혼하다 졸업하다 일어나다 출근하다 퇴근하다 빨래하다 등산하다 낚시하다 사다 만들다 굽다 쓰다 보내다 "
    "보다 배우다 끝내다 빌리다 돌려주다 고치다 청소하다 팔다 심다 준비하다 예약하다 만나다 전화하다 초대하다 가다 "
    "오다 도착하다 방문하다 하다 찍다"
)
_DATED_OF_OTHERS = words("이사하다 결혼하다 졸업하다 일어나다 출근하다 퇴근하다 가다 오다 도착하다 돌려주다 끝내다")
# What it matters who did, and what it matters who will do.
_DONE_BY_SOMEBODY = words(
    "먹다 마시다 사다 만들다 굽다 쓰다 보내다 열다 닫다 켜다 끄다 청소하다 찍다 그리다 빌리다 돌려주다 고치다 "
    "사용하다 버리다 가져오다 예약하다 준비하다 초대하다 전화하다 도와주다 오다 가다 주다 울다 웃다 부르다 "
    "설거지하다 빨래하다 자르다 심다"
)
_LEFT_TO_SOMEBODY = words(
    "사다 만들다 굽다 보내다 청소하다 찍다 고치다 가져오다 예약하다 준비하다 초대하다 전화하다 도와주다 설거지하다 "
    "빨래하다 운전하다 가다"
)


def _draw_among(rng: random.Random, lemmas: frozenset[str], avoid: str) -> Verb:
    """One of these verbs, as something done, and not worn."""
    while True:
        verb = draw_verb(rng, "ongoing accident state " + avoid)
        if verb.lemma in lemmas and verb.english != "wear":
            return verb


def _of_the_thing(verb: Verb, thing: Phrase | None) -> Verb:
    """Who asks when or by whom it was done has a certain thing in mind: when did you buy the bag."""
    if thing is None or verb.traits & {"generic", "own", "those"} or thing.noun.classes & {"ridden", "animal"}:
        return verb
    if thing.noun.kind not in ("count", "plural") and "uncut" not in thing.noun.classes:
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
    if form.tense == "present" and form.mode == "plain" and lemma not in _USUAL:
        form = replace(form, tense="past")
    if form.tense == "future" and lemma in ("받다", "가르치다"):
        form = replace(form, tense="past")
    subject = _whom(rng, verb, _WHAT_OF_OTHERS)
    if subject and subject.kind == "role":
        subject = None
    if subject and subject.honoured and lemma == "마시다":
        # 드시다 is both eating and drinking; without an object nothing tells them apart.
        subject = rng.choice(NAMES)
    clause = draw_clause(rng, form, verb, subject=subject, adjuncts=0.9)
    # 뭐 읽어요 asks what one is reading; the habit is asked for with 보통.
    is_habit = form.tense == "present" and form.mode == "plain"
    frequency = _USUALLY if is_habit else None
    is_small = form.tense == "future" and lemma in ("마시다", "듣다", "그리다", "쓰다", "고르다", "빌리다", "주문하다")
    is_wish = form.mode == "want" and lemma not in ("하다", "먹다", "보다")
    is_timeless = is_habit or is_small or is_wish or lemma in ("입다", "쓰다", "그리다", "가르치다")
    time = None if is_timeless or (subject and clause.time not in (*RECENT_TIMES, *COMING_TIMES)) else clause.time
    clause = replace(clause, manner=None, time=time, frequency=frequency, companion=None, marker="topic")
    p = clause.korean_predicate(form)
    word = {"casual": "뭐", "polite": "뭐", "formal": "무엇을"}[form.level]
    ending = word + " " + ko.finish(p, form.level, form.tense, question=True)
    english = "what " + clause.english_clause(form)
    return _said(clause, form.level, ending, english, "뭐")


_VAGUE = tuple(
    time
    for time in (*PAST_TIMES, *FUTURE_TIMES)
    if time.korean in words("지난주에 그저께 모레") or "며칠" in time.korean
)


# What is done here or there, which of it one wishes to do somewhere, and which one asks of others.
_WHERE = words(
    "먹다 마시다 사다 보다 배우다 공부하다 하다 치다 만나다 기다리다 놀다 쉬다 일하다 운동하다 수영하다 산책하다 "
    "쇼핑하다 가다 살다 찍다 자다"
)
_WHERE_WISHED = words("먹다 놀다 쉬다 일하다 공부하다 가다 살다 배우다")
_WHERE_OF_OTHERS = words("먹다 배우다 공부하다 만나다 일하다 운동하다 가다 살다 쉬다")


def ask_where(rng: random.Random) -> Sentence:
    """Ask for the place: 어디에서 커피를 마셨어요; 내일 어디에 갈 거예요."""
    form = _draw_asking_form(rng)
    if form.tense == "present" and form.mode == "plain":
        form = replace(form, tense="past")
    while True:
        verb = draw_verb(
            rng, "ongoing accident state passive slight unwilled " + ("punctual" if form.mode == "progressive" else "")
        )
        thing = _plain_thing(rng, verb, form)
        waits = verb.lemma == "기다리다" and form.tense == "future"
        sips = verb.lemma == "마시다" and thing is not None and thing.noun.korean in ("물", "콜라", "우유", "주스")
        is_placed = len(verb.places) > 1 and not waits and not sips
        if is_placed and verb.lemma in (_WHERE_WISHED if form.mode == "want" else _WHERE):
            break
    clause = draw_clause(rng, form, verb, subject=_whom(rng, verb, _WHERE_OF_OTHERS), thing=thing)
    is_vague = clause.time in HOURS or form.mode == "want" or (verb.takes != "goal" and clause.time in _VAGUE)
    time = None if is_vague else clause.time
    companion = clause.companion if verb.lemma in ("가다", "먹다", "여행하다") else None
    clause = replace(clause, companion=companion)
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
    verb = _draw_among(rng, _DATED, "instant passive slight")
    thing = _plain_thing(rng, verb, form)
    if thing and verb.lemma == "보다" and thing.noun.kind == "name":
        return ask_when(rng)
    verb = _of_the_thing(verb, thing)
    clause = draw_clause(rng, form, verb, subject=_whom(rng, verb, _DATED_OF_OTHERS), thing=thing, adjuncts=0.5)
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
        verb = _draw_among(rng, _DONE_BY_SOMEBODY if tense == "past" else _LEFT_TO_SOMEBODY, "great own routine")
        # "Who" takes a plain verb in English: who made, who will make.
        form = Form(level, tense)
        thing = _plain_thing(rng, verb, form)
        is_dull = thing is not None and ("meal" in thing.noun.classes or thing.noun.korean == "물")
        if is_dull and verb.lemma in ("먹다", "마시다"):
            return ask_who(rng)
        verb = _of_the_thing(verb, thing)
        someone = Person("누구", "who", "it", "role")
        clause = draw_clause(rng, form, verb, subject=NAMES[0], thing=thing, adjuncts=0.7)
        place = clause.place if verb.takes == "goal" else None
        clause = replace(clause, subject=someone, place=place, manner=None, companion=None, marker="topic")
        time = clause.time if clause.time in (*RECENT_TIMES, *COMING_TIMES) else None
        clause = replace(clause, time=time, time_first=time is not None)
        korean = clause.korean(replace(form, question=True)).replace("누구는", "누가")
        english = en.capitalise(clause.english_clause(form)) + "?"
        return Sentence(korean, english, "question word", level, clause.words, clause.combinations)
    form = Form(level, tense, question=True)
    waits = verb_frames("기다리다") if tense == "past" else ()
    verb = rng.choice(verb_frames("만나다") + waits + verb_frames("도와주다") + verb_frames("초대하다"))
    near = RECENT_TIMES if tense == "past" else COMING_TIMES
    time = draw_time(rng, form, verb) if verb.lemma == "만나다" else rng.choice(near)
    place = rng.choice(verb.places) if verb.places and chance(rng, 0.4) else None
    clause = Clause(verb, _whom(rng, verb, words("만나다 초대하다")), place=place, time=time)
    ending = "누구를 " + ko.finish(clause.korean_predicate(form), level, form.tense, question=True)
    english = "who " + clause.english_clause(form)
    return _said(clause, level, ending, english, "누구")


# What one is asked the reason of.
_WHY = words("먹다 하다 자다 쉬다 일하다 운동하다 울다 웃다 가다 오다 만나다 기다리다 전화하다 초대하다 끝내다")
_WHY_DONE = words("쉬다 울다 웃다 가다 오다 만나다 기다리다 전화하다 초대하다")
_WHY_THINGS = words("meal medicine task writing")


def ask_why(rng: random.Random) -> Sentence:
    """Ask for the reason: 왜 학교에 안 갔어요."""
    negation: Negation = rng.choice(("", "안", "못"))
    form = Form(draw_level(rng), "past", negation=negation, question=True)
    while True:
        verb = draw_verb(rng, "ongoing accident great")
        thing = _plain_thing(rng, verb, form)
        is_odd = "unwilled" in verb.traits if negation else verb.lemma not in _WHY_DONE
        # Nothing keeps one from waiting or from taking one's vitamins.
        is_odd |= negation == "못" and (verb.lemma == "기다리다" or verb.english == "take")
        if verb.lemma in _WHY and not is_odd and not (thing and not thing.noun.classes & _WHY_THINGS):
            break
    clause = draw_clause(rng, form, verb, subject=_whom(rng, verb, _WHY), thing=thing, adjuncts=0.6)
    place = clause.place if verb.takes == "goal" else None
    time = clause.time if clause.time in RECENT_TIMES else None
    clause = replace(clause, time=time, place=place, companion=None, manner=None, marker="topic", time_first=False)
    rest = replace(clause, subject=None, time=None)
    head = replace(clause, object=None, person=None, place=None, companion=None).korean_arguments(form.level)
    korean = head + "왜 " + rest.korean_arguments(form.level)
    korean += ko.finish(clause.korean_predicate(form), form.level, "past", question=True) + "?"
    english = "Why " + clause.english_clause(form) + "?"
    return Sentence(korean, english, "question word", form.level, clause.words | {"왜"}, clause.combinations)


CONSTRUCTIONS = (
    (ask_what, 3),
    (ask_where, 2),
    (ask_when, 2),
    (ask_who, 2),
    (ask_why, 1),
)
