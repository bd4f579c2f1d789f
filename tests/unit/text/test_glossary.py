from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from jumok.decoding.terms import Terms
from jumok.errors import DataError
from jumok.text.glossary import Entry, Glossary, term_ids
from jumok.text.tokenizer import Tokenizer, train_tokenizer


def _glossary(source_language: str, **terms: str) -> Glossary:
    return Glossary([Entry(source, target) for source, target in terms.items()], source_language)


def _read(tmp_path: Path, content: str | bytes) -> Glossary:
    path = tmp_path / "terms.tsv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return Glossary.read(path, "en")


# --- reading ------------------------------------------------------------------------------------------------------


def test_a_file_is_read_past_mark_comments_blank_lines_and_carriage_returns(tmp_path):
    glossary = _read(tmp_path, "\ufeff# terms\r\ncat\tKater\r\n\r\n  \t \n hot  dog \tWürstchen \ncat\tKater")
    assert len(glossary) == 2
    assert glossary.find("a cat and a hot dog") == ["Kater", "Würstchen"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a\tb\ncat Kater\n", r"terms.tsv:2: expected two columns, a source term, a tab and a target term; found 1"),
        ("cat\tKater\tm\n", r"terms.tsv:1: expected two columns, .*; found 3"),
        ("\n# x\n\tKater\n", r"terms.tsv:3: the source term is empty; write it or delete the line"),
        ("cat\t \n", r"terms.tsv:1: the target term is empty; write it or delete the line"),
        (b"a\tb\ncaf\xe9\tc\n", r"terms.tsv:2: is not UTF-8; save the glossary as UTF-8"),
        ("", r"terms.tsv: has no terms; expected lines of a source term, a tab and a target term"),
        ("# only this\n", r"terms.tsv: has no terms"),
        (
            "cat\tKatze\ndog\tHund\nCat\tKater\n",
            r"terms.tsv:3: 'Cat' is to become 'Kater', but by line 1 it is to become 'Katze'; keep one of them",
        ),
    ],
)
def test_what_is_wrong_with_a_file_is_said_with_its_line(tmp_path, content, message):
    with pytest.raises(DataError, match=message):
        _read(tmp_path, content)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(DataError, match=r"nowhere.tsv: cannot be read: No such file or directory; expected a glossary"):
        Glossary.read(tmp_path / "nowhere.tsv", "en")
    with pytest.raises(DataError, match=r"cannot be read: Is a directory"):
        Glossary.read(tmp_path, "en")


# --- finding ------------------------------------------------------------------------------------------------------


def test_a_term_is_found_as_often_as_it_occurs_in_the_order_of_the_text():
    glossary = _glossary("en", cat="Kater", dog="Rüde")
    assert glossary.find("A dog, a cat; the dog!") == ["Rüde", "Kater", "Rüde"]
    assert glossary.find("") == glossary.find("a bird") == []


def test_a_term_is_whole_words():
    glossary = _glossary("en", cat="Kater")
    assert glossary.find("concatenate cats category bobcat") == []
    assert glossary.find("(cat) cat's 'cat' cat-like") == ["Kater"] * 4


def test_a_vowel_sign_belongs_to_its_word():
    assert _glossary("hi", कम="less").find("कमी कम") == ["less"]


def test_the_longest_term_wins_and_none_overlap():
    glossary = _glossary("en", **{"new york": "A", "new york city": "B", "york city hall": "C"})
    assert glossary.find("new york city hall") == ["B"]
    assert glossary.find("new york, york city hall") == ["A", "C"]


def test_capitals_matter_where_one_stands_behind_the_first_letter():
    glossary = _glossary("en", Cafe="Café", NATO="OTAN", iPhone="Telefon", nato="geboren")
    assert glossary.find("cafe CAFE Cafe") == ["Café"] * 3
    assert glossary.find("NATO nato Nato") == ["OTAN", "geboren", "geboren"]
    assert glossary.find("iPhone iphone") == ["Telefon"]


def test_a_korean_noun_carries_its_particles():
    glossary = _glossary("ko", 카페="cafe", IT="IT")
    assert glossary.find("어제 카페에서 카페를 봤어요.") == ["cafe", "cafe"]
    assert glossary.find("북카페에 갔어요.") == []
    assert glossary.find("IT는 ITEM이 아니에요.") == ["IT"]
    assert _glossary("ko", 카페="cafe", 카페인="caffeine").find("카페인이 카페에") == ["caffeine", "cafe"]


