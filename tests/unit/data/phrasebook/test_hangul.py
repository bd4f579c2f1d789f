"""Syllables and particles."""

import pytest

from jumok.data.phrasebook.hangul import attach, final_of, join_syllable, split_syllable, with_final


def test_every_syllable_comes_apart_and_together() -> None:
    for code in range(ord("가"), ord("힣") + 1):
        assert join_syllable(*split_syllable(chr(code))) == chr(code)


def test_finals() -> None:
    assert (final_of("학생"), final_of("의사"), final_of("값")) == ("ㅇ", "", "ㅄ")
    assert (with_final("가", "ㅆ"), with_final("만들", "")) == ("갔", "만드")


@pytest.mark.parametrize(
    ("word", "particle", "expected"),
    [
        ("책", "은/는", "책은"),
        ("사과", "은/는", "사과는"),
        ("형", "이/가", "형이"),
        ("누나", "이/가", "누나가"),
        ("밥", "을/를", "밥을"),
        ("차", "을/를", "차를"),
        ("남동생", "과/와", "남동생과"),
        ("친구", "과/와", "친구와"),
        ("집", "으로/로", "집으로"),
        ("학교", "으로/로", "학교로"),
        ("서울", "으로/로", "서울로"),
        ("귤", "이나/나", "귤이나"),
        ("커피", "이나/나", "커피나"),
        ("학생", "이에요/예요", "학생이에요"),
        ("의사", "이에요/예요", "의사예요"),
        ("학교", "에서", "학교에서"),
    ],
)
def test_particles(word: str, particle: str, expected: str) -> None:
    assert attach(word, particle) == expected


def test_only_syllables_come_apart() -> None:
    with pytest.raises(ValueError, match="one Hangul syllable, found 'a'"):
        split_syllable("a")
