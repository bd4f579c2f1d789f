"""Constructions of one clause: what somebody does, did, will do, wants, can, must, has ever done."""

import random
from dataclasses import replace

from .clauses import Clause, Form, Negation, Phrase, Sentence
from .conjugation import Tense
from .drawing import chance, draw_clause, draw_level, draw_phrase, draw_subject, draw_verb
from .nouns import Noun
from .places import PLACE
from .tables import rows, words
from .times import DAY_FUTURE_TIMES, DAY_PAST_TIMES, FUTURE_TIMES, GREAT_TIMES, PAST_TIMES, TODAY, Time
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
    thing = draw_phrase(rng, verb, form) if verb.objects else None
    if thing and not _may_be_denied(thing.noun, form):
        return _draw(rng, construction, form, avoid, require, only)
    known = form.tense != "past" and form.mode != "progressive"
    subject = draw_subject(rng, verb, thing.noun if thing else None, question=form.question, known=known)
    if form.mode == "want" and subject and subject.kind == "role":
        subject = None
    is_outsider = subject is not None and subject.kind not in ("me", "us")
    is_near = form.tense == "future" and form.negation
    is_small = (form.mode == "must" or form.tense == "future") and verb.traits & {"instant", "slight"}
    # What another will not do, has to do in a moment, or is free to do one does not know.
    if is_outsider and (is_near or is_small or (form.mode == "can" and verb.lemma in _OCCASIONS)):
        subject = None
    clause = draw_clause(rng, form, verb, subject=subject, thing=thing)
    if form.mode == "can":
        place = clause.place if verb.takes == "goal" else None
        clause = replace(clause, place=place, manner=None, time=_free_time(rng, form, clause))
    elif form.negation and clause.time not in (
        _RECENT if form.question or (is_outsider and form.tense == "past") else _SOON if is_near else (clause.time,)
    ):
        clause = replace(clause, time=None)
    if form.negation and form.tense == "present" and clause.place and clause.place.korean not in _CUSTOMARY_PLACES:
        clause = replace(clause, place=PLACE[rng.choice(sorted(_CUSTOMARY_PLACES))])
    if form.mode == "must" and verb.lemma == "가다" and "great" not in verb.traits:
        clause = replace(clause, place=PLACE[rng.choice(_DUTY_PLACES)])
    is_fresh = clause.time is not None and clause.time not in (*DAY_PAST_TIMES, *GREAT_TIMES["past"])
    if form.remote and (verb.lemma not in _REMEMBERED or clause.time is None or is_fresh or verb.english == "take"):
        form = replace(form, remote=False)
    return finished(construction, clause, form)


# What takes long, and yet is told as present.
_LASTING = words("배우다 키우다 살다")
# What one is able to do for having learnt it, and what for being free.
_SKILLS = words("치다 타다 운전하다 만들다 굽다 가르치다 수영하다 고치다 그리다")
_OCCASIONS = words("만나다 돕다 전화하다 가다 끝내다 보내다 일하다 쉬다 운동하다")
# What one is expected to have done, so that one may be asked whether one has not, and when.
_EXPECTED = words("먹다 가다 만나다 전화하다 하다 보다 운동하다 끝내다 보내다")
_RECENT = (TODAY, *(time for time in PAST_TIMES if time.korean in ("어제", "오늘 아침에", "아까", "어제저녁에")))
_SOON = tuple(time for time in (TODAY, *FUTURE_TIMES) if time.korean in ("오늘", "내일", "이번 주말에", "오늘 저녁에"))
# What one may do without, and where one may have ceased to go.
_CUSTOMS = words(
    "먹다 마시다 보다 읽다 듣다 하다 치다 좋아하다 운동하다 공부하다 가다 만나다 일하다 타다 운전하다 쇼핑하다 "
    "수영하다 다니다 요리하다 산책하다 등산하다 낚시하다 춤추다"
)
_CUSTOMARY_PLACES = words("학교 회사 도서관 체육관 교회 카페")


_DUTY_PLACES = ("학교", "회사", "병원", "은행", "우체국", "약국", "도서관", "공항", "기차역", "사무실", "집", "시장")


def _may_be_denied(noun: Noun, form: Form) -> bool:
    if not form.negation or form.mode != "plain":
        return True
    if form.question:
        return bool(noun.classes & {"meal", "medicine", "show", "task", "writing"})
    return form.tense != "present" or noun.korean not in ("물", "숙제")


def _free_time(rng: random.Random, form: Form, clause: Clause) -> Time | None:
    if clause.verb.lemma not in _OCCASIONS:
        return None
    return clause.time if clause.time or form.negation else rng.choice((TODAY, *DAY_FUTURE_TIMES))


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
    avoid = "ongoing accident event once passive" + (" slight" if form.question else "")
    return _draw(rng, "present", form, avoid)


def future_action(rng: random.Random) -> Sentence:
    """내일 도서관에서 공부할 거예요."""
    form = Form(draw_level(rng), "future", question=_asks(rng))
    return _draw(rng, "future", form, "ongoing accident state unwilled hither")


def progressive_action(rng: random.Random) -> Sentence:
    """동생은 방을 청소하고 있어요."""
    tense: Tense = "past" if chance(rng, 0.25) else "present"
    form = Form(draw_level(rng), tense, "progressive", question=_asks(rng))
    return _draw(rng, "progressive", form, "accident state event punctual going")


def wish(rng: random.Random) -> Sentence:
    """커피를 마시고 싶어요."""
    form = Form(draw_level(rng), "present", "want", question=_asks(rng))
    return _draw(rng, "wish", form, "ongoing accident state passive hither own unwished")


def ability(rng: random.Random) -> Sentence:
    """한국어를 가르칠 수 있어요."""
    denies = chance(rng, 0.4)
    form = Form(draw_level(rng), "present", "can", "안" if denies else "", not denies and _asks(rng))
    avoid = "ongoing accident state passive hither slight event routine dwelling great"
    return _draw(rng, "ability", form, avoid, only=_SKILLS | _OCCASIONS)


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
    only = _EXPECTED if asks else _CUSTOMS if tense == "present" else frozenset()
    return _draw(rng, "negation", form, avoid[tense] + (" great" if asks else ""), only=only)


_BEFORE = Time("전에", "before")
# What it means something to have done once.
_ADVENTURES = {
    lemma: words(things)
    for lemma, things in rows(
        """
먹다 | 비빔밥 냉면 카레 떡볶이 김밥 만두 불고기 된장찌개 죽 스파게티 감 떡 김치
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


_WORTH_SEEING = words("country city rural sight karaoke nature")


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
