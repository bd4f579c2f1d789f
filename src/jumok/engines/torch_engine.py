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

_MAX_WORKERS = 4  # more would wait for Python's lock
_LEAST_OF_A_WORKER = 8  # sentences


class TorchEngine:
    """Holds a model on a device."""

    def __init__(self, model: TranslationModel, device: torch.device, use_workers: bool = True) -> None:
        self.model = model.to(device).eval()
        self._use_workers = use_workers and device.type == "cpu"

    @property
    def max_length(self) -> int | None:
        """The longest source in pieces, None where there is no limit."""
        return self.model.max_length

    def begin(self, sentences: Sequence[Sentence], config: DecodingConfig, sampling: Sampling | None = None) -> Finish:
        """All the work is done when the hypotheses are asked for."""
        num_workers = min(torch.get_num_threads(), _MAX_WORKERS, len(sentences) // _LEAST_OF_A_WORKER)
        if self._use_workers and num_workers > 1 and sampling is None:
            return partial(self._search_side_by_side, sentences, config, num_workers)
        return partial(search, self.model, sentences, config, sampling)

    def _search_side_by_side(
        self, sentences: Sequence[Sentence], config: DecodingConfig, num_workers: int
    ) -> list[list[Hypothesis]]:
        """Cores that have sentences of their own do more than cores that share every small product."""
        num_threads = torch.get_num_threads()
        order = sorted(range(len(sentences)), key=lambda row: -len(sentences[row].ids))
        shares = [order[first::num_workers] for first in range(num_workers)]
        results: list[list[Hypothesis]] = [[] for _ in sentences]
        try:
            with ThreadPoolExecutor(
                num_workers, initializer=torch.set_num_threads, initargs=(num_threads // num_workers,)
            ) as pool:
                found = pool.map(lambda rows: search(self.model, [sentences[row] for row in rows], config), shares)
                for rows, of_worker in zip(shares, found, strict=True):
                    for row, hypotheses in zip(rows, of_worker, strict=True):
                        results[row] = hypotheses
        finally:
            torch.set_num_threads(num_threads)  # what a thread sets would hold for every later one
        return results
