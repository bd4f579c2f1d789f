"""Hangul syllables taken apart and put together, and particles chosen by the last consonant."""

LEADS = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ"
VOWELS = "ㅏㅐㅑㅒㅓㅔㅕㅖㅗㅘㅙㅚㅛㅜㅝㅞㅟㅠㅡㅢㅣ"
# The first final is "no final": an open syllable such as 가.
FINALS = ["", *"ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ"]

_FIRST_SYLLABLE = ord("가")
_LAST_SYLLABLE = ord("힣")


def is_syllable(character: str) -> bool:
    """Say whether a character is one whole Hangul syllable."""
    return len(character) == 1 and _FIRST_SYLLABLE <= ord(character) <= _LAST_SYLLABLE


def split_syllable(syllable: str) -> tuple[str, str, str]:
    """Take a syllable apart into lead, vowel and final ("" where there is none)."""
    if not is_syllable(syllable):
        raise ValueError(f"expected one Hangul syllable, found {syllable!r}")
    rest, final = divmod(ord(syllable) - _FIRST_SYLLABLE, len(FINALS))
    lead, vowel = divmod(rest, len(VOWELS))
    return LEADS[lead], VOWELS[vowel], FINALS[final]


def join_syllable(lead: str, vowel: str, final: str = "") -> str:
    """Put lead, vowel and final together into one syllable."""
    lead_and_vowel = LEADS.index(lead) * len(VOWELS) + VOWELS.index(vowel)
    return chr(_FIRST_SYLLABLE + lead_and_vowel * len(FINALS) + FINALS.index(final))


def final_of(word: str) -> str:
    """Return the final consonant of a word's last syllable, "" where it is open."""
    return split_syllable(word[-1])[2]


def with_final(word: str, final: str) -> str:
    """Replace the final consonant of a word's last syllable ("" opens it)."""
    lead, vowel, _ = split_syllable(word[-1])
    return word[:-1] + join_syllable(lead, vowel, final)


def attach(word: str, particle: str) -> str:
    """Attach a particle; one written as a pair, such as 은/는, is chosen by the final consonant.

    The form after a consonant stands before the slash. 으로/로 treats ㄹ as open: 서울로, 지하철로.
    """
    if "/" not in particle:
        return word + particle
    after_consonant, after_vowel = particle.split("/")
    final = final_of(word)
    is_open = final == "" or (final == "ㄹ" and after_consonant == "으로")
    return word + (after_vowel if is_open else after_consonant)
