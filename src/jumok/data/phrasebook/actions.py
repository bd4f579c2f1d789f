"""Constructions of one clause: what somebody does, did, will do, wants, can, must, has ever done."""

import random
from dataclasses import replace

from .clauses import Clause, Form, Negation, Phrase, Sentence
from .conjugation import Tense
from .drawing import chance, draw_clause, draw_level, draw_person, draw_phrase, draw_subject, draw_time, draw_verb
from .nouns import Noun
from .people import Person
from .places import PLACE
from .tables import rows, words
from .times import COMING_TIMES, DAY_FUTURE_TIMES, DAY_PAST_TIMES, GREAT_TIMES, HOURS, RECENT_TIMES, TODAY, Time
from .verbs import Verb


def finished(construction: str, clause: Clause, form: Form) -> Sentence:
    """Say a clause as a sentence of its own."""
    return Sentence(
        clause.korean(form), clause.english(form), construction, form.level, clause.words, clause.combinations
    )


def _draw(
    rng: random.Random,
    construction: str,
    form: Form,
    avoid: str = "",
    require: str = "",
    only: frozenset[str] = frozenset(),
) -> Sentence:
    verb = draw_verb(rng, avoid, require)
    is_habit = form.tense == "present" and form.mode == "plain"
    while (only and verb.lemma not in only) or (is_habit and "great" in verb.traits and verb.lemma not in _LASTING):
        verb = draw_verb(rng, avoid, require)
    if verb.lemma in ("배우다", "키우다") and form.tense == "present" and form.mode == "plain" and not form.negation:
        # What one learns these days one is learning.
        construction, form = "progressive", replace(form, mode="progressive")
    if form.mode == "progressive" and "great" in verb.traits:
        # Where one lives and what one learns is told of now.
        form = replace(form, tense="present")
    thing = draw_phrase(rng, verb, form) if verb.objects else None
    is_idle = form.mode == "must" and thing is not None and thing.noun.korean in ("만화책", "동화책", "잡지", "소설")
    is_vain = thing is not None and (
        (is_habit and form.question and thing.noun.korean == "물")
        or (form.mode == "want" and "task" in thing.noun.classes)
    )
    if thing and (is_idle or is_vain or not _may_be_denied(thing.noun, form)):
        return _draw(rng, construction, form, avoid, require, only)
    known = form.tense != "past" and form.mode != "progressive"
    subject = draw_subject(rng, verb, thing.noun if thing else None, question=form.question, known=known)
    sells = verb.lemma == "팔다" and "own" not in verb.traits
    drives = verb.lemma == "운전하다" and thing is not None and thing.noun.korean != "자동차"
    is_trade = (sells or drives) and form.mode in ("plain", "progressive")
    if is_trade and (subject is None or subject.kind != "kin"):
        # Another's trade: nobody has to ask whether one sells vegetables or drives a bus.
        subject = draw_person(rng, verb, thing.noun if thing else None, role=False)
        form = replace(form, question=False)
    elif not is_trade and subject and subject.kind not in ("me", "us") and not _is_known_of_others(subject, verb, form):
        subject = None
    clause = draw_clause(rng, form, verb, subject=subject, thing=thing)
    if form.mode == "can":
        clause = _free(rng, form, clause)
    elif form.mode == "want":
        clause = _wished(rng, form, clause)
    elif form.mode == "must":
        clause = _due(rng, clause)
    elif form.negation:
        clause = _undone(rng, form, clause)
    if verb.lemma in _EVENTS and form.tense != "present" and clause.time is None:
        clause = replace(clause, time=draw_time(rng, form, verb))
    is_fresh = clause.time is not None and clause.time not in (*DAY_PAST_TIMES, *GREAT_TIMES["past"])
    if form.remote and (verb.lemma not in _REMEMBERED or clause.time is None or is_fresh or verb.english == "take"):
        form = replace(form, remote=False)
    return finished(construction, clause, form)


