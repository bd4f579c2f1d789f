"""Korean conjugation over jamo: a predicate is a stem, and every ending is a function of it.

Endings come in three sorts, and each sort asks for another shape of the stem:

- endings in 아/어 join the *infinitive* (가 → 가, 마시 → 마셔, 듣 → 들어, 춥 → 추워);
- endings in (으) join the *open base*, which ends in a vowel or in ㄹ (먹 → 먹으, 듣 → 들으, 춥 → 추우, 살 → 살);
- endings in a consonant join the plain stem (먹고, 듣지만, 춥더라).

Modality is composed: ``wish(verb)`` is again a predicate (마시고 싶다), and conjugates as one.
"""

from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from .hangul import attach, final_of, join_syllable, split_syllable, with_final

Kind = Literal["verb", "adjective", "existence", "copula"]
Level = Literal["casual", "polite", "formal"]
Tense = Literal["past", "present", "future"]

LEVELS: tuple[Level, ...] = ("casual", "polite", "formal")

# Whether a stem is irregular cannot be seen from its letters: the classes are closed lists.
_REGULAR_B = frozenset("입잡좁뽑씹접집업꼽")
_IRREGULAR_D = frozenset({"듣", "걷", "싣", "깨닫", "알아듣"})
_IRREGULAR_S = frozenset({"짓", "낫", "붓", "잇"})
_IRREGULAR_H = frozenset("렇떻얗갛랗맣멓")
_REGULAR_REU = frozenset({"따르", "들르", "치르"})
_BRIGHT = "ㅏㅗㅑ"
_MERGING = {"ㅗ": "ㅘ", "ㅜ": "ㅝ", "ㅣ": "ㅕ", "ㅚ": "ㅙ"}
_SWALLOWING = "ㅏㅐㅓㅔㅕㅖ"


@dataclass(frozen=True)
class Predicate:
    """A stem that can take endings; everything said before it in one breath may be part of it.

    ``honorific`` marks a stem in -(으)시-, whose polite form is 세요 and not 셔요; ``tensed`` one in -았/었-,
    after which vowel harmony stops (갔어, never 갔아).
    """

    stem: str
    kind: Kind = "verb"
    honorific: bool = False
    tensed: bool = False

    @property
    def last_word(self) -> str:
        """The stem's last word, by which irregular stems are known."""
        return self.stem.rpartition(" ")[2]


def predicate(dictionary_form: str, kind: Kind = "verb") -> Predicate:
    """Read a dictionary form: 먹다, 맛있다, 공부하다."""
    if not dictionary_form.endswith("다"):
        raise ValueError(f"expected a dictionary form in -다, found {dictionary_form!r}")
    stem = dictionary_form[:-1]
    if stem.endswith(("있", "없")):
        kind = "existence"
    return Predicate(stem, kind)


def copula(noun: str) -> Predicate:
    """The noun as a predicate: 학생이다."""
    return Predicate(noun, "copula")


NOT_BE = Predicate("아니", "adjective")


# The three shapes of a stem.


def _irregularity(p: Predicate) -> str:
    """Name the irregular class of a stem by its letter, or "" for a regular one."""
    word, last = p.last_word, p.stem[-1]
    final = final_of(last)
    if p.tensed:
        return ""
    if final == "ㅂ" and last not in _REGULAR_B:
        return "ㅂ"
    if final == "ㄷ" and word in _IRREGULAR_D:
        return "ㄷ"
    if final == "ㅅ" and word in _IRREGULAR_S:
        return "ㅅ"
    if final == "ㅎ" and last in _IRREGULAR_H:
        return "ㅎ"
    if last == "르" and word not in _REGULAR_REU:
        return "르"
    return ""


@cache
def infinitive(p: Predicate) -> str:
    """Join -아/어 to the stem, contracted as Korean contracts it."""
    if p.kind == "copula":
        return attach(p.stem, "이어/여")
    head, last = p.stem[:-1], p.stem[-1]
    lead, vowel, final = split_syllable(last)
    irregular = _irregularity(p)
    if last == "하":
        return head + "해"
    if irregular == "ㅂ":
        # Only these two keep bright harmony: 도와, 고와; all others take 워.
        return head + join_syllable(lead, vowel) + ("와" if last in "돕곱" else "워")
    if irregular == "ㄷ":
        return head + join_syllable(lead, vowel, "ㄹ") + _harmonic(vowel)
    if irregular == "ㅅ":
        return head + join_syllable(lead, vowel) + _harmonic(vowel)
    if irregular == "ㅎ":
        return head + join_syllable(lead, "ㅒ" if vowel == "ㅑ" else "ㅐ")
    if irregular == "르":
        before = split_syllable(head[-1])[1]
        return with_final(head, "ㄹ") + ("라" if before in _BRIGHT else "러")
    if final:
        return p.stem + ("어" if p.tensed else _harmonic(vowel))
    if vowel == "ㅡ":
        bright = bool(head) and head[-1] != " " and split_syllable(head[-1])[1] in _BRIGHT
        return head + join_syllable(lead, "ㅏ" if bright else "ㅓ")
    if vowel in _SWALLOWING:
        return p.stem
    # 피다 keeps its vowel in careful writing (꽃이 피었다); 아니다 likewise before 어.
    if vowel in _MERGING and p.last_word not in ("피", "아니"):
        return head + join_syllable(lead, _MERGING[vowel])
    return p.stem + "어"


