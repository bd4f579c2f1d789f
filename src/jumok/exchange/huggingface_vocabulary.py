"""Marian's vocabulary in our order of ids: source.spm and target.spm cut, vocab.json numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from jumok.errors import DataError
from jumok.exchange.huggingface_folder import read_json
from jumok.exchange.sentencepiece_files import SPECIAL_PIECES, SentencePieceFile
from jumok.text.tokenizer import BOS_ID

LANGUAGE_CODE = re.compile(r">>.+<<")  # stands before a text and names the language to translate into


@dataclass(frozen=True)
class Vocabulary:
    """Our ids: what piece each is, and which row of their tables stands behind it."""

    names: list[str]
    rows: list[int]
    never_said: list[int]  # ids that have no row of their own
    hidden: set[str]  # names that are not text

    @property
    def language_codes(self) -> set[str]:
        """Pieces that are one, whatever SentencePiece would cut them into."""
        return {name for name in self.names if LANGUAGE_CODE.fullmatch(name.removeprefix("▁"))}


@dataclass(frozen=True)
class Vocabularies:
    """Those of both sides, and our SentencePiece files for them."""

    src: Vocabulary
    tgt: Vocabulary
    files: dict[str, bytes]
    kind: Literal["bpe", "unigram"]
    are_one: bool


def read_vocabularies(folder: Path, settings: dict[str, Any], num_said_rows: int | None) -> Vocabularies:
    """Read the tokenizer's files; `settings` are those of config.json, which know pad, begin and end of the target."""
    src_file, tgt_file = SentencePieceFile(folder / "source.spm"), SentencePieceFile(folder / "target.spm")
    src_ids = _read_ids(folder / "vocab.json")
    has_two = (folder / "target_vocab.json").exists()
    tgt_ids = _read_ids(folder / "target_vocab.json") if has_two else src_ids
    tgt_special = [
        settings["pad_token_id"],
        _unknown(tgt_ids, folder),
        settings["decoder_start_token_id"],
        settings["eos_token_id"],
    ]
    if has_two:
        pad = src_ids["<pad>"]
        src_special = [pad, _unknown(src_ids, folder), src_ids.get("<s>", pad), src_ids["</s>"]]
        src = _vocabulary(src_ids, src_special, src_file.pieces(), None)
        tgt = _vocabulary(tgt_ids, tgt_special, tgt_file.pieces(), num_said_rows)
    else:
        src = tgt = _vocabulary(tgt_ids, tgt_special, [*src_file.pieces(), *tgt_file.pieces()], num_said_rows)
    of_src = src_file.reordered(src.names, src.language_codes, src.hidden)
    of_tgt = tgt_file.reordered(tgt.names, set(), tgt.hidden)
    files = {"tokenizer.model": of_src} if of_src == of_tgt else {"source.model": of_src, "target.model": of_tgt}
    return Vocabularies(src, tgt, files, src_file.kind, are_one=not has_two)


def _vocabulary(ids: dict[str, int], special: list[int], cut_pieces: Sequence[str], num_rows: int | None) -> Vocabulary:
    """Padding, unknown, begin and end first, then the others as they were, then what is cut but has no row.

    `special` are the rows of those four. Begin is often another one's row, Marian's is that of padding: then it gets
    a copy, which is never said, so that its probability is not counted twice.
    """
    piece_of = {row: piece for piece, row in ids.items()}
    rows = list(special)
    rows += [row for row in range(max(num_rows or 0, max(ids.values()) + 1)) if row not in special]
    names, hidden = list(SPECIAL_PIECES), set[str]()
    taken = set(names)
    for row in rows[len(names) :]:
        name = piece_of.get(row, "")
        if LANGUAGE_CODE.fullmatch(name):
            name = f"▁{name}"  # as SentencePiece sees it at the beginning of a text
        if not name or name in taken:
            name = f"<row-{row}>"
            hidden.add(name)
        names.append(name)
        taken.add(name)
    pad, unknown, begin, end = special
    never_said = [BOS_ID] if begin in (pad, unknown, end) else []
    for piece in cut_pieces:
        if piece not in taken:
            never_said.append(len(names))
            names.append(piece)
            rows.append(unknown)
            taken.add(piece)
    return Vocabulary(names, rows, never_said, hidden)


def _read_ids(path: Path) -> dict[str, int]:
    ids = read_json(path, "a Marian model has its pieces and their ids there")
    if not ids or not all(isinstance(i, int) and i >= 0 for i in ids.values()):
        raise DataError(f"{path}: expected a JSON object of pieces and their ids")
    return ids


def _unknown(ids: dict[str, int], folder: Path) -> int:
    if "<unk>" not in ids:
        raise DataError(f"{folder}: its vocabulary has no <unk>")
    return ids["<unk>"]
