"""A clause in both languages: chosen parts on one side, two sentences' worth of words on the other."""

from dataclasses import dataclass, replace
from typing import Literal

from . import conjugation as ko
from . import english as en
from .adjectives import Adjective
from .conjugation import Level, Predicate, Tense
from .english import Mode
from .hangul import attach
from .nouns import Noun
from .people import ME, US, YOU, Person
from .places import Place
from .tables import words
from .times import HOURS, NATIVE_NUMERALS, Adverb, Time
from .verbs import Verb

Negation = Literal["", "안", "않다", "못"]


@dataclass(frozen=True)
class Sentence:
    """A finished pair; ``words`` are its Korean content words as in the dictionary.

    ``combinations`` are the word pairs bound by grammar: verb and object, verb and place, adjective and noun.
    """

    korean: str
    english: str
    construction: str
    level: Level
    words: frozenset[str]
    combinations: frozenset[tuple[str, str]]


# What is done to a whole cake or melon.
_OF_WHOLES = words("사다 굽다")


@dataclass(frozen=True)
class Phrase:
    """A thing with what is said of it: 빨간 사과 세 개, three red apples."""

    noun: Noun
    adjective: Adjective | None = None
    number: int = 0

    @property
    def korean(self) -> str:
        """Adjective, noun, native numeral and counter."""
        before = ko.adnominal(self.adjective.predicate, "present") + " " if self.adjective else ""
        after = f" {NATIVE_NUMERALS[self.number]} {self.noun.counter}" if self.number else ""
        return before + self.noun.korean + after

    def english(
        self,
        *,
        generic: bool = False,
        definite: bool = False,
        those: bool = False,
        owner: str = "",
        amount: str = "",
        whole: bool = False,
    ) -> str:
        """The English noun phrase, with the owner, amount (많이, 조금) or article the noun's kind asks for.

        What is eaten by the piece (cake) is bought and baked ``whole`` (a cake).
        """
        noun = self.noun
        if whole and not self.number:
            noun = replace(noun, kind="count", unit="")
        quality = self.adjective.english + " " if self.adjective else ""
        if self.number:
            number = en.NUMBERS[self.number]
            if noun.unit:
                unit = noun.unit if self.number == 1 else en.plural(noun.unit)
                return f"{number} {unit} of {quality}{noun.many}"
            return f"{number} {quality}{noun.english if self.number == 1 else noun.many}"
        if amount:
            little = "a little " if noun.kind == "mass" else "a few "
            return ("a lot of " if amount == "많이" else little) + quality + noun.many
        if owner:
            has_several = owner in ("our", "their") and "body" in noun.classes
            return f"{owner} {quality}{noun.many if has_several else noun.english}"
        if those:
            return f"the {quality}{noun.many}"
        if noun.kind == "the" or definite:
            return f"the {quality}{noun.english.removeprefix('the ')}"
        if generic:
            return quality + noun.many
        if noun.kind == "count":
            return en.article(quality + noun.english)
        return quality + noun.english

    @property
    def words(self) -> frozenset[str]:
        """The dictionary words in the phrase."""
        return frozenset({self.noun.korean} | ({self.adjective.lemma} if self.adjective else set()))

    @property
    def combinations(self) -> frozenset[tuple[str, str]]:
        """The adjective bound to its noun."""
        return frozenset({(self.adjective.lemma, self.noun.korean)} if self.adjective else ())


@dataclass(frozen=True)
class Means:
    """By, with, in or towards what: 버스로, by bus; 볼펜으로, with a pen; 한국어로, in Korean."""

    korean: str
    english: str


@dataclass(frozen=True)
class Form:
    """How a clause is said: level, tense, mode, negation, and whether it asks."""

    level: Level = "polite"
    tense: Tense = "present"
    mode: Mode = "plain"
    negation: Negation = ""
    question: bool = False
    remote: bool = False


