"""Constructions of one clause: what somebody does, did, will do, wants, can, must, has ever done."""

import random
from dataclasses import replace

from .clauses import Clause, Form, Negation, Phrase, Sentence
from .conjugation import Tense
from .drawing import chance, draw_clause, draw_level, draw_phrase, draw_subject, draw_verb
from .nouns import Noun
from .tables import rows, words
from .times import DAY_PAST_TIMES, GREAT_TIMES, Time
from .verbs import Verb


def finished(construction: str, clause: Clause, form: Form) -> Sentence:
    """Say a clause as a sentence of its own."""
    return Sentence(
        clause.korean(form), clause.english(form), construction, form.level, clause.words, clause.combinations
    )


def _draw(rng: random.Random, construction: str, form: Form, avoid: str = "", require: str = "") -> Sentence:
    verb = draw_verb(rng, avoid, require)
    if verb.lemma in ("배우다", "키우다") and form.tense == "present" and form.mode == "plain" and not form.negation:
        # What one learns these days one is learning.
        construction, form = "progressive", replace(form, mode="progressive")
    thing = draw_phrase(rng, verb, form) if verb.objects else None
    known = form.tense != "past" and form.mode != "progressive"
    subject = draw_subject(rng, verb, thing.noun if thing else None, question=form.question, known=known)
    clause = draw_clause(rng, form, verb, subject=subject, thing=thing)
    is_fresh = clause.time is not None and clause.time not in (*DAY_PAST_TIMES, *GREAT_TIMES["past"])
    if form.remote and (verb.lemma not in _REMEMBERED or clause.time is None or is_fresh or verb.english == "take"):
        form = replace(form, remote=False)
    return finished(construction, clause, form)


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
    return _draw(rng, "present", form, "ongoing accident event once passive")


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
    return _draw(rng, "ability", form, "ongoing accident state passive hither slight event routine dwelling")


def obligation(rng: random.Random) -> Sentence:
    """숙제를 해야 해요."""
    form = Form(draw_level(rng), "present", "must", question=chance(rng, 0.08))
    return _draw(rng, "obligation", form, "", "duty")


def negation(rng: random.Random) -> Sentence:
    """고기를 안 먹어요; 어제 학교에 가지 않았어요; 친구를 못 만났어요."""
    tense: Tense = rng.choices(("past", "present", "future"), (50, 35, 15))[0]
    kinds: tuple[Negation, ...] = ("안", "않다", "못") if tense == "past" else ("안", "않다")
    asks = tense == "past" and chance(rng, 0.15)
    form = Form(draw_level(rng), tense, negation=rng.choice(kinds), question=asks)
    avoid = {
        "past": "ongoing state accident passive routine dwelling own slight event",
        "present": "ongoing accident event once passive routine dwelling own slight",
        "future": "ongoing unwilled accident state passive routine dwelling own slight event once",
    }
    return _draw(rng, "negation", form, avoid[tense])


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
