"""The places, with the English of being there and of going there."""

from dataclasses import dataclass

from .tables import rows, words

_TABLE = """
집        | home             | at home             | home            | indoors residence
학교      | the school       | at school           | to school       | study_place sport_place meeting
회사      | the company      | at the company      | to the company  | workplace
도서관    | the library      | at the library      |                 | study_place quiet meeting
카페      | the cafe         | at the cafe         |                 | cafe study_place meeting
식당      | the restaurant   | at the restaurant   |                 | eatery meeting
공원      | the park         | in the park         |                 | outdoors sport_place meeting
시장      | the market       | at the market       |                 | shop food_shop clothes_shop
백화점    | the department store | at the department store |          | shop clothes_shop gift_shop meeting
편의점    | the convenience store | at the convenience store |        | shop food_shop
병원      | the hospital     | at the hospital     |                 | workplace errand
약국      | the pharmacy     | at the pharmacy     |                 | errand
은행      | the bank         | at the bank         |                 | workplace errand
우체국    | the post office  | at the post office  |                 | workplace errand
서점      | the bookstore    | at the bookstore    |                 | book_shop meeting
영화관    | the movie theater | at the movie theater |               | cinema meeting
박물관    | the museum       | at the museum       |                 | sight meeting
미술관    | the art gallery  | at the art gallery  |                 | sight
공항      | the airport      | at the airport      |                 | transport meeting
기차역    | the train station | at the train station |               | transport meeting
바다      | the sea          | at the sea          |                 | outdoors swim_place nature
산        | the mountain     | on the mountain     |                 | outdoors nature
강        | the river        | at the river        |                 | outdoors nature
수영장    | the swimming pool | at the swimming pool |               | swim_place
체육관    | the gym          | at the gym          |                 | sport_place
호텔      | the hotel        | at the hotel        |                 | workplace lodging
교회      | the church       | at church           | to church       | errand
동물원    | the zoo          | at the zoo          |                 | sight
놀이공원  | the amusement park | at the amusement park |             | sight
빵집      | the bakery       | at the bakery       |                 | bakery workplace
꽃집      | the flower shop  | at the flower shop  |                 | flower_shop workplace
미용실    | the hair salon   | at the hair salon   |                 | errand workplace
사무실    | the office       | at the office       |                 | indoors workplace
기숙사    | the dormitory    | in the dormitory    |                 | indoors residence
경찰서    | the police station | at the police station |             | errand
노래방    | the karaoke room | at the karaoke room |                 | karaoke
운동장    | the playground   | on the playground   |                 | sport_place
서울      | Seoul            | in Seoul            |                 | city
부산      | Busan            | in Busan            |                 | city seaside
제주도    | Jeju Island      | on Jeju Island      |                 | city seaside
한국      | Korea            | in Korea            |                 | country
미국      | America          | in America          |                 | country
일본      | Japan            | in Japan            |                 | country
중국      | China            | in China            |                 | country
프랑스    | France           | in France           |                 | country
시골      | the countryside  | in the countryside  |                 | rural
"""


@dataclass(frozen=True)
class Place:
    """A place: its name, the English phrase for being there, the one for going there, its classes."""

    korean: str
    english: str
    at: str
    to: str
    classes: frozenset[str]


def _read_table() -> tuple[Place, ...]:
    return tuple(
        Place(korean, english, at, to or "to " + english, words(classes))
        for korean, english, at, to, classes in rows(_TABLE)
    )


PLACES = _read_table()
PLACE = {place.korean: place for place in PLACES}


def places(classes: str) -> tuple[Place, ...]:
    """All places that belong to any of the classes, or are named themselves."""
    wanted = words(classes)
    return tuple(place for place in PLACES if place.classes & wanted or place.korean in wanted)
