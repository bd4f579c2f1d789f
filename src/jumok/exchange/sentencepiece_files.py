"""SentencePiece models whose ids are put into another order: the same pieces, scores and normalisation.

A model of Marian's kind has two SentencePiece files that only cut, and a list of ids beside them. Ours has the ids in
the SentencePiece file, beginning with padding, unknown, begin and end. So each file is written anew around the list: a
piece of the list that the file does not know is marked as unused, which means that it can be read but is never cut.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from jumok.errors import DataError
from jumok.text.tokenizer import BOS_ID, EOS_ID, PAD_ID, UNK_ID

SPECIAL_PIECES = ["<pad>", "<unk>", "<s>", "</s>"]  # by our ids


class SentencePieceFile:
    """A SentencePiece model as data.

    Differs: with BPE a piece that is never cut can still be a step on the way to a longer one. It comes last of all, so
    that a text which is cut differently is rare; with unigram models there is none.
    """

    def __init__(self, path: Path) -> None:
        from google.protobuf.message import DecodeError
        from sentencepiece import sentencepiece_model_pb2 as format

        self.data = _read(path)
        self._format: Any = format
        try:
            self._model = format.ModelProto.FromString(self.data)
        except DecodeError:
            raise DataError(f"{path}: is not a SentencePiece model") from None
        kinds = format.ModelProto.SentencePiece
        self._pieces = {
            piece.piece: piece for piece in self._model.pieces if piece.type not in (kinds.UNKNOWN, kinds.CONTROL)
        }

    @property
    def kind(self) -> Literal["bpe", "unigram"]:
        """The algorithm."""
        is_bpe = self._model.trainer_spec.model_type == self._format.TrainerSpec.BPE
        return "bpe" if is_bpe else "unigram"

    def pieces(self) -> list[str]:
        """What a text can be cut into."""
        return list(self._pieces)

    def reordered(self, names: list[str], whole: set[str], hidden: set[str]) -> bytes:
        """The model whose ids are the places in `names`, of which the first four are the special pieces.

        Those in `whole` are never cut, wherever they stand in a text; those in `hidden` leave no trace in one.
        """
        if [piece.piece for piece in self._model.pieces] == names:
            return self.data
        kinds = self._format.ModelProto.SentencePiece
        lowest = min((piece.score for piece in self._pieces.values()), default=0.0) - 1
        model = self._format.ModelProto()
        model.CopyFrom(self._model)
        del model.pieces[:]
        for i, name in enumerate(names):
            if i < len(SPECIAL_PIECES):
                model.pieces.add(piece=name, score=0.0, type=kinds.UNKNOWN if i == UNK_ID else kinds.CONTROL)
            elif name in self._pieces:
                model.pieces.add().CopyFrom(self._pieces[name])
            elif name in whole:
                model.pieces.add(piece=name, score=0.0, type=kinds.USER_DEFINED)
            else:
                model.pieces.add(piece=name, score=lowest, type=kinds.CONTROL if name in hidden else kinds.UNUSED)
        spec = model.trainer_spec
        spec.vocab_size = len(names)
        spec.pad_id, spec.unk_id, spec.bos_id, spec.eos_id = PAD_ID, UNK_ID, BOS_ID, EOS_ID
        spec.pad_piece, spec.unk_piece, spec.bos_piece, spec.eos_piece = SPECIAL_PIECES
        data: bytes = model.SerializeToString(deterministic=True)
        return data


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
