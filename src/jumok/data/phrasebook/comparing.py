"""What is compared with what: things in their order of size, price, weight or speed, and matters of taste."""

import random

from .adjectives import ADJECTIVES, Adjective
from .nouns import NOUN, Noun, nouns
from .tables import rows, words

# An adjective, its opposite where there is one, and things of one class from the most to the least.
_ORDERS = """
크다 작다     | 코끼리 말 돼지 토끼; 곰 원숭이 토끼; 호랑이 강아지; 소 돼지 오리; 강아지 거북이; 옷장 책상 의자; 침대
    책상 의자; 소파 의자; 냉장고 세탁기 선풍기; 냉장고 에어컨 선풍기; 트럭 자동차 자전거; 비행기 버스 택시;
    컴퓨터 노트북 휴대폰; 냄비 접시 컵; 가방 지갑
비싸다 싸다   | 자동차 자전거; 비행기 기차 버스; 택시 버스; 노트북 휴대폰; 와인 맥주; 코트 셔츠; 양복 셔츠; 부츠 양말;
    운동화 양말; 침대 의자; 소파 의자; 냉장고 선풍기; 에어컨 선풍기; 세탁기 선풍기; 커피 물; 주스 물; 딸기 바나나;
    복숭아 귤; 불고기 라면; 냉면 라면; 피자 샌드위치; 목걸이 우산; 반지 우산; 사전 공책 연필; 소설 잡지; 케이크 빵;
    고기 달걀
빠르다 느리다 | 비행기 기차 버스 자전거; 택시 버스; 기차 자동차 자전거; 말 토끼 거북이; 말 소; 강아지 거북이; 토끼 오리
무겁다 가볍다 | 냉장고 세탁기 선풍기; 침대 책상 의자; 소파 의자; 사전 공책 연필; 컴퓨터 노트북 휴대폰; 코트 셔츠; 부츠
    운동화; 노트북 카메라; 소설 잡지
맵다          | 떡볶이 비빔밥; 라면 국수; 떡볶이 카레; 냉면 국수; 라면 카레
짜다          | 김치 달걀; 치즈 달걀; 라면 국수; 피자 샌드위치; 과자 빵
달다          | 초콜릿 빵; 케이크 빵; 아이스크림 과자; 사탕 과자; 복숭아 사과; 포도 귤; 딸기 오렌지; 고구마 감자;
    주스 우유
시다          | 귤 바나나; 오렌지 복숭아; 포도 감; 귤 감; 오렌지 바나나
똑똑하다      | 원숭이 소; 강아지 토끼 거북이; 코끼리 말 오리; 앵무새 토끼
무섭다        | 호랑이 원숭이; 곰 말; 호랑이 소; 곰 돼지
위험하다      | 호랑이 원숭이; 곰 소; 칼 가위; 트럭 자전거; 호랑이 코끼리
따뜻하다      | 코트 재킷 셔츠; 스웨터 셔츠
편하다        | 운동화 부츠; 소파 의자; 바지 치마; 스웨터 양복; 침대 소파
편리하다      | 노트북 컴퓨터; 휴대폰 카메라; 휴대폰 컴퓨터
"""
# What anybody may find either way.
_TASTES = """
맛있다 | fruit; dish; western; sweets; drink
어렵다 | language; science
쉽다   | language; science
재미있다 | game; racket; 영화 드라마 연극 뮤지컬; 소설 만화책 잡지
귀엽다 | pet
"""


def _adjectives(lemma: str) -> list[Adjective]:
    return [adjective for adjective in ADJECTIVES if adjective.lemma == lemma]


def _of(lemma: str, noun: Noun) -> Adjective:
    # Games are fun, stories interesting: the same word in Korean.
    found = _adjectives(lemma)
    return next((adjective for adjective in found if noun in adjective.things), found[0])


def _read_orders() -> list[list[tuple[Adjective, Noun, Noun]]]:
    found = []
    for lemmas, chains in rows(_ORDERS):
        more, *less = lemmas.split()
        pairs = [
            (NOUN[most], NOUN[least])
            for chain in chains.split(";")
            for i, most in enumerate(chain.split())
            for least in chain.split()[i + 1 :]
        ]
        found.append([(_of(more, first), first, second) for first, second in pairs])
        found.extend([(_of(lemma, first), first, second) for second, first in pairs] for lemma in less)
    for lemma, groups in rows(_TASTES):
        members = [nouns(" ".join(words(group))) for group in groups.split(";")]
        found.append([(_of(lemma, a), a, b) for group in members for a in group for b in group if a is not b])
    return found


_COMPARED = _read_orders()


def draw_compared(rng: random.Random) -> tuple[Adjective, Noun, Noun]:
    """An adjective, what has more of it, and what has less."""
    return rng.choice(rng.choice(_COMPARED))
