"""Constructions of two clauses: reason, condition, sequence, contrast, purpose, likings."""

import random
from collections.abc import Callable
from dataclasses import replace

from . import conjugation as ko
from . import english as en
from .adjectives import PEOPLE_ADJECTIVES, WEATHER
from .clauses import Clause, Form, Phrase, Sentence
from .conjugation import Predicate
from .drawing import chance, draw_clause, draw_level, draw_person, draw_phrase, draw_verb
from .facts import Fact, Statement, ailment, having, quality_of_person, sky, weather
from .nouns import WHOLE_KINDS, Noun, nouns
from .people import ME, US, Person
from .places import places
from .times import DAY_PAST_TIMES, MANNERS, SMALL_TIMES, Time
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


# Reasons. Each row: circumstances of one kind, and what follows from them. An effect reads
# ``verb:objects@places~manner``, with ! before what one could not do.

_PEOPLE = {adjective.lemma: adjective for adjective in PEOPLE_ADJECTIVES}
_WEATHER = {adjective.lemma: adjective for adjective in WEATHER}
_REASONS = (
    ("피곤하다 졸리다", "쉬다@집,카페 자다~일찍 가다@집~일찍 마시다:커피,홍차 !운동하다 !하다:숙제 !청소하다:방,거실,부엌 눕다 !가다@체육관,영화관"),
    ("배고프다", "먹다:dish,western,sweets 사다:빵,과자,김밥,바나나 만들다:라면,볶음밥,샌드위치 주문하다:dish,western 가다@식당,빵집"),
    ("목마르다", "마시다:물,주스,콜라,우유,맥주 사다:물,주스,콜라 가다@카페,편의점"),
    ("심심하다", "보다:영화,드라마,만화,텔레비전 읽다:소설,만화책,잡지 듣다:음악,라디오 하다:게임 산책하다@공원 그리다:그림 치다:피아노,기타"),
    ("바쁘다", "!먹다:meal !만나다 !보다:영화,드라마,연극 !운동하다 !가다@영화관,미용실,체육관,은행 !쉬다 타다:택시 !읽다:책,신문 !자다"),
    ("아프다 ailment", "가다@병원,약국 먹다:약 !가다@학교,회사 쉬다@집 !일하다 !공부하다:수학,영어,역사 !자다 눕다"),
    ("춥다", "입다:코트,스웨터,재킷 끼다:장갑 마시다:녹차,홍차,커피 닫다:창문,문 켜다:난로 !수영하다@바다,강 신다:부츠,양말"),
    ("덥다", "켜다:에어컨,선풍기 마시다:물,주스,콜라,맥주 먹다:아이스크림,수박,냉면 수영하다@바다,수영장 열다:창문 벗다:재킷,코트"),
    ("좋다 따뜻하다 맑다", "산책하다@공원 가다@공원,바다,산,놀이공원,동물원 타다:자전거@공원 찍다:사진@공원,바다 열다:창문 등산하다"),
    ("비", "가져오다:우산 쉬다@집 타다:택시,버스,지하철 보다:영화@집 !산책하다 !등산하다 닫다:창문 !하다:축구,야구"),
    ("눈", "신다:부츠 끼다:장갑 찍다:사진 쉬다@집 !운전하다:자동차 타다:지하철 !등산하다"),
    ("바람", "닫다:창문,문 입다:코트,재킷 !타다:자전거 !치다:배드민턴,테니스 쓰다:모자"),
    ("no:돈", "!사다:garment,gadget,carried !여행하다 팔다:자동차,카메라,노트북 !타다:택시 !가다@백화점 !주문하다:피자,불고기"),
    ("no:시간", "!먹다:meal !보다:영화,뉴스 !만나다 !청소하다:방,부엌 타다:택시 !하다:숙제 !읽다:소설,신문"),
    ("시험", "공부하다:수학,영어,역사,과학 가다@도서관 !보다:드라마,영화 !하다:게임 !자다 외우다:단어"),
    ("회의", "가다@회사~일찍 쓰다:보고서 입다:양복 준비하다:점심 출근하다~일찍 !퇴근하다~일찍"),
    ("수업", "가다@학교 준비하다:점심 일어나다~일찍 !가다@영화관,바다 가져오다:공책,사전"),
)  # fmt: skip


