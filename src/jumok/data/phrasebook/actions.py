"""Constructions of one clause: what somebody does, did, will do, wants, can, must, has ever done."""

import random
from dataclasses import replace

from .clauses import Clause, Form, Negation, Sentence
from .conjugation import Tense
from .drawing import chance, draw_clause, draw_level, draw_phrase, draw_subject, draw_verb
from .tables import words
from .times import Time


def finished(construction: str, clause: Clause, form: Form) -> Sentence:
    """Say a clause as a sentence of its own."""
    return Sentence(
        clause.korean(form), clause.english(form), construction, form.level, clause.words, clause.combinations
    )


def _draw(rng: random.Random, construction: str, form: Form, avoid: str = "", require: str = "") -> Sentence:
    verb = draw_verb(rng, avoid, require)
    thing = draw_phrase(rng, verb, form) if verb.objects else None
    subject = draw_subject(rng, verb, thing.noun if thing else None, question=form.question)
    return finished(construction, draw_clause(rng, form, verb, subject=subject, thing=thing), form)


def _asks(rng: random.Random) -> bool:
    return chance(rng, 0.3)


def past_action(rng: random.Random) -> Sentence:
    """어제 친구와 영화를 봤어요."""
    form = Form(draw_level(rng), "past", question=_asks(rng), remote=chance(rng, 0.12))
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
    return _draw(rng, "progressive", form, "accident state event punctual")


def wish(rng: random.Random) -> Sentence:
    """커피를 마시고 싶어요."""
    form = Form(draw_level(rng), "present", "want", question=_asks(rng))
    return _draw(rng, "wish", form, "ongoing accident state passive hither")


def ability(rng: random.Random) -> Sentence:
    """한국어를 가르칠 수 있어요."""
    form = Form(draw_level(rng), "present", "can", "" if chance(rng, 0.6) else "안", _asks(rng))
    return _draw(rng, "ability", form, "ongoing accident state passive hither")


def obligation(rng: random.Random) -> Sentence:
    """숙제를 해야 해요."""
    form = Form(draw_level(rng), "present", "must", question=chance(rng, 0.15))
    return _draw(rng, "obligation", form, "", "duty")


def negation(rng: random.Random) -> Sentence:
    """고기를 안 먹어요; 어제 학교에 가지 않았어요; 친구를 못 만났어요."""
    tense: Tense = rng.choices(("past", "present", "future"), (50, 35, 15))[0]
    kinds: tuple[Negation, ...] = ("안", "않다", "못") if tense == "past" else ("안", "않다")
    form = Form(draw_level(rng), tense, negation=rng.choice(kinds), question=chance(rng, 0.15))
    avoid = {
        "past": "ongoing state accident passive routine dwelling",
        "present": "ongoing accident event once passive routine dwelling",
        "future": "ongoing unwilled accident state passive routine dwelling",
    }
    return _draw(rng, "negation", form, avoid[tense])


_BEFORE = Time("전에", "before")
# What it means something to have done once.
_ADVENTURES = words(
    "먹다 마시다 보다 읽다 배우다 치다 타다 만들다 가다 방문하다 여행하다 그리다 쓰다 부르다 가르치다 등산하다 "
    "낚시하다 굽다 살다 심다 키우다"
)
_EVERYDAY = words("이메일 보고서 물 달걀 빵 우유 약 비타민 신문 텔레비전 뉴스 버스 지하철 택시")


def experience(rng: random.Random) -> Sentence:
    """전에 비빔밥을 먹은 적이 있어요."""
    form = Form(draw_level(rng), "present", "experience", "" if chance(rng, 0.65) else "안", _asks(rng))
    verb = draw_verb(rng, "ongoing accident state instant daily")
    while verb.lemma not in _ADVENTURES:
        verb = draw_verb(rng, "ongoing accident state instant daily")
    thing = replace(draw_phrase(rng, verb, form), number=0) if verb.objects else None
    if thing and thing.noun.korean in _EVERYDAY:
        return experience(rng)
    subject = draw_subject(rng, verb, thing.noun if thing else None, question=form.question)
    clause = draw_clause(rng, form, verb, subject=subject, thing=thing, adjuncts=0.8)
    if clause.place and clause.place.korean == "집":
        clause = replace(clause, place=None)
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
