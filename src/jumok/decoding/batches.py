"""Many sentences: sorted by length, searched in batches, put back in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from jumok.config import DecodingConfig
from jumok.data.batching import Ids, pad_sources
from jumok.decoding.beam import beam_search
from jumok.decoding.hypothesis import Hypothesis
from jumok.decoding.sampling import Sampling, sample
from jumok.errors import explained_memory_errors
from jumok.models.interface import TranslationModel


def search(
    model: TranslationModel,
    sources: Sequence[Ids],
    config: DecodingConfig,
    sampling: Sampling | None = None,
) -> list[list[Hypothesis]]:
    """The hypotheses of every source, best first, in the order of the sources."""
    device = next(model.parameters()).device
    was_training = model.training
    model.eval()
    generator = sampling.generator(device) if sampling is not None else None
    results: list[list[Hypothesis]] = [[] for _ in sources]
    try:
        with explained_memory_errors("lower decoding.batch_tokens or the beam"):
            for rows in _batches([len(ids) for ids in sources], config):
                src = pad_sources([sources[row] for row in rows]).to(device)
                limits = [_max_length(model, len(sources[row]), config) for row in rows]
                if sampling is None:
                    found = beam_search(model, src, config.beam, config.length_penalty, limits)
                else:
                    found = sample(model, src, sampling, config.beam, limits, generator)
                for row, hypotheses in zip(rows, found, strict=True):
                    results[row] = hypotheses
    finally:
        model.train(was_training)
    return results


def _max_length(model: TranslationModel, src_length: int, config: DecodingConfig) -> int:
    limit = src_length + config.max_extra_length
    return limit if model.max_length is None else min(limit, model.max_length - 1)


def _batches(lengths: list[int], config: DecodingConfig) -> Iterator[list[int]]:
    """Rows of each batch, longest first, so that a batch that does not fit fails at once."""
    order = sorted(range(len(lengths)), key=lambda row: -lengths[row])
    while order:
        num_rows = max(1, config.batch_tokens // ((lengths[order[0]] + 1) * config.beam))
        yield order[:num_rows]
        order = order[num_rows:]