def _read_effect(effect: str) -> Callable[[random.Random], tuple[Clause, bool]]:
    """Turn an effect's notation into something that draws it."""
    unable = effect.startswith("!")
    rest, _, manner = effect.removeprefix("!").partition("~")
    rest, _, spots = rest.partition("@")
    lemma, _, things = rest.partition(":")
    wanted = nouns(things.replace(",", " "))
    frames = [(verb, noun) for verb in verb_frames(lemma) for noun in verb.objects if noun in wanted]
    frame = verb_frames(lemma)[0]
    goals = places(spots.replace(",", " "))
    assert frames or not things, effect

    def draw(rng: random.Random) -> tuple[Clause, bool]:
        verb, noun = rng.choice(frames) if frames else (frame, None)
        person = None
        if verb.takes == "person":
            person = draw_person(rng, verb)
            while person.kind == "role":
                person = draw_person(rng, verb)
        clause = Clause(
            verb,
            object=Phrase(noun) if noun else None,
            person=person,
            place=rng.choice(goals) if goals else None,
            manner=MANNERS[manner] if manner else None,
        )
        return clause, unable

    return draw


_EFFECTS = [(causes.split(), [_read_effect(effect) for effect in effects.split()]) for causes, effects in _REASONS]
_AILMENTS = ("머리가 아프다", "배가 아프다", "목이 아프다", "이가 아프다", "열이 나다")


def draw_cause(rng: random.Random, cause: str) -> Fact:
    """A circumstance by its name in the table of reasons."""
    if cause == "ailment":
        return ailment(rng.choice(_AILMENTS))
    if cause in _PEOPLE:
        return quality_of_person(_PEOPLE[cause], None)
    if cause in _WEATHER:
        return weather(_WEATHER[cause])
    if cause in ("비", "눈", "바람"):
        return sky(cause)
    if cause.startswith("no:"):
        noun = cause.removeprefix("no:")
        return having(noun, {"돈": "money", "시간": "time"}[noun], None, lacks=True)
    english = {"시험": "an exam", "회의": "a meeting", "수업": "a class"}[cause]
    return having(cause, english, None)


def draw_reason(rng: random.Random) -> tuple[Fact, Clause, bool]:
    """A circumstance, what follows from it, and whether that is something one could not do."""
    causes, effects = rng.choice(_EFFECTS)
    fact = draw_cause(rng, rng.choice(causes))
    clause, unable = rng.choice(effects)(rng)
    return fact, clause, unable


def effect_form(rng: random.Random, clause: Clause, level: ko.Level, unable: bool) -> Form:
    """What followed, or follows: in the past, or as a wish or need now."""
    traits = clause.verb.traits
    if unable:
        if chance(rng, 0.7):
            return Form(level, "past", negation="못")
        return Form(level, "present", "can", "안")
    if chance(rng, 0.55):
        return Form(level, "past")
    if "duty" in traits and chance(rng, 0.4):
        return Form(level, "present", "must")
    return Form(level, "present", "want") if not traits & {"instant", "punctual"} else Form(level, "future")


def reason(rng: random.Random) -> Sentence:
    """피곤해서 집에서 쉬었어요; 바쁘기 때문에 친구를 못 만났어요."""
    fact, clause, unable = draw_reason(rng)
    form = effect_form(rng, clause, draw_level(rng), unable)
    cause_form = Form(form.level, "past" if form.tense == "past" else "present")
    subject = rng.choice((None, None, ME, US)) if fact.english_subject == "" else None
    time = None
    if form.tense == "past" and chance(rng, 0.5):
        time = rng.choice(DAY_PAST_TIMES)
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
    if is_weather and "request" in clause.verb.traits and level != "casual" and chance(rng, 0.5):
        ending, words = ko.command(p, level), "please "
    elif level != "polite" and not dresses and (is_weather or fact.words & _SHAREABLE):
        ending, words = ko.suggest(p, level), "let's "
    else:
        ending, words = ko.finish(p, level, "future"), "I will "
    phrase = clause.verb.english + clause.english_complement(question=words == "please ")
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
    wish = fact.english_subject != "" and chance(rng, 0.5) and not clause.verb.traits & {"instant", "punctual"}
    form = Form(level, "present", "want") if wish else Form(level, "future")
    condition_form = Form(level)
    korean = fact.korean_arguments(level) + ko.provided(fact.korean_predicate(condition_form)) + " "
    korean += clause.korean_arguments(level) + ko.finish(clause.korean_predicate(form), level, form.tense)
    # A condition is not yet under way: if it rains, not if it is raining.
    english = f"if {replace(fact, under_way=False).english_clause(condition_form)}, {clause.english_clause(form)}"
    return join("condition", form, fact, clause, korean, english)


