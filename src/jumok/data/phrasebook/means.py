"""Constructions with (으)로: by what one travels, with what and in which language one does it, and which way."""

import random
from dataclasses import dataclass, replace
from typing import Literal

from . import conjugation as ko
from . import english as en
from .actions import finished
from .clauses import Clause, Form, Means, Phrase, Sentence
from .conjugation import Level
from .drawing import chance, draw_level, draw_person, draw_subject, draw_time
from .english import Mode
from .hangul import attach
from .nouns import NOUN, Noun, nouns
from .people import ME, NAMES, PERSON, Person
from .places import Place, places
from .tables import rows
from .times import COMING_TIMES, FREQUENCIES, RECENT_TIMES
from .verbs import Verb, verb_frames

_RIDES = """
버스     | by bus         | 학교 회사 도서관 백화점 병원 시장 공항 기차역 박물관 동물원 영화관 바다
지하철   | by subway      | 학교 회사 도서관 백화점 병원 시장 공항 기차역 박물관 영화관 서점
택시     | by taxi        | 회사 백화점 병원 공항 기차역 호텔 집
자전거   | by bicycle     | 학교 회사 도서관 공원 체육관 시장 강
기차     | by train       | 부산 서울 시골 바다
고속버스 | by express bus | 부산 서울 시골
비행기   | by plane       | 제주도 일본 중국 미국 프랑스
"""
# Verb, its objects, the tool or stuff, its English.
_TOOLS = """
쓰다   | 편지 엽서 시          | 볼펜   | with a pen
쓰다   | 편지 엽서 시          | 연필   | with a pencil
쓰다   | 보고서 이메일 기사    | 컴퓨터 | on a computer
쓰다   | 보고서 이메일 기사    | 노트북 | on a laptop
쓰다   | 이메일               | 휴대폰 | on a cell phone
먹다   | 국수 라면 냉면 떡볶이 김밥 만두 | 젓가락 | with chopsticks
먹다   | 불고기 생선 두부 김치 | 젓가락 | with chopsticks
먹다   | 죽 카레 볶음밥 비빔밥 된장찌개 | 숟가락 | with a spoon
찍다   | 사진                 | 휴대폰 | with a cell phone
찍다   | 사진                 | 카메라 | with a camera
자르다 | 케이크 빵 수박       | 칼     | with a knife
자르다 | 양파 당근 오이 두부 고기 | 칼 | with a knife
자르다 | 고기                 | 가위   | with scissors
그리다 | 그림 꽃 고양이 강아지 나무 | 연필 | with a pencil
그리다 | 그림 꽃 장미          | 볼펜   | with a pen
보다   | 영화 드라마 뉴스 만화  | 휴대폰 | on a cell phone
보다   | 영화 드라마 다큐멘터리 | 노트북 | on a laptop
보다   | 영화 드라마           | 컴퓨터 | on a computer
듣다   | 음악 노래 라디오       | 휴대폰 | on a cell phone
하다   | 게임                 | 컴퓨터 | on a computer
하다   | 게임                 | 휴대폰 | on a cell phone
열다   | 문                   | 열쇠   | with a key
만들다 | 샐러드               | 감자   | with potatoes
만들다 | 샐러드               | 토마토 | with tomatoes
만들다 | 볶음밥 만두           | 김치   | with kimchi
만들다 | 된장찌개              | 두부   | with tofu
만들다 | 카레                 | 감자   | with potatoes
굽다   | 케이크               | 딸기   | with strawberries
굽다   | 케이크               | 고구마 | with sweet potatoes
"""
_LANGUAGES = nouns("language")
_SPEECHES = {language.korean for language in _LANGUAGES}
_FOREIGN = _SPEECHES - {"한국어"}
_SPEAK = Verb("말하다", "speak", (), (), (), frozenset(), "nothing")
_TALK = verb_frames("이야기하다")[0]
_MOVE = verb_frames("이사하다")[0]
# What is written or sung in a language.
_WORDED = (("쓰다", "편지 이메일 보고서 시 엽서"), ("부르다", "노래"))
_NEW_HOMES = places("서울 부산 제주도 시골 미국 일본 중국 프랑스")
_TAXI_GOALS = places("공항 기차역 호텔 병원 백화점 박물관 시장 학교 도서관 영화관 미술관 경찰서")
_WAYS = (
    ("오른쪽", "to the right", "가다", "go "),
    ("왼쪽", "to the left", "가다", "go "),
    ("오른쪽", "right", "돌다", "turn "),
    ("왼쪽", "left", "돌다", "turn "),
    ("이쪽", "this way", "오다", "come "),
    ("저쪽", "that way", "가다", "go "),
)


