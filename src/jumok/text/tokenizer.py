"""Pieces by SentencePiece: text to ids and back.

With subwords nothing is ever unknown. Bytes stand behind the vocabulary (byte fallback): a character that has no piece
is spelled in UTF-8 bytes. In a vocabulary of words (see words.py) the rare ones are unknown, as they were before there
were subwords.
"""

from __future__ import annotations

import io
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import sentencepiece

from jumok.errors import TokenizerError
from jumok.text.normalization import INNER_LINE_ENDS, normalize
from jumok.text.words import as_known, as_written, join_words, split_words

PAD_ID, UNK_ID, BOS_ID, EOS_ID = 0, 1, 2, 3
UNKNOWN = "⟨unk⟩"  # how an unknown word is shown in a text, where scores count it as a wrong one
_MAX_TRAINING_SENTENCES = 2_000_000
_MAX_CHARACTERS = 10_000  # characters of a text learned from at a time: SentencePiece aborts at a word of 65,536
_MAX_WORD = 1000  # characters; what is longer is no word and stays unknown


def train_tokenizer(
    texts: Iterable[str],
    path: Path,
    kind: Literal["bpe", "unigram", "word"],
    vocab_size: int,
    character_coverage: float,
) -> None:
    """Learn the pieces from normalised texts and write the model file, whole or not at all."""
    model = io.BytesIO()  # a file that SentencePiece writes would hold the path that it was written to
    of_kind = _counted_words(texts) if kind == "word" else _subwords(texts, character_coverage)
    try:
        sentencepiece.SentencePieceTrainer.train(
            model_writer=model,
            model_type=kind,
            vocab_size=vocab_size,
            normalization_rule_name="identity",  # `normalize` did it already, in one place for all
            pad_id=PAD_ID,
            unk_id=UNK_ID,
            bos_id=BOS_ID,
            eos_id=EOS_ID,
            max_sentence_length=1 << 20,
            num_threads=1,  # more threads may order equal scores differently
            minloglevel=2,
            **of_kind,
        )
    except (RuntimeError, OSError) as error:
        raise _explain_training_error(str(error), vocab_size) from None
    temporary = path.with_name(f".{path.name}.new")
    temporary.write_bytes(model.getvalue())
    temporary.replace(path)


def _subwords(texts: Iterable[str], character_coverage: float) -> dict[str, Any]:
    """What SentencePiece is to do to learn subwords."""
    return {
        "sentence_iterator": (
            text[i : i + _MAX_CHARACTERS] for text in texts for i in range(0, len(text), _MAX_CHARACTERS)
        ),
        "character_coverage": character_coverage,
        "byte_fallback": True,
        "input_sentence_size": _MAX_TRAINING_SENTENCES,
        "shuffle_input_sentence": True,
    }


def _counted_words(texts: Iterable[str]) -> dict[str, Any]:
    """What it is to do to take the most frequent words, which are counted here: it would cut at spaces alone."""
    counts = Counter(piece for text in texts for piece in as_known(split_words(text)) if len(piece) <= _MAX_WORD)
    return {
        "sentence_iterator": (f"{piece}\t{count}" for piece, count in counts.items()),
        "input_format": "tsv",
        "character_coverage": 1.0,
        "add_dummy_prefix": False,
    }


