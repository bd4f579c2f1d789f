"""What may be said next, whatever the model thinks of it: the same rules for a beam search and for sampling."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from torch import Tensor

from jumok.config import DecodingConfig
from jumok.text.tokenizer import BOS_ID, EOS_ID, PAD_ID, UNK_ID

_NEVER_SAID = [PAD_ID, BOS_ID]


@dataclass(frozen=True)
class Rules:
    """Padding, begin and, unless it is wanted, unknown marks are never said; the rest is on request.

    A rule takes away what it forbids and leaves the log-probabilities of the rest as the model gave them.
    """

    min_length: int = 0  # pieces, the prefix counted, the end mark not
    no_repeat_ngram: int = 0  # 0: off
    prefixes: Sequence[Sequence[int]] = ()  # one for each sentence of the batch, or none at all
    not_after_prefix: Sequence[frozenset[int]] = ()  # what must not come right behind it, likewise
    may_be_unknown: bool = False  # the unknown mark may be said: something will be put in its place

    @classmethod
    def of(
        cls, config: DecodingConfig, prefixes: Sequence[Sequence[int]], not_next: Sequence[frozenset[int]] = ()
    ) -> Self:
        """What a configuration asks for, and the prefix of each sentence, which may be empty."""
        given = prefixes if any(map(len, prefixes)) else ()
        return cls(config.min_length, config.no_repeat_ngram, given, not_next, config.replace_unknown)

    def apply(self, log_probs: Tensor, ids: Tensor, live: Sequence[int]) -> None:
        """Set what must not follow to −∞, in place.

        `log_probs` (B, N, V) are of the next piece, `ids` (B, N, 1 + length) what was said so far behind the begin
        mark, `live` which sentence each of the B is. Inside its prefix nothing else is allowed, and nothing forbids it.
        """
        length = ids.size(-1) - 1
        forced = [(i, self.prefixes[s][length]) for i, s in enumerate(live) if self.is_in_prefix(s, length)]
        own_log_probs = [log_probs[i, :, piece].clone() for i, piece in forced]
        log_probs[:, :, _NEVER_SAID if self.may_be_unknown else [*_NEVER_SAID, UNK_ID]] = -math.inf
        end = log_probs[:, :, EOS_ID].clone() if self.min_length and self.no_repeat_ngram else None
        if length < self.min_length:
            log_probs[:, :, EOS_ID] = -math.inf
        if self.no_repeat_ngram:
            _forbid_repeats(log_probs, ids[:, :, 1:], self.no_repeat_ngram)
        if end is not None:  # every piece would be a repetition and the end too early: then it is the end
            has_nothing_left = log_probs.amax(dim=-1).isneginf()
            log_probs[:, :, EOS_ID] = end.where(has_nothing_left, log_probs[:, :, EOS_ID])
        for i, s in enumerate(live if self.not_after_prefix else ()):
            if length == len(self.prefixes[s]) and self.not_after_prefix[s]:
                log_probs[i, :, list(self.not_after_prefix[s])] = -math.inf
        for (i, piece), own in zip(forced, own_log_probs, strict=True):
            log_probs[i] = -math.inf
            log_probs[i, :, piece] = own

    def is_in_prefix(self, sentence: int, length: int) -> bool:
        """Whether the piece after so many others is still one of the sentence's prefix."""
        return bool(self.prefixes) and length < len(self.prefixes[sentence])


def _forbid_repeats(log_probs: Tensor, ids: Tensor, n: int) -> None:
    """Forbid each piece that followed an earlier occurrence of the last n − 1 pieces.

    The end mark is not one of them: a draw that has ended has it among its ids, and may say it again.
    """
    length = ids.size(-1)
    if length < n:
        return
    ngrams = ids.unfold(-1, n, 1)  # (B, N, length) -> (B, N, length − n + 1, n)
    last = ids[:, :, length - n + 1 :]
    is_repeat = (ngrams[..., :-1] == last[:, :, None, :]).all(dim=-1) & (ngrams[..., -1] != EOS_ID)
    i, row, place = is_repeat.nonzero(as_tuple=True)
    log_probs[i, row, ngrams[i, row, place, n - 1]] = -math.inf
