"""Constructions of two clauses: reason, condition, sequence, contrast, purpose, likings."""

import random
from collections.abc import Sequence
from dataclasses import replace

from . import conjugation as ko
from . import english as en
from .clauses import Clause, Form, Phrase, Sentence
from .conjugation import Predicate, Tense
from .doers import suits
from .drawing import chance, draw_clause, draw_level, draw_person, draw_phrase, draw_verb
from .facts import Fact, Statement
from .nouns import WHOLE_KINDS, Noun
from .occasions import suits_time
from .people import ME, US, Person
from .reasons import STEPS, draw_reason
from .tables import words
from .times import DAY_PAST_TIMES, SMALL_TIMES, Time
from .verbs import TRANSITIVE, Verb, verb_frames


def join(
    construction: str, form: Form, first: Statement, second: Statement, korean: str, english: str, mark: str = "."
) -> Sentence:
    """A finished sentence of two clauses, with the words of both."""
    return Sentence(
        korean + mark,
        en.capitalise(english) + mark,
        construction,
        form.level,
        first.words | second.words,
        first.combinations | second.combinations,
    )


def effect_form(rng: random.Random, fact: Fact, clause: Clause, level: ko.Level, unable: bool) -> Form:
    """What followed, or follows: in the past, or as a wish or need now."""
    traits = clause.verb.traits
    if unable:
        # One may have gone without sleep or a meal, but hardly foresees it.
        if clause.verb.lemma in ("자다", "쉬다", "먹다") or chance(rng, 0.7):
            return Form(level, "past", negation="못")
        return Form(level, "present", "can", "안")
    if chance(rng, 0.55):
        return Form(level, "past")
    if "duty" in traits and not fact.words & _SHAREABLE and chance(rng, 0.4):
        return Form(level, "present", "must")
    # Appointments and want of money or time are no source of wishes.
    may_wish = not traits & {"instant", "punctual"} and not fact.words & {"있다", "없다"}
    return Form(level, "present", "want") if may_wish else Form(level, "future")


_FELT = words("피곤하다 배고프다 목마르다 졸리다 심심하다")


def times_of(fact: Fact, clause: Clause, times: Sequence[Time]) -> list[Time]:
    """The times worth telling of: thirst is not remembered for days, and one studies before the day of an exam."""
    if "시험" in fact.words or "instant" in clause.verb.traits:
        return []
    return [time for time in times if time.korean == "어제" or not fact.words & (_FELT | {"회의", "수업", "시간"})]


def reason(rng: random.Random) -> Sentence:
    """피곤해서 집에서 쉬었어요; 바쁘기 때문에 친구를 못 만났어요."""
    fact, clause, unable = draw_reason(rng)
    form = effect_form(rng, fact, clause, draw_level(rng), unable)
    cause_form = Form(form.level, "past" if form.tense == "past" else "present")
    is_mine = clause.person is not None or bool(fact.words & {"아프다", "나다", "졸리다"})
    subjects = (None, None, ME) if is_mine else (None, None, ME, US)
    subject = rng.choice(subjects) if fact.english_subject == "" else None
    time = None
    times = times_of(fact, clause, DAY_PAST_TIMES)
    if form.tense == "past" and times and chance(rng, 0.5):
        time = rng.choice(times)
    fact = replace(fact, person=subject, time=time, time_is_topic=False)
    clause = replace(clause, subject=subject)
    second_korean = replace(clause, subject=None).korean_arguments(form.level)
    second_korean += ko.finish(clause.korean_predicate(form), form.level, form.tense)
    cause_predicate = fact.korean_predicate(cause_form)
    head = fact.korean_arguments(form.level)
    if chance(rng, 0.65):
        korean = head + ko.and_so(cause_predicate) + " " + second_korean
        english = f"{fact.english_clause(cause_form)}, so {clause.english_clause(form)}"
        return join("reason -아서", form, fact, clause, korean, english)
    if form.tense == "past":
        cause_predicate = ko.past(cause_predicate)
    korean = head + ko.because_of(cause_predicate) + " " + second_korean
    english = f"{clause.english_clause(form)} because {fact.english_clause(cause_form)}"
    return join("reason -기 때문에", form, fact, clause, korean, english)


