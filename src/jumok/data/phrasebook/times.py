"""When and how: time words that agree with tense, and adverbs."""

from dataclasses import dataclass

from .conjugation import Tense
from .tables import entries


@dataclass(frozen=True)
class Time:
    """A time word; English puts it at the end of its clause."""

    korean: str
    english: str


@dataclass(frozen=True)
class Adverb:
    """An adverb; a frequency stands before the English verb, all others after the object."""

    korean: str
    english: str


def _times(listed: str) -> tuple[Time, ...]:
    return tuple(Time(korean, english) for korean, english in entries(listed, "="))


def _adverbs(listed: str) -> tuple[Adverb, ...]:
    return tuple(Adverb(korean, english) for korean, english in entries(listed, "="))


# Near times suit what is done in an hour; far ones suit journeys, moves, purchases for life.
_NEAR_PAST = _times(
    "아까 = a while ago; 어젯밤에 = last night; 오늘 아침에 = this morning; 어제저녁에 = yesterday evening"
)
_DAY_PAST = _times(
    "어제 = yesterday; 그저께 = the day before yesterday; 며칠 전에 = a few days ago; 지난 주말에 = last weekend"
)
_FAR_PAST = _times("지난주에 = last week; 지난달에 = last month; 작년에 = last year")
_NEAR_FUTURE = _times("이따가 = later; 오늘 저녁에 = this evening; 오늘 밤에 = tonight; 내일 아침에 = tomorrow morning")
_DAY_FUTURE = _times("내일 = tomorrow; 모레 = the day after tomorrow; 이번 주말에 = this weekend")
_FAR_FUTURE = _times("다음 주에 = next week; 다음 달에 = next month; 내년에 = next year")
HABIT_TIMES = _times(
    "요즘 = these days; 매일 = every day; 주말마다 = every weekend; 아침마다 = every morning; "
    "저녁마다 = every evening; 매주 = every week"
)
NOW = Time("지금", "now")
TODAY = Time("오늘", "today")
# Happening at a point of the week or day, in the past, the future, or as a habit.
WEEKDAYS = _times(
    "월요일에 = on Monday; 화요일에 = on Tuesday; 수요일에 = on Wednesday; 목요일에 = on Thursday; "
    "금요일에 = on Friday; 토요일에 = on Saturday; 일요일에 = on Sunday"
)
DAY_PARTS = _times(
    "아침에 = in the morning; 오후에 = in the afternoon; 저녁에 = in the evening; 밤에 = at night; "
    "주말에 = on the weekend"
)
HOURS = tuple(
    Time(f"{korean} 시에", f"at {english} o'clock")
    for korean, english in (
        ("한", "one"), ("두", "two"), ("세", "three"), ("네", "four"), ("다섯", "five"), ("여섯", "six"),
        ("일곱", "seven"), ("여덟", "eight"), ("아홉", "nine"), ("열", "ten"),
    )
)  # fmt: skip
SEASONS = _times("봄에 = in spring; 여름에 = in summer; 가을에 = in fall; 겨울에 = in winter")

PAST_TIMES = (*_NEAR_PAST, *_DAY_PAST, *_FAR_PAST)
FUTURE_TIMES = (*_NEAR_FUTURE, *_DAY_FUTURE, *_FAR_FUTURE)
# Small matters are placed within days, great ones within weeks and years.
SMALL_TIMES: dict[Tense, tuple[Time, ...]] = {
    "past": (*_NEAR_PAST, *_DAY_PAST, _FAR_PAST[0]),
    "present": HABIT_TIMES,
    "future": (*_NEAR_FUTURE, *_DAY_FUTURE, _FAR_FUTURE[0]),
}
GREAT_TIMES: dict[Tense, tuple[Time, ...]] = {
    "past": (*_FAR_PAST, _DAY_PAST[2]),
    "present": HABIT_TIMES,
    "future": _FAR_FUTURE,
}
NEAR_PAST_TIMES = _NEAR_PAST
# When something was left undone or is asked after, and for when something is wished, owed or refused.
RECENT_TIMES = (TODAY, *(time for time in PAST_TIMES if time.korean in ("어제", "오늘 아침에", "아까", "어제저녁에")))
COMING_TIMES = (TODAY, *(time for time in FUTURE_TIMES if time.korean in ("오늘 저녁에", "내일", "이번 주말에")))
DAY_FUTURE_TIMES = _DAY_FUTURE
DAY_PAST_TIMES = (*_DAY_PAST, _FAR_PAST[0])

FREQUENCIES = _adverbs("자주 = often; 가끔 = sometimes; 항상 = always; 보통 = usually")
DEGREES = _adverbs("아주 = very; 정말 = really; 너무 = so; 조금 = a little; 매우 = very; 꽤 = quite")
NATIVE_NUMERALS = ("", "한", "두", "세", "네", "다섯", "여섯", "일곱", "여덟", "아홉", "열")
MANNERS = {
    adverb.korean: adverb
    for adverb in _adverbs(
        "혼자 = alone; 같이 = together; 천천히 = slowly; 빨리 = quickly; 열심히 = hard; 조용히 = quietly; "
        "많이 = a lot; "
        "조금 = a little; 잘 = well; 일찍 = early; 늦게 = late; 다시 = again; 오래 = for a long time; 크게 = loudly"
    )
}