# Sequences: what one does first, and what then.
_SEQUENCES = (
    ("일어나다~일찍 씻다:손,얼굴 샤워하다 먹다:아침", "가다@학교,회사,도서관,체육관 읽다:신문 보다:뉴스 마시다:커피,우유,주스 운동하다"),
    ("먹다:점심 먹다:저녁 먹다:dish,western", "마시다:커피,녹차,홍차 산책하다@공원 설거지하다 보다:영화,드라마 가다@카페,공원 먹다:케이크,아이스크림"),
    ("하다:숙제 공부하다:language 끝내다:보고서", "자다 보다:드라마,만화 하다:게임 듣다:음악 만나다 가다@집,영화관"),
    ("운동하다 수영하다 치다:테니스,탁구 하다:축구,농구", "샤워하다 마시다:물,주스 쉬다@집 먹다:점심,저녁 가다@집"),
    ("청소하다:방,거실,부엌 빨래하다 설거지하다", "쉬다 마시다:커피,녹차 듣다:음악,라디오 보다:텔레비전 가다@시장,편의점"),
    ("퇴근하다~일찍 만나다", "가다@영화관,식당,카페,백화점,노래방 보다:영화,연극,뮤지컬 먹다:저녁 마시다:맥주,와인 쇼핑하다@백화점"),
    ("사다:vegetable,고기,생선 가다@시장", "만들다:카레,볶음밥,된장찌개,비빔밥 요리하다:고기,생선 가다@집 준비하다:저녁"),
    ("쓰다:편지,엽서,이메일", "보내다:사진,선물 가다@우체국 자다 전화하다"),
)  # fmt: skip
_STEPS = [
    ([_read_effect(step) for step in first.split()], [_read_effect(step) for step in second.split()])
    for first, second in _SEQUENCES
]


def sequence(rng: random.Random) -> Sentence:
    """저는 아침을 먹고 학교에 갔어요."""
    firsts, seconds = rng.choice(_STEPS)
    first, second = rng.choice(firsts)(rng)[0], rng.choice(seconds)(rng)[0]
    while second.verb.lemma == first.verb.lemma and second.object == first.object:
        second = rng.choice(seconds)(rng)[0]
    tense = rng.choices(("past", "future", "present"), (60, 30, 10))[0]
    form = Form(draw_level(rng), tense)  # type: ignore[arg-type]
    subject = _shared_subject(rng, first, second)
    times = SMALL_TIMES[form.tense]
    time = rng.choice(times) if chance(rng, 0.6) and not (first.person and second.person) else None
    is_breakfast = any(
        clause.object and clause.object.noun.korean in ("아침", "점심", "저녁") for clause in (first, second)
    )
    if (is_breakfast or first.verb.lemma in ("일어나다", "퇴근하다")) and time and not _is_whole_day(time):
        time = None
    first = replace(first, subject=subject, time=time)
    unsubjected = replace(second, subject=None).korean_arguments(form.level)
    second = replace(second, subject=subject)
    # After going, rising and meeting one goes on with -아서: the second deed rests on the first.
    link = ko.and_so if first.verb.lemma in ("가다", "일어나다", "만나다") else ko.and_then
    korean = first.korean_arguments(form.level) + link(first.verb.predicate) + " "
    korean += unsubjected + ko.finish(second.korean_predicate(form), form.level, form.tense)
    verb = en.finite(second.verb.english, first.doer(form).agreement, form.tense)
    habitual = form.tense == "present"
    start = replace(first, time=None).english_clause(form)
    english = f"{start} and {verb.rest}{second.english_complement(generic=habitual)}"
    english += " " + time.english if time else ""
    return join("sequence", form, first, second, korean, english)


def _shared_subject(rng: random.Random, first: Clause, second: Clause) -> Person | None:
    if chance(rng, 0.55) or first.person or second.person:
        return rng.choice((None, ME))
    traits = first.verb.traits | second.verb.traits
    pretend = replace(second.verb, traits=traits)
    things = [clause.object.noun for clause in (first, second) if clause.object]
    alcohol = next((noun for noun in things if "alcohol" in noun.classes), None)
    person = draw_person(rng, pretend, alcohol)
    while person.kind == "role" or (first.verb.lemma in ("하다", "치다") and person.honoured):
        person = draw_person(rng, pretend, alcohol)
    return person


