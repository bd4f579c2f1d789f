"""The verbs as frames: what each may take as object and place, and how it may be said.

A table row reads ``korean | english | objects | places | manners | traits``; an indented line goes on with the
row above. Objects and places are classes or single words (``_`` for a space within one). Traits:

- of the object: ``generic`` (meant in general: like apples), ``definite`` (the computer), ``those`` (the plates),
  ``own`` (my hands), ``counted`` (may carry a number), ``described`` (may carry an adjective);
- of time: ``great`` (placed in weeks and years), ``dwelling`` (in years), ``daily`` (in days), ``instant`` (not
  planned for a day), ``routine`` (early or late), ``ongoing`` (only under way), ``state`` (neither willed nor under
  way), ``event`` and ``once`` (no habit), ``punctual`` (never under way), ``going`` (under way it would be the way
  there: go fishing), ``accident``, ``passive`` and ``unwilled`` (befalls one: not wished, not able), ``unwished``,
  ``slight`` (too small a thing to be able to do, or to deny);
- of use: ``hither`` (said where it leads, so not planned), ``duty`` (one has to), ``request`` (one asks for it),
  ``adult``, ``youthful`` and ``pupil`` (who does it), ``fun`` (one enjoys doing it), ``domestic`` (seen of
  relatives only);
- of form: ``whole`` (하다 stays with its noun, for there is an object), ``split`` (운동을 안 하다);
- of the English place: ``to`` (the default of a goal), ``at`` (arrive at), ``bare`` (visit the museum).
"""

from dataclasses import dataclass
from functools import cached_property

from .conjugation import Predicate, predicate
from .nouns import Noun, nouns
from .places import Place, places
from .tables import rows, words
from .times import MANNERS, Adverb