def reason_to_ask(rng: random.Random) -> Sentence:
    """비가 오니까 택시를 타세요; 배고프니까 밥을 먹자."""
    while True:
        fact, clause, unable = draw_reason(rng)
        if not unable and clause.verb.takes != "person":
            break
    level = draw_level(rng)
    form = Form(level)
    p = clause.korean_predicate(form)
    head = fact.korean_arguments(level) + ko.since(fact.korean_predicate(form)) + " "
    arguments = clause.korean_arguments(level)
    is_weather = fact.english_subject != ""
    dresses = clause.verb.english in ("wear", "take off")
    # Weather is shared, so either may act on it; what I feel is no reason for orders, and my duties concern me alone.
    if (
        is_weather
        and "request" in clause.verb.traits
        and clause.verb.lemma != "찍다"
        and level != "casual"
        and chance(rng, 0.5)
    ):
        ending, words = ko.command(p, level), "please "
    elif level != "polite" and not dresses and (is_weather or fact.words & _SHAREABLE):
        ending, words = ko.suggest(p, level), "let's "
    else:
        ending, words = ko.finish(p, level, "future"), "I will "
    phrase = clause.english_verb + clause.english_complement(question=words == "please ")
    english = f"{fact.english_clause(form)}, so {words}{phrase}"
    return join("reason -(으)니까", form, fact, clause, head + arguments + ending, english)


_SHAREABLE = frozenset({"피곤하다", "배고프다", "목마르다", "심심하다"})


def condition(rng: random.Random) -> Sentence:
    """시간이 있으면 영화를 볼 거예요; 비가 오면 집에서 쉬고 싶어요."""
    while True:
        fact, clause, unable = draw_reason(rng)
        if not unable:
            break
    level = draw_level(rng)
    wish = (
        fact.english_subject != "" and chance(rng, 0.5) and not clause.verb.traits & {"instant", "punctual", "slight"}
    )
    form = Form(level, "present", "want") if wish else Form(level, "future")
    condition_form = Form(level)
    korean = fact.korean_arguments(level) + ko.provided(fact.korean_predicate(condition_form)) + " "
    korean += clause.korean_arguments(level) + ko.finish(clause.korean_predicate(form), level, form.tense)
    # A condition is not yet under way: if it rains, not if it is raining.
    english = f"if {replace(fact, under_way=False).english_clause(condition_form)}, {clause.english_clause(form)}"
    return join("condition", form, fact, clause, korean, english)


def sequence(rng: random.Random) -> Sentence:
    """저는 아침을 먹고 학교에 갔어요."""
    firsts, seconds = rng.choice(STEPS)
    first, second = rng.choice(firsts)(rng)[0], rng.choice(seconds)(rng)[0]
    while second.verb.lemma == first.verb.lemma or (second.object and second.object == first.object):
        second = rng.choice(seconds)(rng)[0]
    tense: Tense = rng.choices(("past", "future", "present"), (60, 30, 10))[0]
    if tense == "present" and not (first.words & _DAILY_DEEDS and second.verb.lemma in _DAILY_ENDS):
        tense = "past"
    form = Form(draw_level(rng), tense)
    subject = _shared_subject(rng, first, second)
    times = SMALL_TIMES[form.tense]
    if second.place and second.place.korean in ("학교", "회사"):
        times = tuple(time for time in times if "주말" not in time.korean)
    is_trifle = bool({first.verb.lemma, second.verb.lemma} & {"씻다", "샤워하다", "설거지하다"})
    is_trifle |= tense == "future" and second.verb.lemma == "자다"
    dated = tense == "present" or not is_trifle
    time = (
        rng.choice([time for time in times if _is_whole_day(time)])
        if dated and (tense == "present" or chance(rng, 0.6))
        else None
    )
    first = replace(first, subject=subject, time=time)
    unsubjected = replace(second, subject=None).korean_arguments(form.level)
    second = replace(second, subject=subject)
    # After going, rising, meeting and buying one goes on with -아서: the second deed rests on the first.
    link = ko.and_so if first.verb.lemma in ("가다", "일어나다", "만나다", "사다") else ko.and_then
    p = first.verb.predicate
    korean = first.korean_arguments(form.level)
    korean += link(ko.respectful(p) if subject and subject.honoured else p) + " "
    korean += unsubjected + ko.finish(second.korean_predicate(form), form.level, form.tense)
    second_verb = "go to bed" if second.verb.lemma == "자다" else second.verb.english
    verb = en.finite(second_verb, first.doer(form).agreement, form.tense)
    habitual = form.tense == "present"
    start = replace(first, time=None).english_clause(form)
    english = f"{start} and {verb.rest}{second.english_complement(generic=habitual)}"
    english += " " + time.english if time else ""
    return join("sequence", form, first, second, korean, english)


