"""The corpus as subwords, made once, so that every system reads the same pieces.

A folder of three text files: `train.src` and `train.tgt`, a sentence a line with its pieces separated by
spaces, and `vocab.txt`, a piece a line in the order of its id, the four special ones first.
"""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

VOCAB_SIZE = 8000
SPECIAL = ["<pad>", "<unk>", "<s>", "</s>"]
PAD, UNK, BOS, EOS = range(4)


def prepare(src: Path, tgt: Path, under: Path) -> Path:
    """Learn a joint BPE on both sides and write both as its pieces, unless that was done before."""
    folder = under / hashlib.sha256(src.read_bytes() + tgt.read_bytes()).hexdigest()[:12]
    if folder.exists():
        return folder
    import sentencepiece

    making = folder.with_name(folder.name + ".making")
    shutil.rmtree(making, ignore_errors=True)
    making.mkdir(parents=True)
    sentencepiece.SentencePieceTrainer.train(
        input=[str(src), str(tgt)],
        model_prefix=str(making / "bpe"),
        model_type="bpe",
        vocab_size=VOCAB_SIZE,
        character_coverage=1.0,
        pad_id=PAD,
        unk_id=UNK,
        bos_id=BOS,
        eos_id=EOS,
        minloglevel=2,
    )
    model = sentencepiece.SentencePieceProcessor(model_file=str(making / "bpe.model"))
    sides = [model.encode(path.read_text("utf-8").splitlines(), out_type=str) for path in (src, tgt)]
    pairs = [(s, t) for s, t in zip(*sides, strict=True) if s and t]
    for name, side in (("train.src", 0), ("train.tgt", 1)):
        (making / name).write_text("".join(" ".join(pair[side]) + "\n" for pair in pairs), "utf-8")
    vocab = [model.id_to_piece(i) for i in range(model.get_piece_size())]
    assert vocab[: len(SPECIAL)] == SPECIAL
    (making / "vocab.txt").write_text("\n".join(vocab) + "\n", "utf-8")
    making.rename(folder)
    return folder


def read_vocab(folder: Path) -> list[str]:
    """The pieces in the order of their ids."""
    return (folder / "vocab.txt").read_text("utf-8").split("\n")[:-1]


def read_pieces(folder: Path, side: str) -> list[list[str]]:
    """The sentences of one side, `src` or `tgt`, as pieces."""
    # Not splitlines: a rare piece is itself a character that Python takes for the end of a line.
    return [line.split(" ") for line in (folder / f"train.{side}").read_text("utf-8").split("\n")[:-1]]


def read_ids(folder: Path, side: str) -> list[list[int]]:
    """The same as ids, each sentence closed by EOS."""
    ids = {piece: i for i, piece in enumerate(read_vocab(folder))}
    return [[*(ids.get(piece, UNK) for piece in pieces), EOS] for pieces in read_pieces(folder, side)]