_WITH_THING = """
먹다 | eat | fruit sweets | 집 | 많이 조금 천천히 혼자 같이 | counted described request fun
먹다 | eat | dish western | 식당 집 | 많이 조금 천천히 빨리 혼자 같이 | counted described request fun
먹다 | eat | staple 감자 고구마 토마토 오이 두부 | 집 | 많이 조금 | described request generic
먹다 | have | meal | 식당 집 | 혼자 일찍 늦게 같이 | daily duty request
먹다 | take | 약 비타민 | | | duty request punctual slight
마시다 | drink | 커피 녹차 홍차 우유 주스 | 카페 집 | 많이 조금 천천히 혼자 같이 | counted described request fun
마시다 | drink | 물 콜라 | 집 식당 | 많이 조금 천천히 | counted described request fun
마시다 | drink | alcohol | 집 식당 | 많이 조금 천천히 혼자 같이 | counted described fun
사다 | buy | fruit vegetable staple | 시장 | 많이 | counted described generic punctual duty request
사다 | buy | sweets drink | 편의점 | 많이 | counted described punctual duty request
사다 | buy | garment carried gift | 백화점 시장 | 같이 | counted described punctual duty once
사다 | buy | book | 서점 | | counted described punctual duty once
사다 | buy | stationery | 서점 | | counted described punctual duty once slight unwished
사다 | buy | tableware | 시장 백화점 | 같이 | counted described once punctual duty unwished
사다 | buy | gadget bike appliance furniture | 백화점 | | counted described great once punctual duty
사다 | buy | drivable | | | described great once punctual adult
팔다 | sell | fruit vegetable | 시장 | | generic adult slight unwilled unwished
팔다 | sell | furniture gadget bike drivable | | | described great once adult punctual own
요리하다 | cook | 고기 생선 감자 양파 당근 배추 두부 | 집 | 같이 혼자 | domestic whole generic unwished
만들다 | make | dish western | 집 | 혼자 같이 | described request fun
굽다 | bake | 빵 케이크 | 집 | 같이 혼자 | domestic request fun
굽다 | bake | 고구마 | 집 | 같이 혼자 | domestic request fun generic
주문하다 | order | dish western | 식당 | | counted request whole slight punctual once
주문하다 | order | 커피 녹차 홍차 주스 콜라 우유 | 카페 | | counted request whole slight punctual once
자르다 | cut | 케이크 빵 수박 양파 당근 오이 두부 고기 | | 천천히 빨리 | instant definite once request slight unwished
읽다 | read | book 신문 기사 시 | 도서관 집 카페 | 조용히 천천히 다시 혼자 | counted described duty request fun
읽다 | read | 편지 이메일 보고서 | 집 사무실 | 천천히 다시 | counted described duty slight
쓰다 | write | 편지 이메일 보고서 엽서 시 기사 | 집 카페 도서관 | 천천히 다시 | counted described duty fun
쓰다 | write | 소설 | | | described fun great
외우다 | memorize | 단어 | 집 도서관 | | those duty pupil unwished
외우다 | memorize | 시 노래 | 집 | | definite duty pupil unwished once
보내다 | send | 편지 이메일 엽서 선물 사진 | | 다시 | counted described duty request
받다 | receive | 편지 이메일 엽서 gift | | | counted described punctual passive daily
보다 | watch | 영화 | 영화관 집 | 혼자 같이 다시 | counted described fun
보다 | watch | 드라마 다큐멘터리 screen | 집 | 혼자 같이 | described fun
보다 | watch | 만화 | 집 | 혼자 같이 | described fun youthful
보다 | watch | 연극 뮤지컬 공연 | | 혼자 같이 다시 | described fun
듣다 | listen to | 음악 노래 | 집 카페 | 혼자 같이 | fun
듣다 | listen to | 라디오 | 집 | 혼자 | fun
부르다 | sing | song | 집 노래방 | 크게 같이 잘 | described fun request
배우다 | learn | language science | 학교 | 혼자 같이 | great generic duty fun
배우다 | learn | racket struck_instrument | 학교 | 혼자 같이 | great generic fun
연습하다 | practice | struck_instrument | 학교 집 | 열심히 혼자 같이 | whole generic duty
연습하다 | practice | racket | 체육관 학교 | 열심히 혼자 같이 | whole generic duty
공부하다 | study | language science | 학교 도서관 집 카페 | 열심히 조용히 혼자 같이 | whole generic duty youthful fun
가르치다 | teach | language science | 학교 | | generic adult fun
하다 | play | 축구 야구 | 운동장 학교 공원 | 같이 | generic youthful fun
하다 | play | 농구 배구 | 체육관 운동장 학교 | 같이 | generic youthful fun
하다 | play | 게임 | 집 | 같이 혼자 | generic youthful fun
치다 | play | racket | 체육관 학교 | 잘 같이 | generic fun
치다 | play | struck_instrument | 집 학교 교회 | 잘 같이 | generic fun
하다 | do | 숙제 | 집 도서관 카페 | 혼자 같이 | generic pupil duty
끝내다 | finish | 숙제 보고서 | | 빨리 일찍 | definite once duty punctual
입다 | wear | clothes | | | described duty request slight
신다 | wear | footwear | | | described duty request slight
쓰다 | wear | headwear | | | described duty request slight
끼다 | wear | handwear 반지 | | | described request slight
벗다 | take off | 코트 재킷 footwear headwear handwear | | | instant own once punctual duty request
빌리다 | borrow | book | 도서관 | | counted described punctual duty
빌리다 | borrow | stationery 우산 | | | instant once punctual unwished
빌리다 | borrow | 노트북 카메라 자전거 | | | daily once punctual
돌려주다 | return | book 우산 카메라 노트북 사전 | | 빨리 | definite once punctual duty request unwished
찾다 | find | losable carried stationery | | | definite instant once punctual unwilled slight unwished
찾다 | look for | losable carried stationery | 집 | | definite ongoing
잃어버리다 | lose | losable carried 휴대폰 카메라 | | | own accident punctual
고치다 | fix | gadget bike | | 혼자 빨리 | definite duty request once adult
고치다 | fix | appliance | | 혼자 빨리 | definite duty request once adult domestic youthful
사용하다 | use | 컴퓨터 노트북 카메라 휴대폰 사전 | | | described whole once
사용하다 | use | 세탁기 에어컨 선풍기 | | | definite whole once
열다 | open | opening | | 천천히 조용히 | instant once punctual request
닫다 | close | opening | | 천천히 조용히 | instant once punctual request duty
켜다 | turn on | switch 컴퓨터 에어컨 텔레비전 라디오 선풍기 | | | instant definite punctual request once
끄다 | turn off | switch 컴퓨터 에어컨 텔레비전 라디오 선풍기 | | | instant definite punctual request once duty
청소하다 | clean | cleanable | | 혼자 같이 빨리 | whole duty request unwished
청소하다 | clean | 교실 | | 혼자 빨리 | whole duty request pupil unwished
찍다 | take | 사진 | 공원 바다 산 동물원 강 | 많이 같이 | counted described request fun
그리다 | draw | 그림 꽃 장미 나무 | 공원 학교 집 | 잘 천천히 | described fun
그리다 | draw | animal | | 잘 천천히 | once youthful slight
키우다 | raise | pet | 집 | | counted described great slight dwelling
키우다 | raise | 소 돼지 오리 말 | 시골 | | generic adult great slight dwelling
심다 | plant | 꽃 장미 나무 감자 고구마 배추 | 시골 | 같이 많이 | domestic generic once unwished slight
타다 | take | transit | | 같이 | once punctual duty request unwished slight
타다 | ride | 자전거 | 공원 | 천천히 잘 같이 혼자 | youthful fun
타다 | ride | 말 | 제주도 | 잘 | once youthful great slight unwilled
운전하다 | drive | 자동차 | | 천천히 빨리 잘 | whole adult described unwished unwilled
운전하다 | drive | 트럭 버스 택시 | | | whole adult domestic once unwished slight unwilled
씻다 | wash | 사과 포도 딸기 복숭아 감자 고구마 당근 오이 토마토 배추
    tableware | | 빨리 | those duty request once unwished slight instant domestic unwilled
씻다 | wash | body | | | instant own duty request punctual
준비하다 | prepare | 선물 | | 혼자 같이 | daily whole duty once
준비하다 | prepare | meal | | 혼자 같이 | daily whole duty once adult
좋아하다 | like | fruit dish western sweets 커피 녹차 홍차 우유 주스 콜라 animal show game racket song 꽃
    장미 | | | generic state whole
싫어하다 | dislike | vegetable staple alcohol beast 게임 수학 과학 | | | generic state whole slight
풀다 | solve | 문제 | 학교 도서관 | 혼자 빨리 천천히 같이 | definite duty request pupil once
버리다 | throw away | 잡지 신문 | | | definite once punctual duty request unwished
버리다 | throw away | garment furniture | | | definite described once punctual slight unwished unwilled
가져오다 | bring | 여권 | | | own once punctual duty request unwished
가져오다 | bring | stationery 우산 카메라 열쇠 표 접시 컵 의자 | | | once punctual duty request unwished
고르다 | choose | garment 인형 장난감 선물 책 소설 반지 목걸이 | | 천천히 같이 | described once request slight unwished
예약하다 | reserve | 표 방 | | | once punctual duty request whole
"""
_WITH_PERSON = """
만나다 | meet | | meeting | | punctual duty
도와주다 | help | | | | duty request
기다리다 | wait for | | meeting | 오래 | duty request unwished once
전화하다 | call | | | 다시 | whole punctual duty request
초대하다 | invite | | | | whole punctual once request daily
이야기하다 | talk with | | 카페 식당 공원 | 오래 조용히 많이 | whole fun
놀다 | hang out with | | 공원 집 바다 놀이공원 | | youthful fun
사랑하다 | love | | | | state whole slight
"""
# The thing is the object, the person receives it.
_WITH_RECIPIENT = """
주다 | give | gift book 가방 시계 초콜릿 사탕 | | | described request punctual slight once
보내다 | send | 편지 이메일 엽서 선물 사진 책 | | | counted described duty request
빌려주다 | lend | book 우산 노트북 카메라 자전거 볼펜 사전 | | | request punctual once slight
보여 주다 | show | 사진 그림 편지 표 | | | described request once punctual slight
보여 주다 | show | 여권 | | | own request once punctual slight
"""
_WITHOUT_OBJECT = """
자다 | sleep | | 집 기숙사 | 많이 일찍 늦게 조금 | daily routine request
쉬다 | rest | | 집 공원 카페 바다 | 조금 많이 혼자 같이 | request fun
일하다 | work | | workplace | 열심히 많이 혼자 | split duty adult
운동하다 | exercise | | 공원 체육관 집 | 열심히 많이 혼자 같이 | split duty request fun
수영하다 | swim | | 바다 수영장 강 | 천천히 혼자 같이 | split fun
산책하다 | take a walk | | 공원 바다 | 혼자 같이 | split fun
쇼핑하다 | shop | | 백화점 시장 | 혼자 같이 많이 | split fun adult
걷다 | walk | | 공원 산 | 천천히 혼자 같이 많이 | fun unwilled unwished slight
뛰다 | run | | 공원 운동장 | 빨리 혼자 같이 | youthful slight unwilled unwished
춤추다 | dance | | 집 노래방 | 잘 같이 혼자 | whole youthful fun
웃다 | laugh | | | 크게 많이 | instant passive unwilled
울다 | cry | | | 크게 많이 혼자 | instant youthful passive unwilled
일어나다 | get up | | | 일찍 늦게 | daily routine duty request punctual
여행하다 | travel | | country 부산 제주도 | 혼자 같이 | whole adult great fun
등산하다 | go hiking | | | 혼자 같이 | going split fun
낚시하다 | go fishing | | | 혼자 같이 | going split fun
빨래하다 | do the laundry | | 집 기숙사 | 혼자 같이 | domestic split duty unwished
설거지하다 | do the dishes | | | 혼자 빨리 같이 | domestic split duty unwished
샤워하다 | take a shower | | 체육관 | 빨리 오래 | domestic split slight
이사하다 | move | | | | great split event adult duty punctual
결혼하다 | get married | | | | great split event adult youthful punctual
졸업하다 | graduate | | | | great split event pupil punctual
출근하다 | go to work | | | 일찍 늦게 | daily routine split adult duty punctual unwished
퇴근하다 | leave work | | | 일찍 늦게 | daily routine split adult punctual
노래하다 | sing | | 교회 노래방 | 크게 같이 | split fun
눕다 | lie down | | | | domestic ongoing once punctual slight
"""
_WITH_GOAL = """
가다 | go | | study_place workplace eatery outdoors shop errand book_shop cinema sight transport swim_place
    sport_place bakery flower_shop city 집 노래방 | 혼자 같이 일찍 다시 | duty request
가다 | go | | country rural 제주도 | 혼자 같이 다시 | great once going
오다 | come | | 학교 회사 도서관 카페 공원 집 교회 사무실 병원 | 혼자 일찍 늦게 다시 같이 | hither request
오다 | come | | 서울 부산 한국 | 혼자 다시 같이 | hither great once
도착하다 | arrive | | 학교 회사 공항 기차역 호텔 서울 부산 사무실 집 | 일찍 늦게 | at event punctual passive
다니다 | attend | | 학교 교회 | | attend state
살다 | live | | city country rural 기숙사 | 혼자 오래 | at great dwelling
들르다 | stop by | | 은행 우체국 서점 빵집 꽃집 약국 시장 편의점 | | bare event punctual duty request
방문하다 | visit | | 박물관 미술관 동물원 회사 학교 | 다시 | bare whole punctual once daily
방문하다 | visit | | country city | 다시 | bare whole great punctual once
"""