# What takes long, and yet is told as present.
_LASTING = words("배우다 키우다 살다")
# What is hardly told of without its time.
_EVENTS = words("이사하다 결혼하다 졸업하다")
# What one is able to do for having learnt it, and what for being free.
_SKILLS = words("치다 타다 운전하다 만들다 굽다 가르치다 수영하다 고치다 그리다")
_OCCASIONS = words("만나다 도와주다 전화하다 가다 끝내다 보내다 일하다 쉬다 운동하다")
# What one is expected to have done, so that one may be asked whether one has not, and when.
_EXPECTED = words("먹다 가다 만나다 전화하다 하다 보다 운동하다 끝내다 보내다")
# What one may do without, and where one may have ceased to go.
_CUSTOMS = words(
    "먹다 마시다 보다 읽다 듣다 하다 치다 좋아하다 운동하다 공부하다 가다 만나다 일하다 타다 운전하다 쇼핑하다 "
    "수영하다 다니다 산책하다 등산하다 낚시하다 춤추다"
)
_CUSTOMARY_PLACES = words("회사 도서관 체육관 교회 카페")
_PLACES_OF_REST = ("교회", "카페", "도서관")
# What one may tell that one has not done, and what one may refuse.
_OMITTED = words(
    "먹다 마시다 사다 만들다 읽다 쓰다 외우다 보내다 보다 연습하다 공부하다 하다 치다 끝내다 돌려주다 고치다 "
    "청소하다 찍다 타다 준비하다 풀다 가져오다 예약하다 만나다 도와주다 전화하다 초대하다 쉬다 일하다 운동하다 "
    "수영하다 산책하다 쇼핑하다 등산하다 빨래하다 설거지하다 가다"
)
_REFUSED = words("먹다 마시다 사다 보다 하다 가다 만나다 전화하다 공부하다 운동하다 일하다 쇼핑하다 초대하다 보내다")
# What one wishes for oneself, and what one knows that another wishes.
_WISHES = words(
    "먹다 마시다 사다 만들다 굽다 읽다 보다 듣다 부르다 배우다 공부하다 하다 치다 입다 신다 타다 찍다 그리다 키우다 "
    "만나다 이야기하다 놀다 초대하다 주다 보내다 쉬다 자다 운동하다 수영하다 산책하다 쇼핑하다 걷다 춤추다 여행하다 "
    "결혼하다 등산하다 낚시하다 노래하다 가다 살다 방문하다 일하다 쓰다 전화하다 도와주다 빌리다 가르치다"
)
_WISHES_OF_OTHERS = words(
    "먹다 마시다 사다 보다 배우다 공부하다 하다 치다 타다 키우다 만나다 놀다 쉬다 자다 운동하다 수영하다 쇼핑하다 "
    "여행하다 결혼하다 등산하다 낚시하다 가다 살다 방문하다 일하다"
)
_WISHED_TOGETHER = words(
    "가다 먹다 마시다 여행하다 등산하다 보다 산책하다 쇼핑하다 운동하다 수영하다 낚시하다 치다 하다"
)
_PLEASANT_PLACES = words(
    "cafe eatery nature sight cinema karaoke swim_place book_shop city country rural 공원 백화점 집"
)
_DUTY_PLACES = ("학교", "회사", "병원", "은행", "우체국", "약국", "도서관", "공항", "기차역", "사무실", "집", "시장")
# What one has to do at a certain place.
_DUTY_AT_PLACES = words("공부하다 연습하다 사다 만나다 기다리다")


def _is_known_of_others(subject: Person, verb: Verb, form: Form) -> bool:
    """Whether one would know of another what is wished, refused, owed, left undone or possible."""
    if form.mode == "want":
        return subject.kind != "role" and verb.lemma in _WISHES_OF_OTHERS
    if form.mode == "can":
        return verb.lemma not in _OCCASIONS
    if form.negation and form.tense == "past":
        return verb.lemma in _EXPECTED
    is_small = bool(verb.traits & {"instant", "slight"}) and (form.mode == "must" or form.tense == "future")
    return not is_small and not (form.negation and form.tense == "future")


def _may_be_denied(noun: Noun, form: Form) -> bool:
    if form.negation and form.mode == "can" and noun.korean == "고구마":
        return False
    if not form.negation or form.mode != "plain":
        return True
    if form.negation == "못" and "medicine" in noun.classes:
        return False
    if form.question:
        return bool(noun.classes & {"meal", "medicine", "show", "task", "writing"})
    return form.tense != "present" or noun.korean not in ("물", "숙제")


def _free(rng: random.Random, form: Form, clause: Clause) -> Clause:
    """What one is able to do: a skill at any time, anything else on a day one is free."""
    time = None
    if clause.verb.lemma in _OCCASIONS and not (form.negation and chance(rng, 0.5)):
        is_far = clause.verb.lemma not in ("전화하다", "보내다", "끝내다")
        time = rng.choice((TODAY, *DAY_FUTURE_TIMES) if is_far else (TODAY, DAY_FUTURE_TIMES[0]))
    return replace(clause, place=clause.place if clause.verb.takes == "goal" else None, manner=None, time=time)


