"""The people a sentence is about, with pronouns that follow the speech level."""

from dataclasses import dataclass
from typing import Literal

from .conjugation import Level
from .english import Agreement
from .hangul import attach, final_of
from .tables import entries, words

PersonKind = Literal["me", "us", "kin", "role", "name"]


@dataclass(frozen=True)
class Person:
    """Somebody who does something; ``honoured`` subjects take -(으)시-."""

    lemma: str
    english: str
    agreement: Agreement
    kind: PersonKind
    honoured: bool = False
    object_english: str = ""
    possessive: str = ""

    def korean(self, level: Level) -> str:
        """The person as this level of speech calls them: 나 or 저, 지영이 or 지영 씨."""
        if self.kind == "me":
            return "나" if level == "casual" else "저"
        if self.kind == "name":
            if level != "casual":
                return self.lemma + " 씨"
            # Among friends a name that ends in a consonant takes -이: 지영이는, 지영이가.
            return self.lemma + ("이" if final_of(self.lemma) else "")
        return self.lemma

    def topic(self, level: Level) -> str:
        """With 은/는."""
        return attach(self.korean(level), "은/는")

    def subject(self, level: Level) -> str:
        """With 이/가; 내가 and 제가 for the speaker."""
        if self.kind == "me":
            return "내가" if level == "casual" else "제가"
        return attach(self.korean(level), "이/가")

    def english_said(self, *, question: bool = False, after_verb: bool = False) -> str:
        """The English name: I or me, my mother; a question asks after the mother of the one who is asked."""
        english = self.object_english if after_verb and self.object_english else self.english
        return english.replace("my ", "your ", 1) if question else english


ME = Person("나", "I", "I", "me", object_english="me", possessive="my")
US = Person("우리", "we", "they", "us", object_english="us", possessive="our")
YOU = Person("", "you", "you", "us", possessive="your")

_HONOURED_KIN = "어머니 mother; 아버지 father; 할머니 grandmother; 할아버지 grandfather"
_KIN = """
엄마 mom; 아빠 dad; 형 older brother; 누나 older sister; 오빠 older brother; 언니 older sister; 남동생
    younger brother; 여동생 younger sister; 친구 friend; 남편 husband; 아내 wife; 아들 son; 딸 daughter;
    사촌 cousin; 동료 coworker; 이웃 neighbor; 삼촌 uncle; 이모 aunt; 룸메이트 roommate
"""
_HONOURED_ROLES = "선생님 teacher; 교수님 professor; 사장님 boss"
_ROLES = "학생 student; 아이 child; 간호사 nurse; 손님 customer"
_NAMES = "민수 Minsu; 지영 Jiyeong; 유나 Yuna; 준호 Junho; 수진 Sujin; 현우 Hyeonu; 민지 Minji; 지훈 Jihun"


# Whose English possessive the Korean word decides; of a friend or a teacher nothing is known.
_HIS = words("아버지 할아버지 아빠 형 오빠 남동생 남편 아들 삼촌 민수 준호 현우 지훈")
_HER = words("어머니 할머니 엄마 누나 언니 여동생 아내 딸 이모 지영 유나 수진 민지")


def _possessive(korean: str) -> str:
    return "his" if korean in _HIS else "her" if korean in _HER else ""


def _read(people: str, kind: PersonKind, before: str, *, honoured: bool = False) -> tuple[Person, ...]:
    return tuple(
        Person(korean, before + english, "it", kind, honoured, possessive=_possessive(korean))
        for korean, english in entries(people)
    )


PARENTS = Person("부모님", "my parents", "they", "kin", honoured=True, possessive="their")
HONOURED = (
    *_read(_HONOURED_KIN, "kin", "my ", honoured=True),
    PARENTS,
    *_read(_HONOURED_ROLES, "role", "the ", honoured=True),
)
KIN = _read(_KIN, "kin", "my ")
ROLES = _read(_ROLES, "role", "the ")
NAMES = _read(_NAMES, "name", "")

OTHERS = (*HONOURED, *KIN, *ROLES, *NAMES)
PEOPLE = (ME, US, *OTHERS)
# Those one meets, calls, helps and goes out with.
COMPANIONS = (*(p for p in HONOURED if p.lemma != "사장님"), *KIN, *NAMES)
PERSON = {person.lemma: person for person in PEOPLE}

_JOBS = """
학생 student; 의사 doctor; 간호사 nurse; 회사원 office worker; 요리사 cook; 가수 singer; 배우 actor; 기자
    reporter; 경찰관 police officer; 변호사 lawyer; 화가 painter; 작가 writer; 농부 farmer; 운전기사 driver;
    군인 soldier; 디자이너 designer; 대학생 college student; 소방관 firefighter; 통역사 interpreter
"""
JOB = dict(entries(_JOBS))
