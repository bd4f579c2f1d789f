"""Whom a deed suits: of whom one would say that they do it, and where."""

from .nouns import Noun
from .people import HONOURED, NAMES, Person
from .places import Place
from .tables import words
from .verbs import Verb

_CHILDREN = frozenset({"아들", "딸", "아이", "학생"})
_ELDERS = frozenset({"엄마", "아빠"})
GROWN_UP = (
    _ELDERS
    | {"남편", "아내", "삼촌", "이모", "이웃", "동료", "사장님"}
    | {p.lemma for p in HONOURED if p.kind == "kin"}
)
# What one would say of the teacher, the professor or the boss.
_OFFICIAL = words(
    "가다 오다 만나다 일하다 출근하다 퇴근하다 가르치다 여행하다 방문하다 도착하다 쉬다 먹다 마시다 읽다 쓰다 "
    "운동하다 등산하다 산책하다 수영하다 낚시하다 살다 좋아하다 싫어하다 이사하다 결혼하다 전화하다 기다리다 보다 "
    "듣다 운전하다 돌다 보내다"
)
# Who neither furnishes a house nor drives a truck.
_YOUNG = _CHILDREN | {"남동생", "여동생"}
# What one gives to friends and children.
CHILDISH = words("만화책 동화책 인형 장난감 초콜릿 사탕 자전거")
_SELLERS = frozenset({"할머니", "할아버지", "이웃", "삼촌", "이모"})
_SCHOOL_PLACES = frozenset({"학교", "기숙사", "운동장"})
# What a customer is seen to do; anything else would ask for a story.
_CUSTOMER_VERBS = frozenset({"먹다", "마시다", "주문하다", "고르다", "기다리다"})
# Those of one's own circle: one tells of them whom they met, and with whom they went.
PEERS = words("친구 형 누나 오빠 언니 남동생 여동생 사촌 동료 룸메이트") | {person.lemma for person in NAMES}


def suits(person: Person, verb: Verb, thing: Noun | None = None) -> bool:
    """Whether one would say of this person that they do this."""
    if "youthful" in verb.traits and (person.honoured or person.lemma in _ELDERS):
        return False
    if "pupil" in verb.traits and (person.lemma in GROWN_UP or person.honoured or person.lemma in ("간호사", "손님")):
        return False
    if "domestic" in verb.traits and person.kind == "role":
        return False
    if verb.lemma == "결혼하다" and person.lemma in ("남편", "아내"):
        return False
    if verb.lemma == "팔다" and "own" not in verb.traits and person.lemma not in _SELLERS:
        return False
    if "own" in verb.traits and not person.possessive:
        return False
    if person.lemma in ("할머니", "할아버지") and verb.lemma in ("일하다", "출근하다", "퇴근하다"):
        return False
    if person.honoured and (verb.lemma == "춤추다" or (thing is not None and thing.classes & {"racket", "game"})):
        return False
    is_official = person.kind == "role" and person.honoured
    if is_official and (verb.lemma not in _OFFICIAL or (thing is not None and thing.korean in CHILDISH)):
        return False
    drives = verb.lemma == "운전하다" and thing is not None and thing.korean != "자동차"
    if drives and person.lemma not in ("아버지", "아빠", "삼촌", "이웃", "남편"):
        return False
    if (
        thing is not None
        and thing.korean == "기사"
        and verb.lemma == "쓰다"
        and person.kind == "kin"
        and person.honoured
    ):
        return False
    is_household_matter = thing is not None and bool(
        thing.classes & {"appliance", "furniture"} or thing.korean == "트럭"
    )
    if person.lemma in _YOUNG and is_household_matter and verb.lemma in ("사다", "팔다", "고치다", "버리다"):
        return False
    if thing is not None and thing.korean == "숙제" and (person.lemma in GROWN_UP or person.honoured):
        return False
    if thing is not None and thing.korean == "보고서" and person.lemma in _CHILDREN | {"할머니", "할아버지"}:
        return False
    if thing is not None and thing.korean in ("치마", "원피스") and person.possessive == "his":
        return False
    is_adult_matter = "adult" in verb.traits or (thing is not None and "alcohol" in thing.classes)
    if person.lemma in _CHILDREN and is_adult_matter:
        return False
    # Whom one's elders meet and what they give is told of less, and would need "his" and "her".
    if verb.takes in ("person", "recipient") and person.lemma not in PEERS:
        return False
    return person.lemma != "손님" or verb.lemma in _CUSTOMER_VERBS


def fitting_places(verb: Verb, subject: Person | None) -> list[Place]:
    """Relatives who have left school are not met there at play, nor the teacher in one's home."""
    out_of_place: set[str] = set()
    if subject and subject.lemma in GROWN_UP:
        out_of_place |= _SCHOOL_PLACES
    if subject and subject.kind == "role":
        out_of_place |= {"집", "기숙사"}
    if subject and subject.lemma in _CHILDREN:
        out_of_place |= {"은행", "우체국", "약국", "회사", "사무실", "꽃집", "미용실", "경찰서"}
    if subject and subject.kind == "role" and subject.lemma not in _CHILDREN:
        out_of_place |= {"동물원", "놀이공원", "바다", "산", "강", "운동장", "노래방"}
    return [place for place in verb.places if place.korean not in out_of_place]