def _wished(rng: random.Random, form: Form, clause: Clause) -> Clause:
    """What one wishes, plainly: the post office is no place to long for, nor does one ask how it is wished."""
    verb = clause.verb
    is_alone = verb.lemma in ("여행하다", "살다", "쉬다") and not form.question
    manner = clause.manner if clause.manner and (clause.manner.korean == "같이" or is_alone) else None
    place = clause.place
    if verb.lemma == "가다":
        place = rng.choice([p for p in verb.places if p.classes & _PLEASANT_PLACES or p.korean in _PLEASANT_PLACES])
    elif verb.lemma == "일하다":
        place = rng.choice(verb.places)
    elif verb.takes == "person":
        place = None
    is_bought = verb.lemma == "사다" and "great" not in verb.traits
    time = None if form.question or verb.lemma in ("일하다", "주다", "전화하다") or is_bought else clause.time
    companion = clause.companion if verb.lemma in _WISHED_TOGETHER else None
    return replace(clause, manner=manner, place=place, time=time, companion=companion)


def _due(rng: random.Random, clause: Clause) -> Clause:
    """What one has to do: most of it anywhere, and going only where duty calls."""
    if clause.verb.lemma == "가다" and "great" not in clause.verb.traits:
        return replace(clause, place=PLACE[rng.choice(_DUTY_PLACES)])
    is_placed = clause.verb.takes == "goal" or clause.verb.lemma in _DUTY_AT_PLACES
    clause = clause if is_placed else replace(clause, place=None)
    return replace(clause, time=None) if clause.verb.lemma == "타다" and clause.time not in HOURS else clause


def _undone(rng: random.Random, form: Form, clause: Clause) -> Clause:
    """What one does not do, where one might, or has not done, when one might have."""
    if form.tense == "present":
        if clause.verb.lemma != "가다" or (clause.place and clause.place.korean in _CUSTOMARY_PLACES):
            return clause
        is_old = clause.subject is not None and clause.subject.honoured
        return replace(clause, place=PLACE[rng.choice(_PLACES_OF_REST if is_old else sorted(_CUSTOMARY_PLACES))])
    times = RECENT_TIMES if form.tense == "past" else COMING_TIMES
    return clause if clause.time in times else replace(clause, time=None)


def _asks(rng: random.Random) -> bool:
    return chance(rng, 0.3)


# What is told in the remote past (-았었-), for it is over: 갔었어.
_REMEMBERED = words(
    "가다 오다 만나다 먹다 보다 읽다 배우다 살다 일하다 공부하다 여행하다 가르치다 키우다 놀다 등산하다"
)


def past_action(rng: random.Random) -> Sentence:
    """어제 친구와 영화를 봤어요."""
    form = Form(draw_level(rng), "past", question=_asks(rng))
    form = replace(form, remote=not form.question and chance(rng, 0.25))
    return _draw(rng, "past", form, "ongoing state", "accident" if chance(rng, 0.03) else "")


def present_action(rng: random.Random) -> Sentence:
    """저는 매일 책을 읽어요."""
    form = Form(draw_level(rng), "present", question=_asks(rng))
    avoid = "ongoing accident event once passive instant" + (" slight" if form.question else "")
    return _draw(rng, "present", form, avoid)


def future_action(rng: random.Random) -> Sentence:
    """내일 도서관에서 공부할 거예요."""
    form = Form(draw_level(rng), "future", question=_asks(rng))
    # What is small or for life nobody is asked.
    avoid = "ongoing accident state unwilled passive hither" + (" instant slight dwelling" if form.question else "")
    return _draw(rng, "future", form, avoid)


def progressive_action(rng: random.Random) -> Sentence:
    """동생은 방을 청소하고 있어요."""
    tense: Tense = "past" if chance(rng, 0.25) else "present"
    form = Form(draw_level(rng), tense, "progressive", question=_asks(rng))
    return _draw(rng, "progressive", form, "accident state event punctual going hither")


def wish(rng: random.Random) -> Sentence:
    """커피를 마시고 싶어요."""
    form = Form(draw_level(rng), "present", "want", question=_asks(rng))
    avoid = "ongoing accident state passive hither own unwished" + (" slight" if form.question else "")
    return _draw(rng, "wish", form, avoid, only=_WISHES)


