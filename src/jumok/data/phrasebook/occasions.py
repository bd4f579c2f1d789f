"""Which occasion suits which deed: the season, the time of day, how often, and how often where."""

from .nouns import Noun
from .places import Place
from .tables import rows, words
from .times import FREQUENCIES, SEASONS, WEEKDAYS, Adverb, Time
from .verbs import Verb

# What belongs to a season: things eaten, drunk and worn, and deeds without an object.
_SEASON_TABLE = """
봄에   | 딸기 사진 재킷 치마 산책하다 등산하다 여행하다 낚시하다
여름에 | 수박 냉면 아이스크림 주스 콜라 복숭아 포도 맥주 선글라스 모자 원피스 수영하다 여행하다 낚시하다
가을에 | 사과 감 사진 재킷 스웨터 등산하다 여행하다 산책하다
겨울에 | 라면 우유 귤 고구마 만두 홍차 녹차 떡 국수 커피 양말 코트 스웨터 장갑 부츠 여행하다
"""
_SEASONAL = {season: words(things) for season, things in rows(_SEASON_TABLE)}
_SEASONAL_VERBS = words("먹다 마시다 찍다")
_NIGHT_VERBS = words(
    "자다 먹다 마시다 보다 읽다 듣다 쓰다 전화하다 공부하다 일하다 이야기하다 울다 외우다 산책하다 운동하다 "
    "샤워하다 설거지하다 만나다 걷다 연습하다"
)
_NOT_IN_THE_MORNING = words("부르다 노래하다 춤추다 쇼핑하다 초대하다 놀다 자다 퇴근하다 굽다 심다")
# What is neither told of long after nor planned long before, and what is only not planned so.
_FLEETING = words("주문하다 끼다 입다 신다 사용하다 외우다 풀다 듣다 타다 샤워하다 씻다 설거지하다")
_UNPLANNED = words("먹다 마시다 읽다 쓰다 그리다 빌려주다 주다 고르다 이야기하다 하다 빨래하다")
# What is done on a certain day of the week.
_WEEKDAY_VERBS = words(
    "가다 오다 만나다 도착하다 일하다 쉬다 운동하다 수영하다 쇼핑하다 등산하다 낚시하다 놀다 치다 보다 청소하다 "
    "빨래하다 초대하다 끝내다 사다 보내다 받다 방문하다 공부하다 연습하다 출근하다 퇴근하다 일어나다 예약하다 "
    "전화하다 돌려주다"
)
_PARTS_OF_DAY = ("아침", "오후", "저녁", "밤")
_EVERYDAY_PLACES = words("학교 회사 도서관 공원 체육관 카페 사무실 편의점")
_WEEKEND_PLACES = words("시장 교회 영화관 산 바다 강 식당 서점 백화점 수영장 노래방 집 운동장")
# Where one goes for a purpose, and not by habit.
_UNACCUSTOMED_PLACES = words("기차역 공항 경찰서 호텔 우체국 약국 기숙사")


def seasons_of(verb: Verb, noun: Noun | None) -> list[Time]:
    """The seasons in which one does this: ice cream in summer, gloves in winter; often none."""
    if noun is not None and verb.english != "wear" and verb.lemma not in _SEASONAL_VERBS:
        return []
    return [season for season in SEASONS if (noun.korean if noun else verb.lemma) in _SEASONAL[season.korean]]


def suits_time(time: Time, verb: Verb, noun: Noun | None = None) -> bool:
    """Whether this is a time of day for it: no beer in the morning, no lunch in the evening."""
    part = next((part for part in _PARTS_OF_DAY if part in time.korean), "")
    classes = noun.classes if noun else frozenset()
    is_trifle = verb.lemma in _FLEETING or verb.english == "wear" or (noun is not None and noun.korean == "물")
    is_fleeting = is_trifle and "great" not in verb.traits
    is_unplanned = (is_fleeting or verb.lemma in _UNPLANNED) and "great" not in verb.traits
    if time.korean in ("며칠 전에", "그저께", "지난주에") and (is_fleeting or verb.lemma in ("가져오다", "이야기하다")):
        return False
    if time.korean == "지난 주말에" and verb.lemma == "가져오다":
        return False
    if time.korean in ("모레", "다음 주에") and is_unplanned:
        return False
    if time in WEEKDAYS and verb.lemma not in _WEEKDAY_VERBS:
        return False
    if verb.lemma in ("배우다", "결혼하다", "이사하다") and time.korean in ("며칠 전에", "지난주에"):
        return False
    if part and "meal" in classes:
        return False
    if part == "밤" and (verb.lemma not in _NIGHT_VERBS or verb.english == "wear"):
        return False
    if part in ("아침", "오후") and "alcohol" in classes:
        return False
    if part == "아침" and (verb.lemma in _NOT_IN_THE_MORNING or classes & {"show", "stage"}):
        return False
    if part in ("오후", "저녁", "밤") and verb.lemma in ("일어나다", "출근하다"):
        return False
    return not (part == "오후" and verb.lemma in ("자다", "퇴근하다"))


def suits_place(time: Time, place: Place) -> bool:
    """Whether one does something there as often as that: the library every day, the sea every weekend."""
    if place.korean in _EVERYDAY_PLACES:
        return True
    return place.korean in _WEEKEND_PLACES and time.korean in ("주말마다", "매주")


def is_accustomed(place: Place) -> bool:
    """Whether one may go there often."""
    return place.korean not in _UNACCUSTOMED_PLACES


def frequencies_of(verb: Verb, place: Place | None) -> tuple[Adverb, ...]:
    """How often one may say it is done; always and usually ask for a custom, such as a place or an hour."""
    if verb.takes in ("goal", "person", "recipient"):
        return FREQUENCIES[:2]
    is_custom = place is not None and (place.korean in _EVERYDAY_PLACES or place.korean == "집")
    if is_custom or "routine" in verb.traits:
        return FREQUENCIES
    return FREQUENCIES[:3] if verb.english == "wear" else FREQUENCIES[:2]
