"""What is looked into: a model with its vocabularies, and one sentence pair of the reader's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from jumok.config import Config, DecodingConfig
from jumok.data.batching import Batch, collate
from jumok.decoding.batches import search
from jumok.decoding.hypothesis import Hypothesis
from jumok.decoding.sentence import Sentence
from jumok.errors import UsageError
from jumok.inspection.labels import label_pieces
from jumok.models import TranslationModel
from jumok.models.transformer import Transformer
from jumok.text.normalization import normalize
from jumok.text.tokenizer import Tokenizer

MAX_PIECES = 200  # of a sentence that is looked into: weights grow with the square of it
_NUM_REMEMBERED = 64  # pairs


@dataclass(frozen=True)
class Pair:
    """A sentence and a translation in ids, without begin and end, and as the model reads and says them."""

    src_ids: list[int]
    tgt_ids: list[int]
    batch: Batch  # of this pair alone
    src_pieces: list[str]  # with </s>
    tgt_in_pieces: list[str]  # what the decoder reads: <s> and the target
    tgt_out_pieces: list[str]  # what it has to say: the target and </s>

    @property
    def src_labels(self) -> list[str]:
        """Pieces as a person reads them."""
        return label_pieces(self.src_pieces)

    @property
    def tgt_in_labels(self) -> list[str]:
        """Pieces as a person reads them."""
        return label_pieces(self.tgt_in_pieces)

    @property
    def tgt_out_labels(self) -> list[str]:
        """Pieces as a person reads them."""
        return label_pieces(self.tgt_out_pieces)


class Subject:
    """A model that is not being trained, with what turns text into its ids."""

    def __init__(
        self, model: TranslationModel, src_tokenizer: Tokenizer, tgt_tokenizer: Tokenizer, config: Config
    ) -> None:
        self.model = model.eval()
        self.src_tokenizer = src_tokenizer
        self.tgt_tokenizer = tgt_tokenizer
        self.config = config
        self._pairs: dict[tuple[str, str | None], Pair] = {}  # the views ask many things of one sentence

    @property
    def device(self) -> torch.device:
        """Where the model is."""
        return next(self.model.parameters()).device

    @property
    def transformer(self) -> Transformer:
        """The model, for what only a Transformer has."""
        if not isinstance(self.model, Transformer):
            raise UsageError(f"this can be seen in a Transformer only; the model is a {type(self.model).__name__}")
        return self.model

    def pair(self, source: str, target: str | None = None) -> Pair:
        """A sentence with its translation, the model's own where none is given."""
        if (source, target) not in self._pairs:
            src_ids = self.source_ids(source)
            if target is None:
                tgt_ids = self.search(src_ids)[0].ids
            else:
                tgt_ids = self._limited(self.tgt_tokenizer.encode([target])[0], "the translation")
            if len(self._pairs) >= _NUM_REMEMBERED:
                self._pairs.clear()
            self._pairs[source, target] = self.pair_of_ids(src_ids, tgt_ids)
        return self._pairs[source, target]

    def source_ids(self, source: str) -> list[int]:
        """A sentence in ids, where there is one and it is not too long."""
        if any("\ud800" <= character <= "\udfff" for character in source):
            raise UsageError("the sentence is not UTF-8: it holds half of a character; write it again")
        if not normalize(source):
            raise UsageError("the sentence is empty; write one")
        return self._limited(self.src_tokenizer.encode([source])[0], "the sentence")

    def pair_of_ids(self, src_ids: Sequence[int], tgt_ids: Sequence[int]) -> Pair:
        """The same from ids."""
        batch = collate([src_ids], [tgt_ids]).to(self.device)
        return Pair(
            list(src_ids),
            list(tgt_ids),
            batch,
            self.src_tokenizer.id_to_piece(batch.src[0].tolist()),
            self.tgt_tokenizer.id_to_piece(batch.tgt_in[0].tolist()),
            self.tgt_tokenizer.id_to_piece(batch.tgt_out[0].tolist()),
        )

    def search(self, src_ids: Sequence[int], decoding: DecodingConfig | None = None) -> list[Hypothesis]:
        """What the model makes of a sentence, best first, searched as the run's configuration says unless told."""
        return search(self.model, [Sentence(list(src_ids))], decoding or self.config.decoding)[0]

    def max_tgt_length(self, src_ids: Sequence[int], num_forced: int = 0) -> int:
        """Pieces that a translation may have, the end mark counted, as `jumok translate` limits it."""
        decoding, limit = self.config.decoding, self.model.max_length
        usual = num_forced + max(len(src_ids) + decoding.max_extra_length, decoding.min_length + 1)
        if limit is not None and num_forced + 1 > limit - 1:
            raise UsageError(f"{num_forced} forced pieces leave no room: this model says at most {limit - 1}")
        return usual if limit is None else min(usual, limit - 1)

    def text(self, tgt_ids: Sequence[int]) -> str:
        """Target ids as text."""
        return self.tgt_tokenizer.decode([list(tgt_ids)])[0]

    @torch.inference_mode()
    def log_probs(self, pair: Pair) -> Tensor:
        """Of every piece of the vocabulary at every position of the target (T, V), teacher-forced."""
        return self.distribution(self.model(pair.batch.src, pair.batch.tgt_in))

    def distribution(self, hidden: Tensor) -> Tensor:
        """Log-probabilities (T, V) of one sentence's hidden vectors (1, T, D)."""
        return self.model.project(hidden)[0].float().log_softmax(dim=-1)

    def _limited(self, ids: list[int], what: str) -> list[int]:
        limit = min(MAX_PIECES, (self.model.max_length or MAX_PIECES + 1) - 1)
        if len(ids) > limit:
            raise UsageError(f"{what} has {len(ids)} pieces, and {limit} can be looked at together; take a shorter one")
        return ids
