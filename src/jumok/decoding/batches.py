"""Many sentences: sorted by length, searched in batches, put back in order.

A sentence with terms is searched like any other at first, for most translations say their terms anyway: so a glossary
changes nothing that was right without it. Where a term is missing it is put where it belongs, if attention can tell.
Where that does not lead to a translation with all terms, a constrained search finds one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import torch
from torch import Tensor

from jumok.config import DecodingConfig
from jumok.data.batching import pad_sources
from jumok.decoding.beam import beam_search
from jumok.decoding.constrained import constrained_beam_search
from jumok.decoding.coverage import rank_by_coverage
from jumok.decoding.hypothesis import Hypothesis
from jumok.decoding.look_back import look_back
from jumok.decoding.placement import place_terms
from jumok.decoding.rules import Rules
from jumok.decoding.sampling import Sampling, sample
from jumok.decoding.sentence import Sentence
from jumok.decoding.terms import Terms
from jumok.errors import UsageError, explained_memory_errors
from jumok.models.interface import TranslationModel

Found = dict[int, list[Hypothesis]]  # of each row: a sentence's place in what was given


def search(
    model: TranslationModel,
    sentences: Sequence[Sentence],
    config: DecodingConfig,
    sampling: Sampling | None = None,
) -> list[list[Hypothesis]]:
    """The hypotheses of every sentence, best first, in the order of the sentences.

    There are `config.beam` of them, or fewer where there are not so many that hold the terms.
    """
    if sampling is not None and any(sentence.terms for sentence in sentences):
        raise UsageError("terms of a glossary cannot be drawn at random; leave out the sampling or the glossary")
    limits = [_limit(model, sentence, config) for sentence in sentences]
    generator = sampling.generator(_device(model)) if sampling is not None else None

    def search_batch(src: Tensor, rows: list[int]) -> list[list[Hypothesis]]:
        max_lengths, rules = [limits[row] for row in rows], Rules.of(config, [sentences[row].prefix for row in rows])
        if sampling is None:
            return beam_search(model, src, config.beam, config.length_penalty, max_lengths, rules, config.patience)
        return sample(model, src, sampling, config.beam, max_lengths, generator, rules)

    was_training = model.training
    model.eval()
    try:
        with explained_memory_errors("lower decoding.batch_tokens or the beam"):
            found = _in_batches(search_batch, range(len(sentences)), sentences, config.beam, config, _device(model))
            found |= _with_terms(model, sentences, found, config)
        results = [found[row] for row in range(len(sentences))]
        if config.coverage_penalty and sampling is None:
            seen = look_back(model, sentences, results, config)
            results = [rank_by_coverage(hypotheses, config.coverage_penalty) for hypotheses in seen]
    finally:
        model.train(was_training)
    return results


def _with_terms(model: TranslationModel, sentences: Sequence[Sentence], found: Found, config: DecodingConfig) -> Found:
    """Hypotheses that hold the terms, of the sentences that have any."""
    terms = {row: Terms(sentence.terms) for row, sentence in enumerate(sentences) if sentence.terms}
    limits = {row: _limit(model, sentences[row], config, with_terms=True) for row in terms}

    def search_on(prefixes: dict[int, list[int]], not_next: dict[int, frozenset[int]]) -> Found:
        def search_batch(src: Tensor, rows: list[int]) -> list[list[Hypothesis]]:
            rules = Rules.of(config, [prefixes[row] for row in rows], [not_next[row] for row in rows])
            max_lengths = [limits[row] for row in rows]
            return beam_search(model, src, config.beam, config.length_penalty, max_lengths, rules, config.patience)

        fitting = [row for row, prefix in prefixes.items() if len(prefix) < limits[row]]
        return _in_batches(search_batch, fitting, sentences, config.beam, config, _device(model))

    def constrained_search_batch(src: Tensor, rows: list[int]) -> list[list[Hypothesis]]:
        max_lengths, rules = [limits[row] for row in rows], Rules.of(config, [sentences[row].prefix for row in rows])
        terms_of_rows = [terms[row] for row in rows]
        return constrained_beam_search(
            model, src, config.beam, config.length_penalty, max_lengths, terms_of_rows, rules
        )

    lacking = {row: found[row] for row in terms if not terms[row].are_in(found[row][0].ids)}
    best = {row: found[row] for row in terms} | place_terms(model, sentences, lacking, config, search_on)
    by_width: dict[int, list[int]] = {}  # how many rows the constrained search of a sentence takes
    for row in terms:
        if not terms[row].are_in(best[row][0].ids):
            by_width.setdefault(config.beam + terms[row].num_pieces, []).append(row)
    for width, rows in by_width.items():
        best |= _in_batches(constrained_search_batch, rows, sentences, width, config, _device(model))
    return {row: [one for one in best[row] if terms[row].are_in(one.ids)] for row in terms}


def _in_batches(
    search_batch: Callable[[Tensor, list[int]], list[list[Hypothesis]]],
    rows: Iterable[int],
    sentences: Sequence[Sentence],
    width: int,
    config: DecodingConfig,
    device: torch.device,
) -> Found:
    """Search rows in batches, each sentence `width` wide."""
    found: Found = {}
    for batch in plan_batches(rows, sentences, width, config):
        src = pad_sources([sentences[row].ids for row in batch]).to(device)
        found |= zip(batch, search_batch(src, batch), strict=True)
    return found


def plan_batches(
    rows: Iterable[int], sentences: Sequence[Sentence], width: int, config: DecodingConfig
) -> Iterator[list[int]]:
    """Rows of each batch, longest first, so that a batch that does not fit fails at once."""
    order = sorted(rows, key=lambda row: -len(sentences[row].ids))
    while order:
        num_rows = max(1, config.batch_tokens // ((len(sentences[order[0]].ids) + 1) * width))
        yield order[:num_rows]
        order = order[num_rows:]


def _limit(model: TranslationModel, sentence: Sentence, config: DecodingConfig, with_terms: bool = False) -> int:
    """The pieces that a translation may have, the end mark counted: what it must have comes on top of the usual."""
    num_of_prefix = len(sentence.prefix)
    num_of_terms = sum(max(map(len, term.spellings)) for term in sentence.terms)
    limit = num_of_prefix + max(len(sentence.ids) + config.max_extra_length, config.min_length + 1)
    limit += num_of_terms if with_terms else 0
    if model.max_length is None:
        return limit
    num_needed = max(num_of_prefix + num_of_terms, config.min_length) + 1
    if num_needed > model.max_length - 1:
        raise UsageError(
            f"the prefix, the terms and decoding.min_length ask for {num_needed} pieces with the end mark, but this "
            f"model says at most {model.max_length - 1}; ask for less"
        )
    return min(limit, model.max_length - 1)


def _device(model: TranslationModel) -> torch.device:
    return next(model.parameters()).device
