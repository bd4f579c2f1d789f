"""The adjectives, with the things, places and people each may be said of.

A table row reads ``korean | english | sign | things | places``; + is a merit, - a fault, and an indented line goes on
with the row above.
"""

from dataclasses import dataclass

from .conjugation import Predicate, predicate
from .nouns import Noun, nouns
from .places import Place, places
from .tables import entries, rows

_TABLE = """
크다 | big |  | carried furniture gadget bike appliance beast 인형 그림 접시 냄비 거울 | 공원
    시장 백화점 도서관 병원 호텔 박물관 수영장
작다 | small |  | carried furniture gadget bike animal 인형 그림 컵 접시 딸기 감자 | 식당 카페 서점 호텔
    빵집 편의점 은행
비싸다 | expensive | + | garment carried gadget bike appliance furniture fruit drivable 와인 향수 고기 장미 |
싸다 | cheap |  | garment carried gadget bike appliance furniture fruit vegetable stationery tableware |
예쁘다 | pretty | + | clothes footwear headwear carried 인형 꽃 장미 그림 컵 접시 거울 | 카페 공원
맛있다 | delicious | + | fruit dish western staple sweets 커피 녹차 홍차 우유 주스 |
달다 | sweet | + | fruit sweets 고구마 주스 |
맵다 | spicy |  | 떡볶이 라면 김치 카레 비빔밥 냉면 |
짜다 | salty | - | 라면 김치 된장찌개 치즈 과자 생선 피자 |
시다 | sour | - | 귤 오렌지 포도 김치 딸기 |
뜨겁다 | hot |  | 커피 녹차 홍차 라면 국수 죽 된장찌개 우유 |
차갑다 | cold |  | drink 맥주 수박 |
신선하다 | fresh | + | fruit vegetable 생선 고기 우유 샐러드 달걀 |
재미있다 | fun | + | game racket | 놀이공원 동물원 바다
재미있다 | interesting | + | book show 기사 만화 | 박물관
지루하다 | boring | - | show 소설 잡지 보고서 기사 | 박물관
슬프다 | sad |  | show 소설 노래 시 편지 |
무섭다 | scary |  | 영화 소설 호랑이 곰 만화 드라마 |
길다 | long |  | 편지 소설 영화 치마 코트 보고서 드라마 이메일 |
짧다 | short |  | 편지 시 치마 소설 연필 기사 이메일 |
어렵다 | difficult |  | language science 문제 질문 숙제 책 기사 |
쉽다 | easy | + | language science 문제 질문 숙제 책 |
유명하다 | famous | + | show 소설 그림 노래 시 | 식당 박물관 미술관 빵집 시장
좋다 | good | + | gadget bike furniture 책 영화 노래 선물 향수 | 식당 호텔 카페 병원
깨끗하다 | clean | + | garment tableware 침대 거울 창문 cleanable 교실 | 병원 호텔 식당 수영장 카페 강 바다
더럽다 | dirty | - | garment tableware 창문 거울 cleanable 교실 소파 | 강 시장
조용하다 | quiet | + |  | 도서관 카페 공원 교회 미술관 시골 산 기숙사
시끄럽다 | noisy | - |  | 식당 시장 카페 놀이공원 공항 기차역 기숙사
넓다 | spacious | + | cleanable 교실 | 공원 공항 도서관 호텔 사무실 운동장 식당
복잡하다 | crowded | - |  | 시장 백화점 기차역 공항 서울 식당 놀이공원
아름답다 | beautiful | + | 꽃 장미 그림 한복 목걸이 | 바다 산 강 제주도 공원 부산
빠르다 | fast | + | 기차 비행기 말 자동차 자전거 컴퓨터 택시 토끼 |
느리다 | slow | - | 거북이 버스 컴퓨터 노트북 자전거 |
편하다 | comfortable | + | footwear clothes 의자 침대 소파 | 호텔
불편하다 | uncomfortable | - | footwear clothes 의자 침대 소파 | 호텔 기숙사
따뜻하다 | warm | + | 코트 스웨터 장갑 양말 빵 우유 방 |
귀엽다 | cute | + | pet 인형 장난감 오리 원숭이 |
무겁다 | heavy |  | 가방 책 사전 책상 냉장고 소파 노트북 냄비 세탁기 |
가볍다 | light | + | 가방 노트북 운동화 우산 카메라 의자 재킷 |
하얗다 | white |  | clothes 운동화 장미 꽃 토끼 고양이 말 컵 |
빨갛다 | red |  | 치마 코트 셔츠 원피스 스웨터 재킷 사과 장미 꽃 우산 자동차 모자 |
파랗다 | blue |  | 바지 치마 코트 셔츠 원피스 스웨터 재킷 양복 우산 자동차 모자 운동화 |
노랗다 | yellow |  | 치마 셔츠 원피스 스웨터 재킷 꽃 우산 바나나 오리 모자 |
까맣다 | black |  | clothes 고양이 강아지 가방 장갑 말 |
똑똑하다 | smart | + | 강아지 원숭이 앵무새 말 코끼리 |
얇다 | thin |  | 책 셔츠 스웨터 재킷 공책 잡지 |
두껍다 | thick |  | 책 소설 사전 코트 스웨터 양말 |
편리하다 | convenient | + | 세탁기 휴대폰 컴퓨터 노트북 자전거 카메라 |
위험하다 | dangerous | - | 호랑이 곰 트럭 가위 난로 |
특별하다 | special | + | 선물 케이크 편지 반지 목걸이 사진 |
"""
# Of people. "inner" feelings are reported only of oneself: one cannot see that another is bored.
_PEOPLE_TABLE = """
바쁘다     | busy    | passing
피곤하다   | tired   | passing
아프다     | sick    | passing
행복하다   | happy   | passing
배고프다   | hungry  | inner
목마르다   | thirsty | inner
졸리다     | sleepy  | inner
심심하다   | bored   | inner
기쁘다     | glad    | inner
외롭다     | lonely  | inner
친절하다   | kind    | lasting
똑똑하다   | smart   | lasting
건강하다   | healthy | lasting
부지런하다 | diligent | lasting
키가 크다  | tall    | lasting
젊다       | young   | lasting
게으르다   | lazy    | lasting
착하다     | good-natured | lasting
"""
_WEATHER_TABLE = "좋다 good; 춥다 cold; 덥다 hot; 따뜻하다 warm; 시원하다 cool; 맑다 clear; 흐리다 cloudy; 나쁘다 bad"


@dataclass(frozen=True)
class Adjective:
    """A quality, with what it may be said of."""

    lemma: str
    english: str
    things: tuple[Noun, ...] = ()
    places: tuple[Place, ...] = ()
    sort: str = ""

    @property
    def predicate(self) -> Predicate:
        """The adjective ready for endings."""
        return predicate(self.lemma, "adjective")


def _read_things() -> tuple[Adjective, ...]:
    return tuple(
        Adjective(korean, english, nouns(things), places(spots), sign)
        for korean, english, sign, things, spots in rows(_TABLE)
    )


ADJECTIVES = _read_things()
PEOPLE_ADJECTIVES = tuple(Adjective(korean, english, sort=sort) for korean, english, sort in rows(_PEOPLE_TABLE))
WEATHER = tuple(
    Adjective(korean, english, sort="+" if korean in ("좋다", "맑다", "시원하다", "따뜻하다") else "")
    for korean, english in entries(_WEATHER_TABLE)
)

# For each thing, the adjectives that can stand before it.
ADJECTIVES_OF = {
    noun: tuple(adjective for adjective in ADJECTIVES if noun in adjective.things)
    for noun in {noun for adjective in ADJECTIVES for noun in adjective.things}
}