# What makes up an ordinary day.
_DAILY_DEEDS = words("일어나다 씻다 샤워하다 아침 점심 저녁 운동하다 숙제 퇴근하다")
_DAILY_ENDS = words("가다 읽다 보다 마시다 산책하다 설거지하다 자다 샤워하다 듣다")


def _shared_subject(rng: random.Random, first: Clause, second: Clause) -> Person | None:
    if chance(rng, 0.55) or first.person or second.person:
        return rng.choice((None, ME))
    traits = first.verb.traits | second.verb.traits
    pretend = replace(second.verb, traits=traits)
    things = [clause.object.noun for clause in (first, second) if clause.object]
    alcohol = next((noun for noun in things if "alcohol" in noun.classes), None)
    return draw_person(rng, pretend, alcohol, role=False)


def _is_whole_day(time: Time) -> bool:
    return time.korean in ("어제", "그저께", "내일", "매일", "지난 주말에", "이번 주말에")


def two_people(rng: random.Random) -> Sentence:
    """저는 커피를 마시고 친구는 녹차를 마셨어요; 저는 사과를 좋아하지만 누나는 포도를 좋아해요."""
    like = chance(rng, 0.4)
    verb: Verb = rng.choice(verb_frames("좋아하다")) if like else draw_two_people_verb(rng)
    tenses: tuple[Tense, ...] = ("past", "past", "future") if verb.lemma in _PLANNED_APART else ("past",)
    form = Form(draw_level(rng), "present" if like else rng.choice(tenses))
    one = rng.choice(verb.objects)
    other = rng.choice([noun for noun in verb.objects if noun is not one and _differ(one, noun)] or [one])
    person = draw_person(rng, verb, other, role=False)
    while not suits(person, verb, one):
        person = draw_person(rng, verb, other, role=False)
    first, second = Clause(verb, ME, Phrase(one)), Clause(verb, person, Phrase(other))
    denies = like and (other is one or chance(rng, 0.4))
    second_form = form
    if denies:
        second, second_form = replace(second, object=Phrase(one)), replace(form, negation="안")
    elif other is one:
        return two_people(rng)
    link, conjunction = (ko.although, "but") if like else (ko.and_then, "and")
    korean = first.korean_arguments(form.level) + link(verb.predicate) + " "
    korean += second.korean(second_form).removesuffix(".")
    english = f"{first.english_clause(form)}, {conjunction} {second.english_clause(second_form)}"
    return join("two people", form, first, second, korean, english)


def _differ(one: Noun, other: Noun) -> bool:
    return one.classes == other.classes and not WHOLE_KINDS & {one.korean, other.korean}


def draw_two_people_verb(rng: random.Random) -> Verb:
    """A verb by which two people may differ."""
    return rng.choice(
        [
            verb
            for verb in TRANSITIVE
            if verb.lemma in _DIFFERING
            and len(verb.objects) > 3
            and not verb.objects[0].classes & _UNSHARED
            and not (verb.lemma == "먹다" and "generic" in verb.traits)
        ]
    )


_UNSHARED = words("tableware stationery gadget appliance furniture")
_PLANNED_APART = words("주문하다 사다 배우다 공부하다 마시다")
_DIFFERING = words("먹다 마시다 사다 읽다 배우다 공부하다 주문하다 치다 만들다 고르다 그리다")


def purpose(rng: random.Random) -> Sentence:
    """책을 사러 서점에 갔어요."""
    goal_verb = verb_frames("가다")[0]
    while True:
        verb = draw_verb(rng, "ongoing accident state passive great own instant adult")
        spots = [place for place in verb.places if place in goal_verb.places and place.korean not in ("집", "사무실")]
        if spots and verb.lemma in _ERRANDS:
            break
    form = Form(draw_level(rng), rng.choice(("past", "past", "future")), question=chance(rng, 0.15))
    thing = replace(draw_phrase(rng, verb, form), number=0, adjective=None) if verb.objects else None
    is_drink = thing is not None and "drink" in thing.noun.classes
    if thing and (thing.noun.korean in ("물", "콜라", "우유") or (is_drink and verb.lemma != "마시다")):
        return purpose(rng)
    subject = None if form.question or chance(rng, 0.4) else rng.choice((ME, draw_person(rng, verb, role=False)))
    inner = replace(draw_clause(rng, form, verb, subject=ME, thing=thing, adjuncts=0.0), subject=None)
    if inner.person and subject and subject is not ME:
        subject = ME
    if is_drink:
        spots = [place for place in spots if place.korean == "카페"]
    place = rng.choice(spots)
    noun = thing.noun if thing else None
    times = [t for t in SMALL_TIMES[form.tense] if suits_time(t, verb, noun) and "밤" not in t.korean]
    time = rng.choice(times) if chance(rng, 0.5) else None
    outer = Clause(goal_verb, subject, place=place, time=time)
    go = replace(outer, place=None).korean_arguments(form.level) + inner.korean_arguments(form.level)
    go += ko.in_order_to(verb.predicate) + f" {place.korean}에 "
    go += ko.finish(outer.korean_predicate(form), form.level, form.tense, question=form.question)
    english = replace(outer, time=None).english_clause(form) + f" to {verb.english}"
    english += inner.english_complement(question=form.question) + (" " + time.english if time else "")
    sentence = join("purpose", form, inner, outer, go, english, "?" if form.question else ".")
    # The deed is done at the goal, so verb and place are bound as well.
    return replace(sentence, combinations=sentence.combinations | {(verb.lemma, place.korean)})