def _frame(lemma: str, noun: Noun) -> Verb:
    return next(verb for verb in verb_frames(lemma) if noun in verb.objects)


@dataclass(frozen=True)
class _Use:
    verb: Verb
    noun: Noun | None
    means: Means
    places: tuple[Place, ...] = ()


_TRAVELS = [
    _Use(next(verb for verb in verb_frames(lemma) if place in verb.places), None, Means(ride, english), (place,))
    for ride, english, spots in rows(_RIDES)
    for lemma in ("가다", "오다")
    for place in places(spots)
    if any(place in verb.places for verb in verb_frames(lemma))
]
_USES = [
    [_Use(_frame(lemma, noun), noun, Means(tool, english)) for noun in nouns(things)]
    for lemma, things, tool, english in rows(_TOOLS)
]
_SPOKEN = [
    [_Use(verb, noun, Means(language.korean, "in " + language.english))]
    for language in _LANGUAGES
    for verb, noun in (
        (_SPEAK, None),
        (_TALK, None),
        *((_frame(lemma, noun), noun) for lemma, things in _WORDED for noun in nouns(things)),
    )
]


def _draw_form(rng: random.Random, use: _Use) -> Form:
    verb = use.verb
    kinds = ("past", "present", "future", "want", "can", "progressive")
    kind = rng.choices(kinds, (38, 22, 14, 9, 8, 7))[0]
    if "hither" in verb.traits and kind in ("future", "want", "can", "progressive"):
        kind = "past"
    if kind in ("future", "want", "can") and ("instant" in verb.traits or verb.lemma in ("먹다", "말하다")):
        kind = "past"
    # With what to cook or in which language to write is a matter of wish and skill, a pen is none.
    is_journey = bool(use.places) and bool(use.places[0].classes & {"city", "country", "rural"})
    is_matter = (
        is_journey
        or (kind == "can" and verb.takes == "goal")
        or verb.lemma in ("만들다", "굽다")
        or use.means.korean in _SPEECHES
    )
    if kind in ("want", "can") and not is_matter:
        kind = "past"
    if kind == "progressive" and verb.takes == "goal":
        kind = "past"
    if kind == "present" and verb.traits & {"once", "great", "instant"}:
        kind = "past"
    level, question = draw_level(rng), chance(rng, 0.22)
    if kind in ("past", "present", "future"):
        return Form(level, kind, question=question)  # type: ignore[arg-type]
    mode: Mode = "want" if kind == "want" else "can" if kind == "can" else "progressive"
    return Form(level, mode=mode, question=question)


def _may_do(person: Person, use: _Use) -> bool:
    is_foreign = use.means.korean in _FOREIGN
    if person.kind == "role" or (use.verb is _SPEAK and person.honoured) or (is_foreign and person.kind == "kin"):
        return False
    # The old neither go to work nor ride about.
    is_old = person.lemma in ("할머니", "할아버지")
    works = any("workplace" in place.classes for place in use.places)
    return not is_old or (use.means.korean != "자전거" and not works)


def _said(rng: random.Random, construction: str, use: _Use) -> Sentence:
    verb = use.verb
    form = _draw_form(rng, use)
    subject = draw_subject(rng, verb, use.noun, question=form.question)
    while subject and not _may_do(subject, use):
        subject = draw_subject(rng, verb, use.noun, question=form.question)
    time, frequency = None, None
    if form.tense == "present" and form.mode == "plain":
        frequency = rng.choice(FREQUENCIES[2:] if verb.lemma == "먹다" else FREQUENCIES)
    elif form.mode == "plain" and "instant" not in verb.traits and verb.lemma != "먹다" and chance(rng, 0.5):
        time = draw_time(rng, form, verb, use.noun)
        if verb.takes != "goal" and time not in (*RECENT_TIMES, *COMING_TIMES):
            time = None
    person = None
    if verb is _TALK:
        if subject and subject.kind not in ("me", "name"):
            subject = ME
        person = rng.choice([other for other in (*NAMES, PERSON["선생님"], PERSON["동료"]) if other != subject])
    clause = Clause(
        verb,
        subject,
        Phrase(use.noun) if use.noun else None,
        person,
        use.places[0] if use.places else None,
        means=use.means,
        time=time,
        frequency=frequency,
    )
    return finished(construction, clause, form)