def _harmonic(vowel: str) -> str:
    return "아" if vowel in _BRIGHT else "어"


def _open_base(p: Predicate) -> str:
    """The stem before endings in (으): it ends in a vowel or in ㄹ."""
    if p.kind == "copula":
        return p.stem + "이"
    head, last = p.stem[:-1], p.stem[-1]
    lead, vowel, final = split_syllable(last)
    irregular = _irregularity(p)
    if irregular == "ㅂ":
        return head + join_syllable(lead, vowel) + "우"
    if irregular == "ㄷ":
        return head + join_syllable(lead, vowel, "ㄹ") + "으"
    if irregular == "ㅅ":
        return head + join_syllable(lead, vowel) + "으"
    if irregular == "ㅎ":
        return head + join_syllable(lead, vowel)
    return p.stem if final in ("", "ㄹ") else p.stem + "으"


def _after_open_base(p: Predicate, ending: str) -> str:
    """Join an ending in (으): a lone jamo becomes the final, and ㄹ drops before ㄴ, ㄹ, ㅂ and 시."""
    base = _open_base(p)
    is_jamo = ending[0] in "ㄴㄹㅂ"
    drops = is_jamo or split_syllable(ending[0])[0] in "ㄴㅅ"
    if final_of(base) == "ㄹ" and drops:
        base = with_final(base, "")
    return with_final(base, ending[0]) + ending[1:] if is_jamo else base + ending


def _after_stem(p: Predicate, ending: str) -> str:
    """Join an ending in a consonant to the plain stem; ㄹ drops before ㄴ."""
    stem = p.stem
    if p.kind == "copula":
        stem += "이"
    if final_of(stem) == "ㄹ" and split_syllable(ending[0])[0] == "ㄴ":
        stem = with_final(stem, "")
    return stem + ending


# Predicates made of predicates.


def past(p: Predicate) -> Predicate:
    """-았/었-: 가다 → 갔-. Applied twice it is the remote past, 갔었-."""
    if p.tensed:
        return replace(p, stem=p.stem + "었")
    if p.kind == "copula":
        return Predicate(attach(p.stem, "이었/였"), "adjective", tensed=True)
    kind: Kind = "adjective" if p.kind == "existence" else p.kind
    joined = infinitive(p)
    return Predicate(with_final(joined, "ㅆ"), kind, p.honorific, tensed=True)


_HONORIFIC_WORDS = {"먹": "드시", "마시": "드시", "자": "주무시", "있": "계시", "아프": "편찮으시"}


def honorific(p: Predicate) -> Predicate:
    """-(으)시-, or the word that takes its place (드시다, 주무시다, 계시다)."""
    if p.honorific:
        return p
    word = p.last_word
    if word in _HONORIFIC_WORDS:
        kind: Kind = "adjective" if p.kind == "adjective" else "verb"
        return Predicate(p.stem[: -len(word)] + _HONORIFIC_WORDS[word], kind, honorific=True)
    kind = "verb" if p.kind == "existence" else p.kind
    if p.kind == "copula":
        return Predicate(attach(p.stem, "이시/시"), "adjective", honorific=True)
    return Predicate(_after_open_base(p, "시"), kind, honorific=True)


def respectful(p: Predicate) -> Predicate:
    """The verb where a later one bears -(으)시-: only words with a form of their own change (드시고 싶어 하시다)."""
    return honorific(p) if p.last_word in _HONORIFIC_WORDS else p


def not_short(p: Predicate, adverb: str = "안") -> Predicate:
    """안 or 못 before the predicate; with a noun and 하다 it goes between them: 공부를 안 하다."""
    before, space, word = p.stem.rpartition(" ")
    return replace(p, stem=f"{before}{space}{adverb} {word}")


def not_long(p: Predicate) -> Predicate:
    """-지 않다."""
    return Predicate(_after_stem(p, "지 않"), p.kind)


def unable_long(p: Predicate) -> Predicate:
    """-지 못하다."""
    return Predicate(_after_stem(p, "지 못하"))


def wish(p: Predicate, *, of_another: bool = False) -> Predicate:
    """-고 싶다 for the speaker (and the one asked), -고 싶어 하다 for everybody else."""
    if of_another:
        return Predicate(_after_stem(p, "고 싶어 하"))
    return Predicate(_after_stem(p, "고 싶"), "adjective")


def progressive(p: Predicate, *, honoured: bool = False) -> Predicate:
    """-고 있다, for an honoured subject -고 계시다, which honours once: 돕고 계시다, but 드시고 계시다."""
    if honoured:
        return Predicate(_after_stem(respectful(p), "고 계시"), "verb", honorific=True)
    return Predicate(_after_stem(p, "고 있"), "existence")