def _is_whole_day(time: Time) -> bool:
    return time.korean in ("어제", "그저께", "내일", "모레", "매일", "지난 주말에", "이번 주말에")


def two_people(rng: random.Random) -> Sentence:
    """저는 커피를 마시고 친구는 녹차를 마셨어요; 저는 사과를 좋아하지만 누나는 포도를 좋아해요."""
    like = chance(rng, 0.4)
    verb: Verb = rng.choice(verb_frames("좋아하다")) if like else draw_two_people_verb(rng)
    form = Form(draw_level(rng), "present" if like else rng.choice(("past", "past", "future")))  # type: ignore[arg-type]
    one = rng.choice(verb.objects)
    other = rng.choice([noun for noun in verb.objects if noun is not one and _differ(one, noun)] or [one])
    person = draw_person(rng, verb, one)
    while person.kind == "role":
        person = draw_person(rng, verb, one)
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
    return rng.choice([verb for verb in TRANSITIVE if verb.lemma in _DIFFERING and len(verb.objects) > 2])


_DIFFERING = frozenset(["먹다", "마시다", "사다", "읽다", "배우다", "공부하다", "주문하다", "치다", "입다", "만들다", "고르다", "그리다"])


def purpose(rng: random.Random) -> Sentence:
    """책을 사러 서점에 갔어요."""
    goal_verb = verb_frames("가다")[0]
    while True:
        verb = draw_verb(rng, "ongoing accident state passive great own instant adult")
        spots = [place for place in verb.places if place in goal_verb.places and place.korean != "집"]
        if spots and verb.lemma in _ERRANDS:
            break
    form = Form(draw_level(rng), rng.choice(("past", "past", "future")), question=chance(rng, 0.15))  # type: ignore[arg-type]
    thing = replace(draw_phrase(rng, verb, form), number=0) if verb.objects else None
    subject = None if form.question or chance(rng, 0.4) else rng.choice((ME, draw_person(rng, verb)))
    inner = replace(draw_clause(rng, form, verb, subject=ME, thing=thing, adjuncts=0.0), subject=None)
    if inner.person and subject and subject is not ME:
        subject = ME
    place = rng.choice(spots)
    time = rng.choice(SMALL_TIMES[form.tense]) if chance(rng, 0.5) else None
    outer = Clause(goal_verb, subject, place=place, time=time)
    go = replace(outer, place=None).korean_arguments(form.level) + inner.korean_arguments(form.level)
    go += ko.in_order_to(verb.predicate) + f" {place.korean}에 "
    go += ko.finish(outer.korean_predicate(form), form.level, form.tense, question=form.question)
    english = replace(outer, time=None).english_clause(form) + f" to {verb.english}"
    english += inner.english_complement(question=form.question) + (" " + time.english if time else "")
    sentence = join("purpose", form, inner, outer, go, english, "?" if form.question else ".")
    # The deed is done at the goal, so verb and place are bound as well.
    return replace(sentence, combinations=sentence.combinations | {(verb.lemma, place.korean)})


_ERRANDS = frozenset(
    ["먹다", "마시다", "사다", "읽다", "빌리다", "보다", "배우다", "공부하다", "치다", "하다", "부르다", "찍다", "타다", "만나다", "놀다", "이야기하다", "운동하다", "수영하다", "산책하다", "쇼핑하다", "쉬다", "그리다", "쓰다"]
)


def liking_to_do(rng: random.Random) -> Sentence:
    """저는 책을 읽는 것을 좋아해요."""
    like = verb_frames("좋아하다")[0]
    verb = draw_verb(rng, "ongoing accident state passive great", "fun")
    form = Form(draw_level(rng), "present", question=chance(rng, 0.2))
    thing = Phrase(rng.choice(verb.objects)) if verb.objects else None
    subject = None if form.question else rng.choice((ME, ME, draw_person(rng, verb, thing.noun if thing else None)))
    if verb.takes == "person":
        subject = None if form.question else ME
    inner = draw_clause(rng, Form(form.level, "past"), verb, subject=ME, thing=thing, adjuncts=0.5)
    inner = replace(inner, subject=None, time=None, companion=None, manner=None, frequency=None)
    outer = Clause(like, subject)
    negation = "" if form.question or chance(rng, 0.8) else "안"
    form = replace(form, negation=negation)
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
    english = said(doer.english_said(question=form.question)) + clause.english_complement()
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