class Tokenizer:
    """A trained SentencePiece model."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        try:
            self._processor = sentencepiece.SentencePieceProcessor(model_file=str(path))
        except (RuntimeError, OSError):
            raise TokenizerError(
                f"{path}: is missing or not a SentencePiece model; run `jumok prepare` again"
            ) from None
        self._known_cuts: dict[int, list[tuple[int, int]]] = {}

    @property
    def vocab_size(self) -> int:
        """How many pieces there are."""
        return int(self._processor.vocab_size())

    @cached_property
    def has_words(self) -> bool:
        """Whether the pieces are whole words, the rare ones unknown; the model file says so."""
        from sentencepiece import sentencepiece_model_pb2 as format

        spec = format.ModelProto.FromString(self._processor.serialized_model_proto()).trainer_spec
        return bool(spec.model_type == format.TrainerSpec.WORD)

    @cached_property
    def has_unknowns(self) -> bool:
        """Whether there is text that the pieces cannot spell; bytes can spell all."""
        return not any(self._processor.is_byte(i) for i in range(self.vocab_size))

    def is_same_as(self, other: Tokenizer) -> bool:
        """Whether both cut every text alike: the same pieces with the same scores, whatever else the files hold."""
        vocabularies = (
            [(of.id_to_piece(i), of.get_score(i)) for i in range(of.vocab_size())]
            for of in (self._processor, other._processor)
        )
        return next(vocabularies) == next(vocabularies)

    def encode(self, texts: Sequence[str], *, is_normalized: bool = False) -> list[list[int]]:
        """Ids of each text, without begin and end."""
        texts = list(texts) if is_normalized else [normalize(text) for text in texts]
        if self.has_words:
            known = self._id_of_word
            return [[known.get(piece, UNK_ID) for piece in as_known(split_words(text))] for text in texts]
        ids: list[list[int]] = self._processor.encode(texts, num_threads=-1)  # all cores
        return ids

    @cached_property
    def _id_of_word(self) -> dict[str, int]:
        """SentencePiece itself would take neighbouring unknown words for one."""
        return {piece: i for i, piece in enumerate(self.all_pieces()) if i > EOS_ID}

    def encode_sampled(self, texts: Sequence[str], sampling: float, seed: int) -> list[list[int]]:
        """Ids of each text, each piece cut in two with this probability, and its parts again; the seed decides.

        Paper: subword regularisation, Kudo 2018 (unigram); Provilkov et al. 2020 (BPE-dropout).
        Differs: pieces are cut instead of merges left out. SentencePiece's own sampling mixes a number of the process
        into its seed, and a training that goes on in another process would not be the same.
        """
        rng = random.Random(seed)
        return [[part for piece in ids for part in self._cut(piece, sampling, rng)] for ids in self.encode(texts)]

    def _cut(self, piece: int, sampling: float, rng: random.Random) -> list[int]:
        if rng.random() >= sampling or not (cuts := self._cuts(piece)):
            return [piece]
        return [part for half in rng.choice(cuts) for part in self._cut(half, sampling, rng)]

    def _cuts(self, piece: int) -> list[tuple[int, int]]:
        """The ways to cut a piece into two that are in the vocabulary too."""
        if piece not in self._known_cuts:
            of = self._processor
            text = "" if of.is_control(piece) or of.is_byte(piece) else of.id_to_piece(piece)
            halves = [(of.piece_to_id(text[:i]), of.piece_to_id(text[i:])) for i in range(1, len(text))]
            self._known_cuts[piece] = [
                pair for pair in halves if UNK_ID not in pair and not any(of.is_unused(i) for i in pair)
            ]
        return self._known_cuts[piece]

    def pieces(self, text: str) -> list[str]:
        """The pieces of a text as they stand in it, `▁` marking where a word begins."""
        text = normalize(text)
        pieces: list[str] = split_words(text) if self.has_words else self._processor.encode(text, out_type=str)
        return pieces

    def known_pieces(self, text: str) -> list[str]:
        """The pieces of a text as the vocabulary spells them, one an id; an unknown one as it would be spelled."""
        return as_known(self.pieces(text)) if self.has_words else self.pieces(text)

    def written_pieces(self, ids: Sequence[int]) -> list[str]:
        """The piece behind each id as it stands in a text, `▁` marking where a word begins."""
        if not self.has_words:
            return self.id_to_piece(ids)
        return as_written(self._with_unknowns(ids, ()))

    def all_pieces(self) -> list[str]:
        """The vocabulary, in the order of the ids."""
        return self.id_to_piece(range(self.vocab_size))

    def id_to_piece(self, ids: Sequence[int]) -> list[str]:
        """The piece behind each id."""
        return [self._processor.id_to_piece(int(i)) for i in ids]

    def piece_to_id(self, piece: str) -> int | None:
        """The id of a piece, None where it is not in the vocabulary."""
        i = int(self._processor.piece_to_id(piece))
        return None if i == UNK_ID else i

    def decode(self, ids: Sequence[Sequence[int]], unknowns: Sequence[Iterable[str]] | None = None) -> list[str]:
        """Text of each list of ids; pad, begin and end leave no trace, what is unknown shows as ⟨unk⟩.

        `unknowns` gives pieces to put in place of those of each list, in their order.
        """
        rows = [[int(i) for i in row if i not in (PAD_ID, BOS_ID, EOS_ID)] for row in ids]
        if self.has_words or any(UNK_ID in row for row in rows):
            pieces = [self._with_unknowns(row, unknowns[i] if unknowns else ()) for i, row in enumerate(rows)]
            texts = [join_words(row) if self.has_words else self._join_subwords(row) for row in pieces]
        else:
            texts = self._processor.decode(rows)
        return [INNER_LINE_ENDS.sub(" ", text) for text in texts]  # bytes can spell one; a line out is one line

    def _join_subwords(self, pieces: list[str]) -> str:
        text: str = self._processor.decode(pieces)
        return text.replace("▁", " ").strip(" ")  # it leaves a piece that it does not know as it is

    def _with_unknowns(self, ids: Sequence[int], unknowns: Iterable[str]) -> list[str]:
        """The pieces of ids, the unknown ones from those given while they last."""
        given: Iterator[str] = iter(unknowns)
        return [
            next(given, f"▁{UNKNOWN}") if i == UNK_ID else piece
            for i, piece in zip(ids, self.id_to_piece(ids), strict=True)
        ]


def _explain_training_error(message: str, vocab_size: int) -> TokenizerError:
    too_high = re.search(r"value <= (\d+)", message)
    if too_high:
        problem = TokenizerError(
            f"tokenizer.vocab_size = {vocab_size} is more than the training text allows; "
            f"the largest that works is {too_high.group(1)}"
        )
        problem.limit = int(too_high.group(1))
        return problem
    too_small = re.search(r"required_chars\. \d+ vs (\d+)", message)
    if too_small:
        problem = TokenizerError(
            f"tokenizer.vocab_size = {vocab_size} does not hold the characters of the training text and the 256 "
            f"bytes; the smallest that works is {too_small.group(1)}"
        )
        problem.limit = -int(too_small.group(1))
        return problem
    return TokenizerError(f"the tokenizer could not be learned: {message.strip()}")
