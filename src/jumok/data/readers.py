"""Sentence pairs from files: two aligned text files, or TSV; plain or .gz; and the embedded corpus.

A line ends at a line feed and nowhere else. A byte order mark and carriage returns are accepted and dropped.
Whatever cannot be read is refused with the file, the line, and what to do.
"""

from __future__ import annotations

import contextlib
import gzip
import itertools
import zlib
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from pathlib import Path
from typing import BinaryIO, cast

from jumok.data import phrasebook
from jumok.errors import DataError

Pair = tuple[str, str]
PHRASEBOOK = "phrasebook:"
_LINES_AT_A_TIME = 1024  # decoded together, which is several times faster than one by one


def read_pairs(files: str | list[str], source: str, target: str, folder: str = ".") -> Iterator[Pair]:
    """The pairs of one split, (source, target), in the order of the file."""
    if isinstance(files, str) and files.startswith(PHRASEBOOK):
        yield from _phrasebook_pairs(files.removeprefix(PHRASEBOOK), source, target)
        return
    paths = resolve(files, folder)
    for path in paths:
        if next(read_lines(path), None) is None:
            raise DataError(f"{path}: is empty; expected a sentence a line")
    if len(paths) == 1:
        yield from _read_tsv(paths[0])
    else:
        yield from _read_aligned(*paths)


def resolve(files: str | list[str], folder: str = ".") -> list[Path]:
    """The files behind an entry of [data]; none for the embedded corpus."""
    if isinstance(files, str) and files.startswith(PHRASEBOOK):
        return []
    names = [files] if isinstance(files, str) else files
    if len(names) not in (1, 2):
        raise DataError(f"{names}: expected one TSV file or two aligned text files, found {len(names)} names")
    paths = [Path(folder).expanduser() / Path(name).expanduser() for name in names]
    for path in paths:
        if not path.exists():
            raise DataError(f"{path}: no such file (looked from {Path.cwd()}); set data.folder to where it is")
        if path.is_dir():
            raise DataError(f"{path}: is a directory; give the files in it")
    return paths


def read_lines(path: Path) -> Iterator[str]:
    """The lines of a UTF-8 file, plain or .gz, without line ends."""
    with _opened(path) as raw:
        stream = gzip.GzipFile(fileobj=raw) if path.suffix == ".gz" else raw
        number = 0
        lines: list[bytes] = []
        try:
            while True:
                lines.extend(itertools.islice(cast(BinaryIO, stream), _LINES_AT_A_TIME))
                if not lines:
                    break
                yield from _decode_lines(lines, path, number + 1)
                number += len(lines)
                lines.clear()
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            number += len(lines)  # what came before the damage
            raise DataError(f"{path}: after line {number}: not a complete .gz file ({error}); copy it again") from None
        except OSError as error:
            number += len(lines)
            raise DataError(f"{path}: after line {number}: cannot be read: {error.strerror}") from None


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None


def _decode_lines(lines: list[bytes], path: Path, first_number: int) -> Iterable[str]:
    """The texts of lines: all at once, or one by one where there is something to drop or to refuse."""
    joined = b"".join(lines)
    if first_number > 1 and b"\0" not in joined and b"\r" not in joined:
        with contextlib.suppress(UnicodeDecodeError):
            return joined.removesuffix(b"\n").decode("utf-8").split("\n")
    return (decode_line(line, path, number) for number, line in enumerate(lines, start=first_number))


def decode_line(line: bytes, path: Path | str, number: int) -> str:
    """The text of a line without its end, and without the byte order mark of a first line."""
    if number == 1:
        line = line.removeprefix(b"\xef\xbb\xbf")
    if b"\0" in line:
        advice = "is it UTF-16? " if line.startswith((b"\xff\xfe", b"\xfe\xff")) or line.count(b"\0") > 1 else ""
        raise DataError(f"{path}: line {number}: holds a NUL byte; {advice}save the file as UTF-8 text")
    try:
        return line.rstrip(b"\n").removesuffix(b"\r").decode("utf-8")
    except UnicodeDecodeError as error:
        is_utf16 = number == 1 and line.startswith((b"\xff\xfe", b"\xfe\xff"))
        advice = "is it UTF-16? save the file as UTF-8 text" if is_utf16 else "convert the file, for example with iconv"
        raise DataError(
            f"{path}: line {number}: not UTF-8 (byte 0x{line[error.start]:02x} at column {error.start + 1}); {advice}"
        ) from None


def _read_aligned(src_path: Path, tgt_path: Path) -> Iterator[Pair]:
    src_lines, tgt_lines = read_lines(src_path), read_lines(tgt_path)
    for number, (src, tgt) in enumerate(zip_longest(src_lines, tgt_lines), start=1):
        if src is None or tgt is None:
            num_src = number + sum(1 for _ in src_lines) if tgt is None else number - 1
            num_tgt = number + sum(1 for _ in tgt_lines) if src is None else number - 1
            raise DataError(
                f"{src_path} has {num_src:,} lines and {tgt_path} has {num_tgt:,}; line n of one must translate "
                "line n of the other, so they need equally many"
            )
        yield src, tgt


def _read_tsv(path: Path) -> Iterator[Pair]:
    for number, line in enumerate(read_lines(path), start=1):
        columns = line.split("\t")
        if len(columns) != 2:
            raise DataError(f"{path}: line {number}: expected source, a tab and target, found {len(columns)} column(s)")
        yield columns[0], columns[1]


def _phrasebook_pairs(split: str, source: str, target: str) -> Iterator[Pair]:
    if {source, target} != {"ko", "en"}:
        raise DataError(f"the phrasebook is Korean and English; data.source = {source}, data.target = {target}")
    if split not in ("train", "valid", "test", "composition"):
        raise DataError(f"{PHRASEBOOK}{split}: the phrasebook has train, valid, test and composition")
    for korean, english in phrasebook.split(split):
        yield (korean, english) if source == "ko" else (english, korean)
