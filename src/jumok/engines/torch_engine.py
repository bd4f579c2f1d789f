"""Translating with our own search: every model, every option."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import torch

from jumok.config import DecodingConfig
from jumok.decoding.batches import search
from jumok.decoding.hypothesis import Hypothesis
from jumok.decoding.sampling import Sampling
from jumok.decoding.sentence import Sentence
from jumok.engines.interface import Finish
from jumok.models import TranslationModel

_MAX_HANDS = 4  # more would wait for Python's lock
_LEAST_OF_A_HAND = 8  # sentences


class TorchEngine:
    """Holds a model on a device."""

    def __init__(self, model: TranslationModel, device: torch.device, use_hands: bool = True) -> None:
        self.model = model.to(device).eval()
        self._use_hands = use_hands and device.type == "cpu"

    @property
    def max_length(self) -> int | None:
        """The longest source in pieces, None where there is no limit."""
        return self.model.max_length

    def begin(self, sentences: Sequence[Sentence], config: DecodingConfig, sampling: Sampling | None = None) -> Finish:
        """All the work is done when the hypotheses are asked for."""
        num_hands = min(torch.get_num_threads(), _MAX_HANDS, len(sentences) // _LEAST_OF_A_HAND)
        if self._use_hands and num_hands > 1 and sampling is None:
            return partial(self._search_by_hands, sentences, config, num_hands)
        return partial(search, self.model, sentences, config, sampling)

    def _search_by_hands(
        self, sentences: Sequence[Sentence], config: DecodingConfig, num_hands: int
    ) -> list[list[Hypothesis]]:
        """Cores that have sentences of their own do more than cores that share every small product."""
        num_threads = torch.get_num_threads()
        order = sorted(range(len(sentences)), key=lambda row: -len(sentences[row].ids))
        hands = [order[first::num_hands] for first in range(num_hands)]
        results: list[list[Hypothesis]] = [[] for _ in sentences]
        with ThreadPoolExecutor(
            num_hands, initializer=torch.set_num_threads, initargs=(num_threads // num_hands,)
        ) as pool:
            found = pool.map(lambda rows: search(self.model, [sentences[row] for row in rows], config), hands)
            for rows, of_hand in zip(hands, found, strict=True):
                for row, hypotheses in zip(rows, of_hand, strict=True):
                    results[row] = hypotheses
        torch.set_num_threads(num_threads)  # what a thread sets would hold for every later one
        return results