def ability(p: Predicate, *, able: bool = True) -> Predicate:
    """-(으)ㄹ 수 있다, -(으)ㄹ 수 없다; the subject is honoured in the verb: 가실 수 있다."""
    return Predicate(_after_open_base(p, "ㄹ 수 " + ("있" if able else "없")), "existence")


def obligation(p: Predicate) -> Predicate:
    """-아/어야 하다."""
    return Predicate(infinitive(p) + "야 하", "verb")


def experience(p: Predicate, *, had: bool = True) -> Predicate:
    """-(으)ㄴ 적이 있다, -(으)ㄴ 적이 없다."""
    return Predicate(adnominal(p, "past") + " 적이 " + ("있" if had else "없"), "existence")


def favour(p: Predicate) -> Predicate:
    """-아/어 주다: done for somebody."""
    return Predicate(infinitive(p) + " 주")


# Endings inside a sentence.


def adnominal(p: Predicate, tense: Tense) -> str:
    """The form before a noun: 산 책, 사는 책, 살 책; adjectives 큰, 있다 and its kin 맛있는."""
    if tense == "future":
        return _after_open_base(p, "ㄹ")
    if p.kind == "existence" or (p.kind == "verb" and tense == "present"):
        return _after_stem(p, "는")
    return _after_open_base(p, "ㄴ")


def and_then(p: Predicate) -> str:
    """-고."""
    return _after_stem(p, "고")


def although(p: Predicate) -> str:
    """-지만."""
    return _after_stem(p, "지만")


def and_so(p: Predicate) -> str:
    """-아/어서, which takes no past of its own; after a noun -(이)라서."""
    return attach(p.stem, "이라서/라서") if p.kind == "copula" else infinitive(p) + "서"


def since(p: Predicate) -> str:
    """-(으)니까."""
    return _after_open_base(p, "니까")


def because_of(p: Predicate) -> str:
    """-기 때문에."""
    return _after_stem(p, "기 때문에")


def provided(p: Predicate) -> str:
    """-(으)면."""
    return _after_open_base(p, "면")


def in_order_to(p: Predicate) -> str:
    """-(으)러, with a verb of motion."""
    return _after_open_base(p, "러")


def doing(p: Predicate) -> str:
    """-는 것: the verb as a noun."""
    return adnominal(p, "present") + " 것"


# Endings that close a sentence.


@cache
def finish(p: Predicate, level: Level, tense: Tense = "present", *, question: bool = False) -> str:
    """Close a statement or question in one of the three speech levels."""
    if tense == "past":
        p = past(p)
    elif tense == "future":
        p = Predicate(_after_open_base(p, "ㄹ 거"), "copula")
    if level == "formal":
        return _formal(p, "까" if question else "다")
    if p.kind == "copula":
        return attach(p.stem, "이야/야" if level == "casual" else "이에요/예요")
    if p.last_word == "아니":
        return p.stem + ("야" if level == "casual" else "에요")
    if p.honorific and not p.tensed and level == "polite":
        return p.stem[:-1] + "세요"
    return infinitive(p) + ("" if level == "casual" else "요")


def _formal(p: Predicate, mood: str) -> str:
    if p.kind == "copula":
        # 갈 거 + 이다 is said 갈 겁니다.
        if p.stem.endswith(" 거"):
            return with_final(p.stem[:-1] + "거", "ㅂ") + "니" + mood
        return p.stem + "입니" + mood
    final = final_of(p.stem)
    if final in ("", "ㄹ"):
        return with_final(p.stem, "ㅂ") + "니" + mood
    return p.stem + "습니" + mood


def observed(p: Predicate, level: Level) -> str:
    """-더라: what the speaker saw for himself; -더라고요 politely, -더군요 formally."""
    return _after_stem(p, {"casual": "더라", "polite": "더라고요", "formal": "더군요"}[level])


def promise(p: Predicate, level: Level) -> str:
    """-(으)ㄹ게: what the speaker undertakes to do; -겠습니다 formally."""
    if level == "formal":
        return _after_stem(p, "겠습니다")
    return _after_open_base(p, "ㄹ게") + ("" if level == "casual" else "요")


def suggest(p: Predicate, level: Level) -> str:
    """-자, -아요 among the polite is too bare: -(으)ㅂ시다 serves formally."""
    return _after_stem(p, "자") if level == "casual" else _after_open_base(p, "ㅂ시다")


def propose(p: Predicate, level: Level) -> str:
    """-(으)ㄹ까(요), asking whether we shall."""
    return _after_open_base(p, "ㄹ까") + ("" if level == "casual" else "요")


def command(p: Predicate, level: Level) -> str:
    """-(으)세요, -(으)십시오: an instruction in courtesy; its casual sister is a request in 줘."""
    polite = honorific(p)
    if level == "casual":
        return infinitive(favour(p))
    return polite.stem[:-1] + ("세요" if level == "polite" else "십시오")


def forbid(p: Predicate, level: Level) -> str:
    """-지 마."""
    return _after_stem(p, "지 " + {"casual": "마", "polite": "마세요", "formal": "마십시오"}[level])