@dataclass(frozen=True)
class Clause:
    """A verb with everything that goes with it; a subject of None is left unsaid (I, or you when asked)."""

    verb: Verb
    subject: Person | None = None
    object: Phrase | None = None
    person: Person | None = None
    place: Place | None = None
    companion: Person | None = None
    time: Time | None = None
    manner: Adverb | None = None
    frequency: Adverb | None = None
    time_first: bool = False
    marker: Literal["topic", "subject"] = "topic"
    means: Means | None = None

    # What it is made of.

    @property
    def words(self) -> frozenset[str]:
        """The dictionary words in the clause."""
        found = {self.verb.lemma}
        people = (self.subject, self.person, self.companion)
        found |= {person.lemma for person in people if person and person.lemma}
        found |= {part.korean for part in (self.place, self.time, self.manner, self.frequency, self.means) if part}
        return frozenset(found | (self.object.words if self.object else frozenset()))

    @property
    def combinations(self) -> frozenset[tuple[str, str]]:
        """Verb and object, verb and place, adjective and noun; means are too few to be kept apart."""
        found = set(self.object.combinations) if self.object else set()
        for part in (self.object.noun if self.object else None, self.place):
            if part:
                found.add((self.verb.lemma, part.korean))
        return frozenset(found)

    def doer(self, form: Form) -> Person:
        """Who does it, said or unsaid."""
        return self.subject or (YOU if form.question else ME)

    @property
    def amount(self) -> str:
        """많이 or 조금 where English makes it part of the object: a lot of apples, a little bread."""
        return self.manner.korean if self.object and self.manner and self.manner.korean in ("많이", "조금") else ""

    @property
    def is_offering(self) -> bool:
        """Whether the receiver is honoured, who is given and helped with 드리다 and addressed with 께."""
        is_given = self.verb.person_particle == "에게" or self.verb.lemma == "도와주다"
        return self.person is not None and self.person.honoured and is_given

    # Korean.

    def korean_arguments(self, level: Level) -> str:
        """Everything before the predicate, with a space at its end where there is anything."""
        subject = ""
        if self.subject:
            subject = self.subject.topic(level) if self.marker == "topic" else self.subject.subject(level)
        time = self.time.korean if self.time else ""
        parts = [time, subject] if self.time_first else [subject, time]
        if self.frequency:
            parts.append(self.frequency.korean)
        if self.companion:
            parts.append(attach(self.companion.korean(level), "과/와"))
        means = [attach(self.means.korean, "으로/로")] if self.means else []
        # One goes by bus to school, but writes at the cafe with a pen.
        if self.verb.takes == "goal":
            parts += means
        if self.place:
            parts.append(attach(self.place.korean, self.verb.place_particle))
        if self.person:
            particle = self.verb.person_particle
            parts.append(
                attach(self.person.korean(level), "께" if self.is_offering and particle == "에게" else particle)
            )
        if self.verb.takes != "goal":
            parts += means
        if self.object:
            parts.append(attach(self.object.korean, "을/를"))
        if self.manner:
            parts.append(self.manner.korean)
        return "".join(part + " " for part in parts if part)

    def korean_predicate(self, form: Form) -> Predicate:
        """The predicate with negation, mode and honorific built in, ready for its last ending."""
        doer = self.doer(form)
        p = self.verb.predicate
        if self.is_offering and p.stem.endswith("주"):
            p = replace(p, stem=p.stem[:-1] + "드리")
        is_split = "split" in self.verb.traits
        if form.negation in ("안", "못") and form.mode == "plain":
            if is_split and not self.manner:
                p = replace(p, stem=attach(self.verb.lemma[:-2], "을/를") + " 하")
            is_whole = "whole" in self.verb.traits and self.verb.lemma not in ("좋아하다", "싫어하다")
            if is_whole or (is_split and self.manner):
                # With an object or adverb of its own a 하다-verb is not split: 한국어를 공부하지 않다.
                p = ko.not_long(p) if form.negation == "안" else ko.unable_long(p)
                return ko.honorific(p) if doer.honoured else p
        if form.mode == "want":
            p = ko.wish(
                ko.respectful(p) if doer.honoured else p,
                of_another=self.subject is not None and self.subject.kind not in ("me", "us"),
            )
            return self._negated(ko.honorific(p) if doer.honoured else p, form)
        if form.mode == "progressive":
            return self._negated(ko.progressive(p, honoured=doer.honoured), form)
        if doer.honoured and form.negation == "않다" and form.mode == "plain":
            # The last verb bears the honour: 이야기하지 않으시다.
            return ko.honorific(ko.not_long(ko.respectful(p)))
        if doer.honoured:
            p = ko.honorific(p)
        if form.mode == "can":
            return ko.ability(p, able=not form.negation)
        if form.mode == "experience":
            return ko.experience(p, had=not form.negation)
        if form.mode == "must":
            return ko.obligation(p)
        return self._negated(p, form)

    @staticmethod
    def _negated(p: Predicate, form: Form) -> Predicate:
        if form.negation == "않다":
            return ko.not_long(p)
        if form.negation in ("안", "못"):
            return ko.not_short(p, form.negation)
        return p

    def korean(self, form: Form) -> str:
        """The whole clause as a sentence."""
        p = self.korean_predicate(form)
        if form.remote:
            p = ko.past(p)
        ending = ko.finish(p, form.level, form.tense, question=form.question)
        return self.korean_arguments(form.level) + ending + ("?" if form.question else ".")

    # English.

    @property
    def english_verb(self) -> str:
        """The English verb: who sleeps early or late, or at an hour, goes to bed."""
        is_bedtime = (self.manner and self.manner.korean in ("일찍", "늦게")) or self.time in HOURS
        return "go to bed" if self.verb.lemma == "자다" and is_bedtime else self.verb.english

    def english_complement(self, *, generic: bool = False, question: bool = False) -> str:
        """Everything after the English verb, with a space before each part."""
        traits = self.verb.traits
        # Solve the problem now, but solve problems every day.
        is_definite = "definite" in traits and not generic
        those = "those" in traits and not generic
        # Several people eat several apples, ride several bicycles and wear several rings.
        are_several = self.subject is US or (self.manner is not None and self.manner.korean == "같이")
        has_own = self.verb.english == "wear" or (self.object and self.object.noun.classes & {"fruit", "bike"})
        shared = are_several and bool(has_own)
        whole = self.object is not None and self.verb.lemma in _OF_WHOLES and "uncut" in self.object.noun.classes
        # One drives a car and rides a bicycle, however often.
        is_vehicle = self.verb.english in ("drive", "ride")
        generic = (generic and not is_vehicle) or (("generic" in traits or shared) and not whole)
        parts = []
        if self.object:
            owner = (self.subject or (YOU if question else ME)).possessive if "own" in traits else ""
            parts.append(
                self.object.english(
                    generic=generic,
                    definite=is_definite,
                    those=those,
                    owner=owner,
                    amount=self.amount,
                    whole=whole,
                )
            )
        if self.person:
            to = "to " if self.verb.takes == "recipient" else ""
            parts.append(to + self.person.english_said(question=question, after_verb=True))
        # One works hard at school, but goes to school early: only a goal stands closer to the verb than the manner.
        manner = [self.manner.english] if self.manner and not self.amount else []
        place = [self._english_place()] if self.place else []
        means = [self.means.english] if self.means else []
        parts += place + manner + means if self.verb.takes == "goal" else means + manner + place
        if self.companion:
            parts.append("with " + self.companion.english_said(question=question, after_verb=True))
        if self.time:
            parts.append(self.time.english)
        return "".join(" " + part for part in parts)

    def _english_place(self) -> str:
        assert self.place
        traits = self.verb.traits
        if "attend" in traits:
            return self.place.at.removeprefix("at ")
        if "bare" in traits:
            return self.place.english
        if self.verb.english == "arrive" and self.place.korean == "집":
            return "home"
        if "at" in traits or self.verb.takes != "goal":
            return self.place.at
        return self.place.to

    def english_clause(self, form: Form, *, generic: bool = False) -> str:
        """The clause without capital and full stop."""
        doer = self.doer(form)
        negated = bool(form.negation)
        mode: Mode = "can" if form.negation == "못" else form.mode
        english, frequency = self.english_verb, self.frequency.english if self.frequency else ""
        if mode == "experience":
            # Who has gone and come back has been there; 적이 없다 is never, and who asks 적이 있다 asks for ever.
            english = "be" if english == "go" else english
            frequency = "never" if negated else "ever" if form.question and not self.time else ""
            negated = False
        verb = en.finite(english, doer.agreement, form.tense, mode, negated=negated, question=form.question)
        said = verb.question if form.question else verb.statement
        # What one does habitually one does to things in general: 사과를 먹어요, I eat apples.
        habitual = form.tense == "present" and form.mode == "plain"
        complement = self.english_complement(generic=generic or habitual, question=form.question)
        return said(doer.english_said(question=form.question), frequency) + complement

    def english(self, form: Form) -> str:
        """The whole clause as a sentence."""
        return en.capitalise(self.english_clause(form)) + ("?" if form.question else ".")
