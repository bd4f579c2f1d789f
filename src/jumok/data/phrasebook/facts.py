"""Facts: clauses that say how things are, built like actions so that both can be joined."""

from dataclasses import dataclass
from typing import Protocol

from . import conjugation as ko
from . import english as en
from .adjectives import Adjective
from .clauses import Form
from .conjugation import Level, Predicate
from .english import Agreement
from .hangul import attach
from .people import ME, YOU, Person
from .times import Adverb, Time


class Statement(Protocol):
    """What an action and a fact have in common, and all that joining needs."""

    @property
    def words(self) -> frozenset[str]:
        """The dictionary words."""
        ...

    @property
    def combinations(self) -> frozenset[tuple[str, str]]:
        """The word pairs bound by grammar."""
        ...

    def korean_arguments(self, level: Level) -> str:
        """Everything before the predicate."""
        ...

    def korean_predicate(self, form: Form) -> Predicate:
        """The predicate, ready for its last ending."""
        ...

    def english_clause(self, form: Form) -> str:
        """The clause without capital and full stop."""
        ...


@dataclass(frozen=True)
class Fact:
    """How something or somebody is.

    ``before`` is the Korean between subject and predicate; ``english_subject`` is "" where the person is the
    subject (I or you when unsaid); ``denied`` marks a predicate that denies by itself, such as 없다;
    ``under_way`` a verb whose Korean present is an English progressive (비가 와요, it is raining).
    """

    predicate: Predicate
    english_verb: str
    english_subject: str = ""
    agreement: Agreement = "it"
    person: Person | None = None
    before: str = ""
    after: str = ""
    time: Time | None = None
    time_is_topic: bool = False
    denied: bool = False
    under_way: bool = False
    words: frozenset[str] = frozenset()
    combinations: frozenset[tuple[str, str]] = frozenset()

    def _doer(self, form: Form) -> Person:
        return self.person or (YOU if form.question else ME)

    def korean_arguments(self, level: Level) -> str:
        """Time or person, then what stands before the predicate."""
        time = self.time.korean if self.time else ""
        if time and self.time_is_topic:
            time = attach(time, "는" if time.endswith("에") else "은/는")
        person = self.person.topic(level) if self.person else ""
        return "".join(part + " " for part in (person, time) if part) + self.before

    def korean_predicate(self, form: Form) -> Predicate:
        """The predicate, honoured and denied as asked."""
        p = self.predicate
        if self.person and self.person.honoured:
            p = ko.honorific(p)
        if form.negation == "않다":
            return ko.not_long(p)
        # 안 goes before short predicates: 안 커요, but 아름답지 않아요.
        if form.negation and len(p.last_word) < 3:
            return ko.not_short(p)
        return ko.not_long(p) if form.negation else p

    def korean(self, form: Form) -> str:
        """The whole fact as a sentence."""
        ending = ko.finish(self.korean_predicate(form), form.level, form.tense, question=form.question)
        return self.korean_arguments(form.level) + ending + ("?" if form.question else ".")

    def english_clause(self, form: Form) -> str:
        """The fact without capital and full stop."""
        if self.english_subject:
            subject, agreement = self.english_subject, self.agreement
        else:
            doer = self._doer(form)
            subject, agreement = doer.english_said(question=form.question), doer.agreement
        mode: en.Mode = "progressive" if self.under_way and form.tense == "present" else form.mode
        verb = en.finite(
            self.english_verb,
            agreement,
            form.tense,
            mode,
            negated=bool(form.negation) or self.denied,
            question=form.question,
        )
        said = verb.question(subject) if form.question else verb.statement(subject)
        return said + self.after + (" " + self.time.english if self.time else "")

    def english(self, form: Form) -> str:
        """The whole fact as a sentence."""
        return en.capitalise(self.english_clause(form)) + ("?" if form.question else ".")


def quality_of_person(
    adjective: Adjective, person: Person | None, degree: Adverb | None = None, time: Time | None = None
) -> Fact:
    """저는 오늘 피곤해요."""
    words = (
        {adjective.lemma}
        | {word.lemma for word in (person,) if word}
        | {word.korean for word in (time, degree) if word}
    )
    predicate = adjective.predicate
    if " " in adjective.lemma and degree:
        # The degree stands next to the adjective itself: 키가 아주 크다.
        head, _, tail = predicate.stem.rpartition(" ")
        predicate = Predicate(f"{head} {degree.korean} {tail}", "adjective")
        before = ""
    else:
        before = degree.korean + " " if degree else ""
    english = f"be {degree.english} {adjective.english}" if degree else f"be {adjective.english}"
    return Fact(predicate, english, person=person, before=before, time=time, words=frozenset(words))


def weather(adjective: Adjective, degree: Adverb | None = None, time: Time | None = None) -> Fact:
    """오늘은 날씨가 아주 추워요."""
    return Fact(
        adjective.predicate,
        f"be {degree.english + ' ' if degree else ''}{adjective.english}",
        "the weather",
        before="날씨가 " + (degree.korean + " " if degree else ""),
        time=time,
        time_is_topic=True,
        words=frozenset({"날씨", adjective.lemma} | {word.korean for word in (time, degree) if word}),
        combinations=frozenset({(adjective.lemma, "날씨")}),
    )


# What falls from the sky, and the wind. The English subject is always "it".
SKY = {
    "비": ("비가 ", "오다", "rain", True),
    "눈": ("눈이 ", "오다", "snow", True),
    "바람": ("바람이 ", "불다", "be windy", False),
}


def sky(what: str, time: Time | None = None, place: str = "", english_place: str = "") -> Fact:
    """내일 서울에 비가 올 거예요."""
    before, lemma, english, under_way = SKY[what]
    return Fact(
        ko.predicate(lemma),
        english,
        "it",
        before=place + before,
        after=english_place,
        time=time,
        under_way=under_way,
        words=frozenset({what, lemma} | ({time.korean} if time else set())),
    )


# Ailments: Korean predicate and English verb.
AILMENTS = {
    "머리가 아프다": "have a headache",
    "배가 아프다": "have a stomachache",
    "목이 아프다": "have a sore throat",
    "이가 아프다": "have a toothache",
    "다리가 아프다": "have sore legs",
    "열이 나다": "have a fever",
}


def ailment(korean: str, person: Person | None = None, time: Time | None = None) -> Fact:
    """저는 머리가 아파요."""
    body, _, lemma = korean.partition(" ")
    before = body + " "
    predicate = ko.predicate(lemma, "adjective" if lemma == "아프다" else "verb")
    words = {body[:-1], lemma} | {part.korean for part in (time,) if part} | ({person.lemma} if person else set())
    return Fact(predicate, AILMENTS[korean], person=person, before=before, time=time, words=frozenset(words))


# What one has or lacks: Korean noun and English phrase.
MATTERS = {
    "돈": "money", "시간": "time", "약속": "an appointment", "수업": "a class", "시험": "an exam", "회의": "a meeting",
    "계획": "plans", "질문": "a question", "숙제": "homework",
}  # fmt: skip


def having(noun: str, english: str, person: Person | None, *, lacks: bool = False, time: Time | None = None) -> Fact:
    """저는 내일 시험이 있어요."""
    words = (
        {noun, "없다" if lacks else "있다"} | ({person.lemma} if person else set()) | ({time.korean} if time else set())
    )
    return Fact(
        Predicate("없" if lacks else "있", "existence"),
        "have " + english,
        person=person,
        before=attach(noun, "이/가") + " ",
        time=time,
        denied=lacks,
        words=frozenset(words),
    )