@dataclass(frozen=True)
class Verb:
    """A verb with its frame; ``takes`` says what it wants: thing, person, recipient, nothing or goal."""

    lemma: str
    english: str
    objects: tuple[Noun, ...]
    places: tuple[Place, ...]
    manners: tuple[Adverb, ...]
    traits: frozenset[str]
    takes: str

    @cached_property
    def predicate(self) -> Predicate:
        """The verb ready for endings."""
        return predicate(self.lemma)

    @property
    def person_particle(self) -> str:
        """What marks the person the verb is about."""
        if self.takes == "recipient" or self.lemma == "전화하다":
            return "에게"
        return "과/와" if self.english.endswith(" with") else "을/를"

    @property
    def place_particle(self) -> str:
        """에 for a goal or dwelling, 에서 for where something is done, 을/를 for what is visited."""
        if self.lemma in ("방문하다", "여행하다"):
            return "을/를"
        return "에" if self.takes == "goal" else "에서"


def _read_row(cells: list[str], takes: str) -> Verb:
    lemma, english, objects, spots, manners, traits = cells
    verb = Verb(
        lemma,
        english,
        nouns(objects),
        places(spots),
        tuple(MANNERS[manner] for manner in manners.split()),
        words(traits),
        takes,
    )
    # A misspelt word would silently drop out of its frame.
    for wanted, found in ((objects, verb.objects), (spots, verb.places)):
        known = {word for part in found for word in (part.korean.replace(" ", "_"), *part.classes)}
        assert words(wanted) <= known, f"{lemma}: {words(wanted) - known} is neither a word nor a class"
    return verb


def _read(table: str, takes: str) -> tuple[Verb, ...]:
    return tuple(_read_row(cells, takes) for cells in rows(table))


TRANSITIVE = _read(_WITH_THING, "thing")
PERSONAL = _read(_WITH_PERSON, "person")
GIVING = _read(_WITH_RECIPIENT, "recipient")
INTRANSITIVE = _read(_WITHOUT_OBJECT, "nothing")
MOTION = _read(_WITH_GOAL, "goal")
VERBS = (*TRANSITIVE, *PERSONAL, *GIVING, *INTRANSITIVE, *MOTION)


def verb_frames(lemma: str, english: str = "") -> tuple[Verb, ...]:
    """All frames of a verb by its dictionary form."""
    return tuple(verb for verb in VERBS if verb.lemma == lemma and english in ("", verb.english))
