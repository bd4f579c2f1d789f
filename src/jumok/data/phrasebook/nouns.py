"""The nouns: one Korean word, one English word, how it is counted, and what one can do with it.

A table row reads ``classes | usual counter | nouns``, and a noun ``korean english /kind @counter unit``. The kind says
how English treats the noun when nothing else is said about it:

- ``count`` (the default): 사과를 → an apple; generally apples; two apples;
- ``mass``: 물을 → water; two glasses of water (the unit stands after the counter); one of the class ``uncut`` is
  bought and baked as one thing: 케이크를 → a cake;
- ``plural``: 바지를 → pants; two pairs of pants;
- ``the``: 문을 → the door;
- ``name``: 축구를 → soccer; never counted.
"""

from dataclasses import dataclass
from typing import Literal

from .english import plural
from .tables import rows, words

NounKind = Literal["count", "mass", "plural", "the", "name"]


@dataclass(frozen=True)
class Noun:
    """A thing, with its semantic classes, by which verbs and adjectives choose it."""

    korean: str
    english: str
    kind: NounKind
    counter: str
    unit: str
    classes: frozenset[str]

    @property
    def many(self) -> str:
        """The noun in general or in number: apples, water, pants."""
        return self.english if self.kind in ("mass", "plural", "name") else plural(self.english)

    @property
    def is_many(self) -> bool:
        """Whether English speaks of it with are rather than is."""
        return self.kind == "plural"


