"""Files as people have them: every one is read right or refused with file, line and advice."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

from jumok.data.readers import read_lines, read_pairs, resolve
from jumok.errors import DataError


@pytest.fixture(autouse=True)
def in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(name: str, data: bytes | str) -> str:
    Path(name).write_bytes(data.encode() if isinstance(data, str) else data)
    return name


def pairs(files: str | list[str], folder: str = ".") -> list[tuple[str, str]]:
    return list(read_pairs(files, "ko", "en", folder))


def message(text: str) -> str:
    return f"^{re.escape(text)}$"


# --- what is accepted ---


def test_two_aligned_files() -> None:
    assert pairs([write("a.ko", "하나\n둘\n"), write("a.en", "one\ntwo\n")]) == [("하나", "one"), ("둘", "two")]


def test_tsv() -> None:
    assert pairs(write("a.tsv", "하나\tone\n둘\ttwo\n")) == [("하나", "one"), ("둘", "two")]


def test_tsv_named_in_a_list_of_one() -> None:
    assert pairs([write("a.tsv", "하나\tone\n")]) == [("하나", "one")]


def test_gz_files() -> None:
    write("a.ko.gz", gzip.compress("하나\n둘\n".encode()))
    write("a.en", "one\ntwo\n")
    assert pairs(["a.ko.gz", "a.en"]) == [("하나", "one"), ("둘", "two")]
    write("a.tsv.gz", gzip.compress("하나\tone\n".encode()))
    assert pairs("a.tsv.gz") == [("하나", "one")]


def test_byte_order_mark_is_dropped_from_the_first_line_only() -> None:
    assert list(read_lines(Path(write("a", "\ufeff하나\n\ufeff둘\n")))) == ["하나", "\ufeff둘"]


def test_carriage_returns_at_the_ends_are_dropped() -> None:
    assert list(read_lines(Path(write("a", "\ufeffone\r\n\r\ntwo\r\n")))) == ["one", "", "two"]


def test_last_line_without_line_feed_counts() -> None:
    assert list(read_lines(Path(write("a", "one\ntwo")))) == ["one", "two"]


def test_blank_lines_are_lines() -> None:
    assert list(read_lines(Path(write("a", "\none\n\n\n")))) == ["", "one", "", ""]


@pytest.mark.parametrize("inner", ["\u2028", "\u2029", "\x85", "\v", "\f", "\x1c", "\r"])
def test_only_a_line_feed_ends_a_line(inner: str) -> None:
    assert list(read_lines(Path(write("a", f"one{inner}two\nthree\n")))) == [f"one{inner}two", "three"]


def test_line_of_100_000_characters_is_read_whole() -> None:
    assert list(read_lines(Path(write("a", "가" * 100_000 + "\nb\n")))) == ["가" * 100_000, "b"]


def test_relative_names_start_at_data_folder() -> None:
    Path("deep").mkdir()
    write("deep/a.tsv", "하나\tone\n")
    assert pairs("a.tsv", folder="deep") == [("하나", "one")]


def test_tsv_side_may_be_empty() -> None:
    assert pairs(write("a.tsv", "\tone\n둘\t\n")) == [("", "one"), ("둘", "")]


# --- what is refused ---


def test_unequal_lengths_name_both_counts() -> None:
    short, long = write("a.ko", "1\n2\n"), write("a.en", "1\n2\n3\n4\n5\n")
    advice = "line n of one must translate line n of the other, so they need equally many"
    with pytest.raises(DataError, match=message(f"a.ko has 2 lines and a.en has 5; {advice}")):
        pairs([short, long])
    with pytest.raises(DataError, match=message(f"a.en has 5 lines and a.ko has 2; {advice}")):
        pairs([long, short])


def test_missing_file_is_named_with_where_it_was_looked_for(tmp_path: Path) -> None:
    expected = f"sub/nope.tsv: no such file (looked from {tmp_path}); set data.folder to where it is"
    with pytest.raises(DataError, match=message(expected)):
        pairs("nope.tsv", folder="sub")


def test_directory_is_refused() -> None:
    Path("folder").mkdir()
    with pytest.raises(DataError, match=message("folder: is a directory; give the files in it")):
        pairs("folder")


@pytest.mark.parametrize("count", [0, 3])
def test_neither_one_nor_two_names(count: int) -> None:
    names = [f"{i}.txt" for i in range(count)]
    with pytest.raises(
        DataError, match=message(f"{names}: expected one TSV file or two aligned text files, found {count} names")
    ):
        resolve(names)


def test_empty_file_is_refused() -> None:
    for name, data in (("a.tsv", b""), ("b.tsv.gz", b""), ("c.tsv.gz", gzip.compress(b""))):
        with pytest.raises(DataError, match=message(f"{name}: is empty; expected a sentence a line")):
            pairs(write(name, data))


def test_empty_side_of_two_files_is_named() -> None:
    with pytest.raises(DataError, match=message("a.en: is empty; expected a sentence a line")):
        pairs([write("a.ko", "1\n"), write("a.en", "")])


def test_not_utf8_names_line_and_column() -> None:
    write("a.txt", "하나\n".encode() + b"gut, gr\xfc\xdfe\n")
    expected = "a.txt: line 2: not UTF-8 (byte 0xfc at column 8); convert the file, for example with iconv"
    with pytest.raises(DataError, match=message(expected)):
        list(read_lines(Path("a.txt")))


def test_korean_in_cp949_is_refused() -> None:
    write("a.txt", "어제 카페에\n".encode("cp949"))
    expected = "a.txt: line 1: not UTF-8 (byte 0xbe at column 1); convert the file, for example with iconv"
    with pytest.raises(DataError, match=message(expected)):
        list(read_lines(Path("a.txt")))


def test_nul_byte_names_the_line() -> None:
    with pytest.raises(DataError, match=message("a.txt: line 3: holds a NUL byte; save the file as UTF-8 text")):
        list(read_lines(Path(write("a.txt", b"one\ntwo\nth\0ree\n"))))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_recognised(encoding: str) -> None:
    with pytest.raises(
        DataError, match=message("a.txt: line 1: holds a NUL byte; is it UTF-16? save the file as UTF-8 text")
    ):
        list(read_lines(Path(write("a.txt", "one\ntwo\n".encode(encoding)))))


def test_korean_in_utf_16_is_recognised_though_its_first_line_has_no_nul() -> None:
    expected = "a.txt: line 1: not UTF-8 (byte 0xff at column 1); is it UTF-16? save the file as UTF-8 text"
    with pytest.raises(DataError, match=message(expected)):
        list(read_lines(Path(write("a.txt", "어제카페에\n".encode("utf-16")))))


def test_truncated_gz_is_refused_with_the_line_before() -> None:
    whole = gzip.compress("".join(f"line {i} {i * 7919 % 1000}\n" for i in range(5000)).encode())
    write("a.tsv.gz", whole[: len(whole) // 2])
    with pytest.raises(
        DataError,
        match=r"^a\.tsv\.gz: after line \d+: not a complete \.gz file "
        r"\(Compressed file ended before the end-of-stream marker was reached\); copy it again$",
    ):
        list(read_lines(Path("a.tsv.gz")))


def test_damaged_gz_is_refused() -> None:
    data = bytearray(gzip.compress(b"one\n" * 1000))
    data[-6] ^= 0xFF  # the checksum
    with pytest.raises(DataError, match=r"^a\.gz: after line 1000: not a complete \.gz file \(CRC check failed .*\)"):
        list(read_lines(Path(write("a.gz", bytes(data)))))


def test_plain_text_called_gz_is_refused() -> None:
    expected = "a.gz: after line 0: not a complete .gz file (Not a gzipped file (b'on')); copy it again"
    with pytest.raises(DataError, match=message(expected)):
        list(read_lines(Path(write("a.gz", "one\n"))))


@pytest.mark.parametrize(("line", "count"), [("하나 one", 1), ("하나\tone\t3", 3), ("", 1)])
def test_tsv_with_another_number_of_columns_names_the_line(line: str, count: int) -> None:
    with pytest.raises(
        DataError,
        match=message(f"a.tsv: line 2: expected source, a tab and target, found {count} column(s)"),
    ):
        pairs(write("a.tsv", f"하나\tone\n{line}\n"))


def test_unreadable_file_is_named_not_a_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path, *args: object, **options: object) -> None:
        raise PermissionError(13, "Permission denied")

    path = Path(write("a.txt", "one\n"))
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(DataError, match=message("a.txt: cannot be read: Permission denied")):
        list(read_lines(path))


def test_phrasebook_of_another_language_is_refused() -> None:
    expected = "the phrasebook is Korean and English; data.source = ko, data.target = de"
    with pytest.raises(DataError, match=message(expected)):
        list(read_pairs("phrasebook:train", "ko", "de"))


def test_unknown_phrasebook_split_is_refused() -> None:
    expected = "phrasebook:dev: the phrasebook has train, valid, test and composition"
    with pytest.raises(DataError, match=message(expected)):
        list(read_pairs("phrasebook:dev", "ko", "en"))


def test_phrasebook_can_be_read_in_both_directions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jumok.data.phrasebook.split", lambda name: [(f"{name} 하나", "one")])
    assert list(read_pairs("phrasebook:valid", "ko", "en")) == [("valid 하나", "one")]
    assert list(read_pairs("phrasebook:valid", "en", "ko")) == [("one", "valid 하나")]