def ability(rng: random.Random) -> Sentence:
    """한국어를 가르칠 수 있어요."""
    denies = chance(rng, 0.4)
    form = Form(draw_level(rng), "present", "can", "안" if denies else "", not denies and _asks(rng))
    avoid = "ongoing accident state passive hither slight event routine dwelling great"
    return _draw(
        rng, "ability", form, avoid, only=(_SKILLS | _OCCASIONS) - (words("가르치다 그리다") if denies else set())
    )


def obligation(rng: random.Random) -> Sentence:
    """숙제를 해야 해요."""
    form = Form(draw_level(rng), "present", "must", question=chance(rng, 0.08))
    return _draw(rng, "obligation", form, "", "duty")


def negation(rng: random.Random) -> Sentence:
    """고기를 안 먹어요; 어제 학교에 가지 않았어요; 친구를 못 만났어요."""
    tense: Tense = rng.choices(("past", "present", "future"), (50, 35, 15))[0]
    asks = tense == "past" and chance(rng, 0.15)
    kinds: tuple[Negation, ...] = ("안", "않다", "못") if tense == "past" and not asks else ("안", "않다")
    form = Form(draw_level(rng), tense, negation=rng.choice(kinds), question=asks)
    avoid = {
        "past": "ongoing state accident passive routine dwelling own slight event great instant",
        "present": "ongoing accident event once passive routine dwelling own slight",
        "future": "ongoing unwilled accident state passive routine dwelling own slight event once great instant",
    }
    only = _EXPECTED if asks else {"past": _OMITTED, "present": _CUSTOMS, "future": _REFUSED}[tense]
    return _draw(rng, "negation", form, avoid[tense] + (" great" if asks else ""), only=only)


_BEFORE = Time("전에", "before")
# What it means something to have done once.
_ADVENTURES = {
    lemma: words(things)
    for lemma, things in rows(
        """
먹다 | 비빔밥 냉면 떡볶이 불고기 된장찌개 스파게티
마시다 | 맥주 와인 소주
보다 | 연극 뮤지컬 다큐멘터리 공연
쓰다 | 시 소설 기사 편지
배우다 | language struck_instrument racket 철학 경제
치다 | racket struck_instrument
만들다 | dish western
가르치다 | language science
타다 | 말 비행기
운전하다 | 트럭 버스
굽다 | 빵 케이크
키우다 | pet 소 돼지 말 오리
심다 | 나무 꽃 배추 감자
그리다 | 말 호랑이 장미
입다 | 한복
가다 | -
방문하다 | -
여행하다 | -
등산하다 | -
낚시하다 | -
살다 | -
"""
    )
}


_WORTH_SEEING = words("country city rural sight karaoke")


def _is_adventure(verb: Verb, noun: Noun | None) -> bool:
    things = _ADVENTURES.get(verb.lemma)
    return things is not None and (noun is None or noun.korean in things or bool(noun.classes & things))


def experience(rng: random.Random) -> Sentence:
    """전에 비빔밥을 먹은 적이 있어요."""
    form = Form(draw_level(rng), "present", "experience", question=_asks(rng))
    form = replace(form, negation="안" if not form.question and chance(rng, 0.4) else "")
    while True:
        verb = draw_verb(rng, "ongoing accident state instant daily")
        thing = Phrase(rng.choice(verb.objects)) if verb.objects else None
        if _is_adventure(verb, thing.noun if thing else None):
            break
    subject = draw_subject(rng, verb, thing.noun if thing else None, question=form.question, known=True)
    clause = draw_clause(rng, form, verb, subject=subject, thing=thing, adjuncts=0.8)
    if clause.place and (clause.place.korean == "집" or verb.takes not in ("goal", "nothing")):
        clause = replace(clause, place=None)
    if verb.takes == "thing":
        clause = replace(clause, companion=None)
    if verb.lemma in ("여행하다", "가다"):
        clause = replace(clause, place=rng.choice([p for p in verb.places if p.classes & _WORTH_SEEING]))
    clause = replace(clause, time=_BEFORE if not form.negation and chance(rng, 0.6) else None, manner=None)
    return finished("experience", clause, form)


CONSTRUCTIONS = (
    (past_action, 14),
    (present_action, 9),
    (future_action, 8),
    (progressive_action, 5),
    (wish, 6),
    (ability, 5),
    (obligation, 4),
    (negation, 9),
    (experience, 4),
)
