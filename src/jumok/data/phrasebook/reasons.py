"""What follows from what: circumstances with their effects, and deeds that follow one another.

An effect reads ``verb:objects@places~manner``, with ! before what one could not do.
"""

import random
from collections.abc import Callable

from .adjectives import PEOPLE_ADJECTIVES, WEATHER
from .clauses import Clause, Phrase
from .drawing import draw_person
from .facts import Fact, ailment, having, quality_of_person, sky, weather
from .nouns import nouns
from .places import places
from .tables import rows
from .times import MANNERS
from .verbs import verb_frames

_REASONS = """
피곤하다 졸리다 | 끄다:불 쉬다@집,카페
    자다~일찍 가다@집~일찍 마시다:커피,홍차 !운동하다 !하다:숙제 !청소하다:방,거실,부엌
    눕다 !가다@체육관,영화관
배고프다 | 먹다:dish,western,빵,과자,떡,바나나 사다:빵,과자,김밥,바나나 만들다:라면,볶음밥,샌드위치
    주문하다:dish,western 가다@식당,빵집
목마르다 | 마시다:물,주스,콜라,우유,맥주 사다:물,주스,콜라 가다@카페,편의점
심심하다 | 보다:영화,드라마,만화,텔레비전 읽다:소설,만화책,잡지 듣다:음악,라디오 하다:게임 산책하다@공원 그리다:그림
    치다:피아노,기타
바쁘다 | !먹다:meal !만나다 !보다:영화,드라마,연극 !운동하다 !가다@영화관,미용실,체육관,은행 !쉬다 타다:택시
    !읽다:책,신문 !자다
아프다 ailment | 가다@병원,약국 먹다:약 !가다@학교,회사 쉬다@집 !일하다 !공부하다:수학,영어,역사 !자다 눕다
춥다 | 입다:코트,스웨터,재킷 끼다:장갑 마시다:녹차,홍차,커피 닫다:창문,문 켜다:난로 !수영하다@바다,강 신다:부츠
덥다 | 켜다:에어컨,선풍기 마시다:물,주스,콜라,맥주 먹다:아이스크림,수박,냉면 수영하다@바다,수영장 열다:창문
    벗다:재킷,코트
좋다 따뜻하다 맑다 | 산책하다@공원 가다@공원,바다,산,놀이공원,동물원 타다:자전거@공원 찍다:사진@공원,바다 열다:창문
    등산하다
비 | 사다:우산 쉬다@집 타다:택시,버스,지하철 보다:영화@집 !산책하다 !등산하다 닫다:창문 !하다:축구,야구
눈 | 신다:부츠 끼다:장갑 찍다:사진 쉬다@집 !운전하다:자동차 타다:지하철 !등산하다
바람 | 닫다:창문,문 입다:코트,재킷 !타다:자전거 !치다:배드민턴,테니스 쓰다:모자
no:돈 | !사다:garment,gadget,carried !여행하다 팔다:자동차,카메라,노트북 !타다:택시 !가다@백화점
    !주문하다:피자,불고기
no:시간 | !먹다:meal !보다:영화,뉴스 !만나다 !청소하다:방,부엌 타다:택시 !하다:숙제 !읽다:소설,신문
시험 | 공부하다:수학,영어,역사,과학 가다@도서관 !보다:드라마,영화 !하다:게임 !자다 외우다:단어
회의 | 가다@회사~일찍 쓰다:보고서 입다:양복 출근하다~일찍 !퇴근하다~일찍
수업 | 가다@학교 일어나다~일찍 !가다@영화관,바다 가져오다:공책,사전
"""
_SEQUENCES = """
일어나다~일찍 씻다:얼굴 샤워하다 먹다:아침 | 가다@학교,회사,도서관,체육관 읽다:신문 보다:뉴스
    마시다:커피,우유,주스
먹다:점심 먹다:저녁 먹다:dish,western | 마시다:커피,녹차,홍차 산책하다@공원 설거지하다 보다:영화,드라마
    가다@카페,공원 먹다:케이크,아이스크림
하다:숙제 공부하다:language 끝내다:보고서 | 자다 보다:드라마,만화 하다:게임 듣다:음악 만나다 가다@집,영화관
운동하다 수영하다 치다:테니스,탁구 하다:축구,농구 | 샤워하다 마시다:물,주스 쉬다@집 먹다:점심,저녁 가다@집
청소하다:방,거실,부엌 빨래하다 설거지하다 | 쉬다 마시다:커피,녹차 듣다:음악,라디오 보다:텔레비전 가다@시장,편의점
퇴근하다~일찍 만나다 | 가다@영화관,식당,카페,백화점,노래방 보다:영화,연극,뮤지컬 먹다:저녁 마시다:맥주,와인
    쇼핑하다@백화점
가다@시장 | 사다:fruit,vegetable,고기,생선
사다:고기,감자,양파,당근 | 만들다:카레,볶음밥 가다@집 준비하다:저녁
사다:두부 | 만들다:된장찌개 가다@집
쓰다:편지,엽서 | 가다@우체국
씻다:손 | 먹다:아침,점심,저녁,사과,귤,딸기
씻다:발,얼굴 | 자다
"""
_PEOPLE = {adjective.lemma: adjective for adjective in PEOPLE_ADJECTIVES}
_WEATHER = {adjective.lemma: adjective for adjective in WEATHER}

Step = Callable[[random.Random], tuple[Clause, bool]]


def _read_effect(effect: str) -> Step:
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
            person = draw_person(rng, verb, role=False)
        clause = Clause(
            verb,
            object=Phrase(noun) if noun else None,
            person=person,
            place=rng.choice(goals) if goals else None,
            manner=MANNERS[manner] if manner else None,
        )
        return clause, unable

    return draw


_EFFECTS = [
    (causes.split(), [_read_effect(effect) for effect in effects.split()]) for causes, effects in rows(_REASONS)
]
# What one does first, and what one may do then.
STEPS = [
    ([_read_effect(step) for step in first.split()], [_read_effect(step) for step in second.split()])
    for first, second in rows(_SEQUENCES)
]
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