def test_hangul_is_found_however_it_was_typed():
    assert _glossary("ko", 카페="cafe").find(unicodedata.normalize("NFD", "카페에")) == ["cafe"]


def test_without_spaces_a_term_is_found_anywhere():
    assert _glossary("ja", 猫="cat").find("黒猫は猫だ。") == ["cat", "cat"]
    assert _glossary("zh-CN", 北京="Peking", AI="KI").find("我在北京做AI研究，不是MAIN。") == ["Peking", "KI"]


def test_other_white_space_is_white_space():
    assert _glossary("en", **{"hot dog": "Würstchen"}).find("a hot \u00a0 dog") == ["Würstchen"]


# --- pieces -------------------------------------------------------------------------------------------------------

ENGLISH = ["the cafe", "a cafeteria", "cafes, cafe's", "(cafe)", "she went to the cafe 24 times!"]
KOREAN = ["카페에 갔어요.", "카페는 좋아요.", "카페를 봤어요!"]
JAPANESE = [f"{a}{b}{c}" for a in ("黒猫", "犬", "私の猫") for b in ("は", "が") for c in ("家にいる。", "猫を見た。")]


def _tokenizer(folder: Path, lines: list[str], kind: str = "bpe", vocab_size: int = 300) -> Tokenizer:
    train_tokenizer(lines, folder / "tokenizer.model", kind, vocab_size, 1.0)
    return Tokenizer(folder / "tokenizer.model")


def test_with_spaces_a_term_is_whole_words(tmp_path):
    tokenizer = _tokenizer(tmp_path, ENGLISH)
    term = term_ids(tokenizer, "cafe", "en")
    (spelling,) = term.spellings
    assert tokenizer.id_to_piece(spelling)[0].startswith("▁")

    def holds(behind: str) -> bool:
        pieces = [tokenizer._processor.piece_to_id(piece) for piece in behind]
        assert 1 not in pieces, behind
        return Terms((term,)).are_in([*spelling, *pieces])

    assert holds("") and holds("▁") and holds(",") and holds("'") and holds(")") and holds("!")
    assert not holds("s") and not holds("t") and not holds("2")
    for byte in ("<0xC3>", "<0x41>"):
        assert tokenizer._processor.piece_to_id(byte) in term.not_before


def test_a_korean_noun_may_carry_its_particles(tmp_path):
    tokenizer = _tokenizer(tmp_path, KOREAN, vocab_size=285)
    term = term_ids(tokenizer, "카페", "ko")
    assert len(term.spellings) == 1
    assert Terms((term,)).are_in([*term.spellings[0], tokenizer._processor.piece_to_id("에")])


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_without_spaces_a_term_is_spelled_with_and_without_one_before_it(tmp_path, kind):
    tokenizer = _tokenizer(tmp_path, JAPANESE, kind, 280)
    for term in ("黒猫", "猫", "家にいる", "象"):  # the last is spelled in bytes
        spellings = term_ids(tokenizer, term, "ja").spellings
        texts = ["".join(tokenizer.id_to_piece(spelling)) for spelling in spellings]
        assert [text.startswith("▁") for text in texts] == [True, False]
        assert tokenizer.decode(spellings) == [term, term]
    black, cat = (term_ids(tokenizer, term, "ja") for term in ("黒猫", "猫"))
    said = [*tokenizer.encode(["犬が"])[0], *black.spellings[1], *cat.spellings[1]]
    assert Terms((black,)).are_in(said)
    assert tokenizer.decode([said]) == ["犬が黒猫猫"]


def test_terms_know_the_pieces_of_the_source_that_they_stand_for(tokenizer):
    glossary = _glossary("ko", 카페="cafe", 뷁="bang")
    text = "저는  카페에 뷁 갔어요. 카페"
    pieces = tokenizer.pieces(text)
    terms = glossary.terms(text, tokenizer, tokenizer, "en")
    targets = ("cafe", "bang", "cafe")
    assert [term.spellings for term in terms] == [term_ids(tokenizer, t, "en").spellings for t in targets]
    texts = ["".join(pieces[place] for place in term.at) for term in terms]
    assert "카페" in texts[0] and "카페" in texts[2] and terms[0].at != terms[2].at
    assert texts[1].endswith("<0xEB><0xB7><0x81>")
    assert all(term.at == tuple(range(term.at[0], term.at[-1] + 1)) for term in terms)
    assert glossary.terms("저는 갔어요.", tokenizer, tokenizer, "en") == ()
