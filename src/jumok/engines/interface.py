"""What a translator asks of an engine: sentences in pieces in, hypotheses out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from jumok.config import DecodingConfig
from jumok.decoding.hypothesis import Hypothesis
from jumok.decoding.sampling import Sampling
from jumok.decoding.sentence import Sentence

Finish = Callable[[], list[list[Hypothesis]]]  # waits for the hypotheses of each sentence, best first


class Engine(Protocol):
    """A trained model that translates."""

    @property
    def max_length(self) -> int | None:
        """The longest source in pieces, None where there is no limit."""
        ...

    def begin(self, sentences: Sequence[Sentence], config: DecodingConfig, sampling: Sampling | None = None) -> Finish:
        """Take sentences on; an engine that works in threads of its own goes on while the caller prepares others."""
        ...