_ERRANDS = words(
    "먹다 마시다 사다 읽다 빌리다 보다 배우다 공부하다 치다 하다 부르다 찍다 타다 만나다 놀다 "
    "운동하다 수영하다 산책하다 쇼핑하다 쉬다 그리다"
)


def liking_to_do(rng: random.Random) -> Sentence:
    """저는 책을 읽는 것을 좋아해요."""
    like = verb_frames("좋아하다")[0]
    verb = draw_verb(rng, "ongoing accident state passive great", "fun")
    form = Form(draw_level(rng), "present", question=chance(rng, 0.2))
    thing = Phrase(rng.choice(verb.objects)) if verb.objects else None
    if thing and thing.noun.korean in ("이메일", "보고서", "기사", "물"):
        return liking_to_do(rng)
    other = draw_person(rng, verb, thing.noun if thing else None, role=False)
    subject = None if form.question else rng.choice((ME, ME, other))
    if verb.takes == "person":
        subject = None if form.question else ME
    inner = draw_clause(rng, Form(form.level, "past"), verb, subject=ME, thing=thing, adjuncts=0.5)
    place = None if inner.person else inner.place
    inner = replace(inner, subject=None, place=place, time=None, companion=None, manner=None, frequency=None)
    outer = Clause(like, subject)
    if not form.question and not inner.person and chance(rng, 0.2):
        form = replace(form, negation="안")
    korean = outer.korean_arguments(form.level) + inner.korean_arguments(form.level)
    korean += ko.doing(verb.predicate) + "을 "
    korean += ko.finish(outer.korean_predicate(form), form.level, question=form.question)
    english = f"{outer.english_clause(form)} {en.gerund(verb.english)}"
    english += inner.english_complement(generic=True, question=form.question)
    return join("liking to do", form, inner, outer, korean, english, "?" if form.question else ".")


def knowing_how(rng: random.Random) -> Sentence:
    """저는 한국 음식을 만들 줄 알아요; 자전거를 탈 줄 몰라요."""
    verb = rng.choice([verb for verb in TRANSITIVE if verb.lemma in ("치다", "타다", "만들다", "운전하다", "굽다") and
                       "once" not in verb.traits])  # fmt: skip
    thing = Phrase(rng.choice(verb.objects))
    form = Form(draw_level(rng), question=chance(rng, 0.25))
    subject = None if form.question or chance(rng, 0.3) else rng.choice((ME, draw_person(rng, verb, thing.noun)))
    lacks = not form.question and chance(rng, 0.35)
    clause = Clause(verb, subject, thing)
    p = verb.predicate
    know = Predicate(ko.adnominal(p, "future") + " 줄 " + ("모르" if lacks else "알"))
    if subject and subject.honoured:
        know = ko.honorific(know)
    korean = clause.korean_arguments(form.level) + ko.finish(know, form.level, question=form.question)
    doer = clause.doer(form)
    knows = en.finite("know how to " + verb.english, doer.agreement, negated=lacks, question=form.question)
    said = knows.question if form.question else knows.statement
    english = said(doer.english_said(question=form.question)) + clause.english_complement(
        generic="food" in thing.noun.classes
    )
    words = clause.words | {"모르다" if lacks else "알다"}
    sentence = join("knowing how", form, clause, clause, korean, english, "?" if form.question else ".")
    return replace(sentence, words=words)


CONSTRUCTIONS = (
    (reason, 9),
    (reason_to_ask, 4),
    (condition, 4),
    (sequence, 5),
    (two_people, 4),
    (purpose, 4),
    (liking_to_do, 3),
    (knowing_how, 2),
)