def travel(rng: random.Random) -> Sentence:
    """저는 보통 지하철로 학교에 가요."""
    return _said(rng, "means of travel", rng.choice(_TRAVELS))


def tool(rng: random.Random) -> Sentence:
    """볼펜으로 편지를 썼어요; 젓가락으로 국수를 먹어요."""
    return _said(rng, "tool", rng.choice(rng.choice(_USES)))


def language(rng: random.Random) -> Sentence:
    """선생님과 한국어로 이야기했어요; 영어로 말해 주세요."""
    if chance(rng, 0.25):
        spoken = rng.choice(_LANGUAGES)
        level = draw_level(rng)
        lemma, english = rng.choice((("말하다", "speak"), ("쓰다", "write")))
        p = ko.favour(ko.predicate(lemma))
        ending = ko.infinitive(p) if level == "casual" else ko.command(p, level)
        return Sentence(
            f"{attach(spoken.korean, '으로/로')} {ending}.",
            f"Please {english} in {spoken.english}.",
            "language",
            level,
            frozenset({spoken.korean, lemma}),
            frozenset(),
        )
    return _said(rng, "language", rng.choice(rng.choice(_SPOKEN)))


def direction(rng: random.Random) -> Sentence:
    """오른쪽으로 가세요; 공항으로 가 주세요; 작년에 서울로 이사했어요."""
    sort = rng.choices(("move", "taxi", "way"), (35, 15, 50))[0]
    if sort == "move":
        tense = rng.choice(("past", "past", "future"))
        form = Form(draw_level(rng), tense, question=chance(rng, 0.2))  # type: ignore[arg-type]
        if chance(rng, 0.25):
            form = Form(form.level, mode="want", question=form.question)
        subject = draw_subject(rng, _MOVE, question=form.question)
        while subject and subject.kind == "role":
            subject = draw_subject(rng, _MOVE, question=form.question)
        time = draw_time(rng, form, _MOVE) if form.mode == "plain" and chance(rng, 0.7) else None
        home = rng.choice(_NEW_HOMES)
        clause = Clause(_MOVE, subject, means=Means(home.korean, home.to), time=time)
        return finished("direction", clause, form)
    level: Level = rng.choice(("polite", "formal"))
    if sort == "taxi":
        # Said to a driver.
        place = rng.choice(_TAXI_GOALS)
        where, goal = place.korean, place.to
        return Sentence(
            f"{attach(where, '으로/로')} {ko.command(ko.favour(ko.predicate('가다')), level)}.",
            f"Please take me {goal}.",
            "direction",
            level,
            frozenset({where, "가다"}),
            frozenset({("가다", where)}),
        )
    way, english, lemma, verb = rng.choice(_WAYS)
    if chance(rng, 0.6):
        turned = Verb(lemma, verb.strip(), (), (), (), frozenset(), "nothing")
        person = draw_person(rng, turned, asked=True)
        form = Form(draw_level(rng), "past", question=chance(rng, 0.25))
        if lemma != "돌다" and chance(rng, 0.4):
            form = replace(form, tense="present", mode="progressive")
        marker: Literal["topic", "subject"] = "subject" if chance(rng, 0.5) else "topic"
        return finished("direction", Clause(turned, person, means=Means(way, english), marker=marker), form)
    p, level = ko.predicate(lemma), draw_level(rng)
    sayings = {
        "please": (ko.command(p, level) if level != "casual" else ko.infinitive(ko.favour(p)), f"please {verb}"),
        "don't": (ko.forbid(p, level), f"don't {verb}"),
        "have to": (ko.finish(ko.obligation(p), level), f"I have to {verb}"),
        "shall we": (ko.propose(p, "casual" if level == "casual" else "polite"), f"shall we {verb}"),
    }
    is_hither = lemma == "오다"
    korean, said = sayings["please" if is_hither else rng.choice(("please", "please", "don't", "have to", "shall we"))]
    mark = "?" if said.startswith("shall") else "."
    return Sentence(
        f"{attach(way, '으로/로')} {korean}{mark}",
        en.capitalise(said + english) + mark,
        "direction",
        "polite" if mark == "?" and level == "formal" else level,
        frozenset({way, lemma}),
        frozenset(),
    )


# Every tool and every ride is a word of the lexicon.
assert all(use.means.korean in NOUN for uses in (*_USES, _TRAVELS) for use in uses)

CONSTRUCTIONS = (
    (travel, 2),
    (tool, 3),
    (language, 1),
    (direction, 2),
)