_TABLE = """
fruit food sold taste | 개 | 사과 apple; 바나나 banana; 포도 grapes /plural @송이 bunch; 딸기 strawberries /plural; 귤
    tangerine; 복숭아 peach; 오렌지 orange; 감 persimmon
vegetable food sold taste cookable | 개 | 감자 potato; 고구마 sweet potato; 당근 carrot; 양파 onion; 오이 cucumber;
    토마토 tomato; 배추 cabbage /mass @포기 head; 두부 tofu /mass @모 block
dish food served taste cooked | 그릇 | 비빔밥 bibimbap /mass @그릇 bowl; 냉면 cold noodles /plural @그릇 bowl; 라면
    ramen /mass @그릇 bowl; 국수 noodles /plural @그릇 bowl; 볶음밥 fried rice /mass @그릇 bowl; 카레 curry /mass
    @그릇 bowl; 떡볶이 tteokbokki /mass @접시 plate; 김밥 gimbap /mass @줄 roll; 만두 dumplings /plural @접시 plate;
    불고기 bulgogi /mass @접시 plate; 된장찌개 soybean stew /mass @그릇 bowl; 죽 porridge /mass @그릇 bowl
western food served taste cooked sold | 개 | 피자 pizza /mass @조각 slice; 햄버거 hamburger; 샌드위치 sandwich;
    샐러드 salad /mass @접시 plate; 스파게티 spaghetti /mass @접시 plate; 치킨 fried chicken /mass @조각 piece
staple food sold taste |  | 김치 kimchi /mass; 고기 meat /mass; 생선 fish /mass; 달걀 egg @개; 치즈 cheese /mass
    @조각 slice
fruit food sold taste uncut | 개 | 수박 watermelon /mass
sweets food sold taste uncut | 개 | 케이크 cake /mass @조각 piece
sweets food sold taste | 개 | 빵 bread /mass @조각 piece; 과자 snacks /plural @봉지
    bag; 초콜릿 chocolate /mass @조각 piece; 사탕 candy /mass @봉지 bag; 아이스크림 ice cream /mass @그릇 bowl; 떡
    rice cakes /plural
drink sold taste | 잔 | 물 water /mass @잔 glass; 커피 coffee /mass @잔 cup; 녹차 green tea /mass @잔 cup; 우유 milk
    /mass @잔 glass; 주스 juice /mass @잔 glass; 콜라 cola /mass @잔 glass; 홍차 black tea /mass @잔 cup
alcohol sold taste | 병 | 맥주 beer /mass @병 bottle; 와인 wine /mass @병 bottle; 소주 soju /mass @병 bottle
meal |  | 아침 breakfast /name; 점심 lunch /name; 저녁 dinner /name
book readable sold story giveable lendable | 권 | 책 book; 소설 novel; 잡지 magazine; 만화책 comic book; 동화책
    storybook
reading readable | 개 | 신문 newspaper @장; 기사 article; 시 poem @편
writing readable writable | 통 | 편지 letter; 이메일 email; 보고서 report @개; 엽서 postcard @장
show watchable story | 편 | 영화 movie; 드라마 drama; 연극 play; 뮤지컬 musical; 만화 cartoon; 다큐멘터리
    documentary
screen watchable |  | 텔레비전 television /name; 뉴스 the news /name; 야구 경기 baseball game
stage watchable |  | 공연 performance
sound |  | 음악 music /name; 라디오 the radio /name
song | 곡 | 노래 song; 민요 folk song
language subject |  | 한국어 Korean /name; 영어 English /name; 일본어 Japanese /name; 중국어 Chinese /name; 프랑스어
    French /name
science subject |  | 수학 math /name; 역사 history /name; 과학 science /name; 경제 economics /name; 철학 philosophy
    /name
game |  | 축구 soccer /name; 농구 basketball /name; 야구 baseball /name; 배구 volleyball /name
playing |  | 게임 games /name
racket |  | 테니스 tennis /name; 탁구 table tennis /name; 배드민턴 badminton /name
struck_instrument |  | 피아노 the piano /name; 기타 the guitar /name; 북 the drums /name
clothes garment sold giveable looks | 벌 | 옷 clothes /plural @벌 set; 바지 pants /plural @벌 pair; 치마 skirt; 코트
    coat; 셔츠 shirt; 원피스 dress; 스웨터 sweater; 재킷 jacket; 한복 hanbok; 양복 suit
footwear garment sold giveable looks | 켤레 | 신발 shoes /plural @켤레 pair; 운동화 sneakers /plural @켤레 pair;
    부츠 boots /plural @켤레 pair; 양말 socks /plural @켤레 pair
headwear garment sold giveable looks | 개 | 모자 hat; 안경 glasses /plural @개 pair; 선글라스 sunglasses /plural @개
    pair
handwear garment sold giveable looks | 켤레 | 장갑 gloves /plural @켤레 pair
carried sold giveable looks losable lendable | 개 | 가방 bag; 지갑 wallet; 우산 umbrella; 시계 watch; 반지 ring;
    목걸이 necklace
stationery sold losable lendable | 개 | 연필 pencil @자루; 볼펜 pen @자루; 공책 notebook @권; 사전 dictionary @권;
    지우개 eraser; 가위 scissors /plural @개 pair
gadget sold lendable electric fixable | 대 | 컴퓨터 computer; 노트북 laptop; 카메라 camera; 휴대폰 cell phone
bike sold lendable fixable | 대 | 자전거 bicycle
appliance sold electric fixable | 대 | 냉장고 refrigerator; 세탁기 washing machine; 에어컨 air conditioner; 선풍기
    fan
furniture sold | 개 | 의자 chair; 책상 desk; 침대 bed; 소파 sofa; 거울 mirror; 옷장 closet
gift sold giveable looks | 개 | 인형 doll; 장난감 toy; 선물 present; 꽃 flower @송이; 장미 rose @송이; 향수 perfume
    /mass @병 bottle
losable | 개 | 열쇠 key; 여권 passport; 표 ticket @장
opening |  | 문 door /the; 창문 window /the
switch |  | 불 light /the; 난로 heater /the
cleanable |  | 방 room /the; 부엌 kitchen /the; 거실 living room /the; 화장실 bathroom /the
schoolroom | | 교실 classroom /the
tableware sold | 개 | 컵 cup; 접시 plate; 숟가락 spoon; 젓가락 chopsticks /plural @벌 pair; 칼 knife @자루;
    냄비 pot
picture looks | 장 | 사진 photo; 그림 picture
medicine |  | 약 medicine /mass @알 pill; 비타민 vitamins /plural
pet animal | 마리 | 고양이 cat; 강아지 puppy; 토끼 rabbit; 앵무새 parrot; 거북이 turtle
beast animal | 마리 | 말 horse; 소 cow; 돼지 pig; 오리 duck; 호랑이 tiger; 원숭이 monkey; 코끼리 elephant; 곰 bear
transit ridden | 대 | 버스 bus; 지하철 subway /the; 기차 train; 택시 taxi; 비행기 airplane; 고속버스 express bus
drivable sold | 대 | 자동차 car; 트럭 truck
task |  | 숙제 homework /name
problem |  | 문제 problem; 질문 question; 단어 word
tree | 그루 | 나무 tree
body |  | 손 hands /plural; 얼굴 face; 발 feet /plural
"""


def _read_entry(entry: str, classes: frozenset[str], default_counter: str) -> Noun:
    entry, _, counting = entry.partition("@")
    words, _, kind = entry.partition("/")
    # Korean nouns of two words (야구 경기) stand before the first Latin letter.
    start = next(i for i, letter in enumerate(words) if letter.isascii() and letter.isalpha())
    counter, _, unit = counting.strip().partition(" ")
    found: NounKind = kind.strip() or "count"  # type: ignore[assignment]
    return Noun(words[:start].strip(), words[start:].strip(), found, counter or default_counter, unit, classes)


def _read_table() -> tuple[Noun, ...]:
    return tuple(
        _read_entry(entry, words(classes), counter)
        for classes, counter, listed in rows(_TABLE)
        for entry in listed.split(";")
    )


NOUNS = _read_table()
# Kinds that contain others of the table: flowers are neither compared nor contrasted with roses.
WHOLE_KINDS = words("꽃 옷 신발 책 선물 장난감 노래")
NOUN = {noun.korean: noun for noun in NOUNS}


def nouns(classes: str) -> tuple[Noun, ...]:
    """All nouns that belong to any of the classes, or are named themselves."""
    wanted = words(classes)
    return tuple(noun for noun in NOUNS if noun.classes & wanted or noun.korean.replace(" ", "_") in wanted)
