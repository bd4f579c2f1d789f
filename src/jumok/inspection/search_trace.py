"""Why this sentence: every step of one beam search, told by the search itself while it runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from jumok.config import DecodingConfig
from jumok.data.batching import pad_sources
from jumok.decoding.beam import BeamStep, beam_search
from jumok.decoding.coverage import rank_by_coverage
from jumok.decoding.hypothesis import Hypothesis
from jumok.decoding.length_penalty import length_penalty
from jumok.decoding.look_back import look_back
from jumok.decoding.rules import Rules
from jumok.decoding.sentence import Sentence
from jumok.models import TranslationModel
from jumok.text.tokenizer import EOS_ID

Status = Literal["kept", "pruned", "finished"]


@dataclass(frozen=True)
class Continuation:
    """A hypothesis of one step more: a node of the tree that the search walks through."""

    number: int
    parent: int | None  # None: the beginning
    piece: int  # id
    log_prob: float  # of this piece after those before it
    total: float  # of all of them
    score: float  # total over the length penalty
    status: Status


@dataclass(frozen=True)
class SearchTrace:
    """Steps of a search, what came out of it, best first, and the way through the tree that led to the best."""

    steps: list[list[Continuation]]
    hypotheses: list[Hypothesis]
    chosen: list[int]  # numbers of the continuations of the best hypothesis


@dataclass
class _Recorder:
    """Gives every continuation a number and remembers which one each row of the beam stands for."""

    beam: int
    alpha: float
    steps: list[list[Continuation]] = field(default_factory=list)
    rows: list[int | None] = field(default_factory=list)
    count: int = 0

    def __call__(self, step: BeamStep) -> None:
        """Write down one step of the only sentence."""
        length = len(self.steps) + 1
        parents = self.rows or [None] * self.beam
        before, keep = step.before[0].tolist(), step.keep[0].tolist()
        totals, from_rows, pieces = (values[0].tolist() for values in (step.totals, step.from_row, step.piece))
        continuations = []
        for place, (total, row, piece) in enumerate(zip(totals, from_rows, pieces, strict=True)):
            if not math.isfinite(total):
                continue
            is_end = piece == EOS_ID and place < self.beam
            status: Status = "finished" if is_end else "kept" if place in keep else "pruned"
            score = total / length_penalty(length, self.alpha)
            continuations.append(
                Continuation(self.count + place, parents[row], piece, total - before[row], total, score, status)
            )
        self.rows = [self.count + place for place in keep]
        self.count += len(totals)
        self.steps.append(continuations)


def trace_search(
    model: TranslationModel, src_ids: Sequence[int], config: DecodingConfig, max_length: int, prefix: Sequence[int] = ()
) -> SearchTrace:
    """Search for the translation of one sentence as `jumok translate` does, and keep all that was looked at.

    `max_length` limits the pieces of the translation, the end mark counted; `prefix` forces its beginning.
    """
    recorder = _Recorder(config.beam, config.length_penalty)
    src = pad_sources([src_ids]).to(next(model.parameters()).device)
    rules = Rules.of(config, [prefix])
    was_training = model.training
    model.eval()
    try:
        found = beam_search(
            model, src, config.beam, config.length_penalty, [max_length], rules, config.patience, recorder
        )[0]
        if config.coverage_penalty:
            seen = look_back(model, [Sentence(list(src_ids))], [found], config)[0]
            found = rank_by_coverage(seen, config.coverage_penalty)
    finally:
        model.train(was_training)
    return SearchTrace(recorder.steps, found, _way_to(found[0], recorder.steps))


def _way_to(best: Hypothesis, steps: list[list[Continuation]]) -> list[int]:
    """Numbers of the continuations that spell a hypothesis, one a step."""
    pieces = [*best.ids, *([EOS_ID] if best.is_complete else [])]
    way: list[int] = []
    for piece, continuations in zip(pieces, steps, strict=False):
        parent = way[-1] if way else None
        way += [one.number for one in continuations if (one.piece, one.parent) == (piece, parent)][:1]
    return way
