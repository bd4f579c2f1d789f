"""Beam search for a translation that must hold given terms: a glossary.

The usual beam, and in it hypotheses that have said a term although the model would rather not have: each step every row
is also continued by the pieces that its terms ask for next. Compared by probability alone these would always lose, so
the hypotheses are put into banks by how many pieces of terms they still miss, and the rows of the beam are dealt out to
the banks in turn. Only what misses nothing may end.

Paper: Post and Vilar 2018, "Fast Lexically Constrained Decoding with Dynamic Beam Allocation".
Differs: one row more for each piece of the terms, so that a narrow beam has rows for all banks; what could no longer
say its terms within the length limit is dropped, so that every search succeeds; the search goes on while something that
still misses a term is ahead of all that ended, since it may be about to say it where it belongs; and the length penalty
does not spread what a term costs over the length, or it would be cheapest to say it in a sentence of its own behind.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from jumok.decoding.hypothesis import Hypothesis, rank
from jumok.decoding.length_penalty import length_penalty
from jumok.decoding.rules import Rules
from jumok.decoding.terms import Readings, Terms
from jumok.models.interface import TranslationModel
from jumok.text.tokenizer import BOS_ID, EOS_ID, PAD_ID


@torch.inference_mode()
def constrained_beam_search(
    model: TranslationModel,
    src: Tensor,
    beam: int,
    alpha: float,
    max_lengths: list[int],
    terms: list[Terms],
    rules: Rules | None = None,
) -> list[list[Hypothesis]]:
    """The N best translations of each source row (B, S) that hold the row's terms, best first.

    The terms of all rows have equally many pieces, and there is room for them (and the prefix) in `max_lengths`.
    """
    rules = rules or Rules()
    width = beam + terms[0].num_pieces
    assert all(of_row.num_pieces == terms[0].num_pieces for of_row in terms), "each sentence has equally many rows"
    src_lengths = (src != PAD_ID).sum(dim=1).tolist()
    searches = [_Search(*of_row, beam, alpha) for of_row in zip(terms, max_lengths, src_lengths, strict=True)]
    live = list(range(len(searches)))
    state = model.start(src).select(torch.arange(len(live), device=src.device).repeat_interleave(width))

    for length in range(1, max(max_lengths) + 1):
        # 1. Continue every row by every piece. A term may be said although it breaks a rule; but no end without it.
        beams = [searches[s].rows for s in live]
        ids = torch.tensor([[row.ids for row in rows] for rows in beams], device=src.device)  # (B, N, length)
        step_log_probs, state = model.step(ids[:, :, -1].flatten(), state)
        step_log_probs = step_log_probs.view(len(live), width, -1)
        free = [(i, searches[s]) for i, s in enumerate(live) if not rules.is_in_prefix(s, length - 1)]
        asked = [(i, row, piece) for i, search in free for row, piece in search.asked()]
        is_asked = _places(asked, src.device)
        log_probs_of_asked = step_log_probs[is_asked]
        rules.apply(step_log_probs, ids, live)
        for i, search in free:
            for row, pieces in search.not_next():
                step_log_probs[i, row, pieces] = -math.inf
        step_log_probs[is_asked] = log_probs_of_asked
        no_end = [(i, n, EOS_ID) for i, rows in enumerate(beams) for n, row in enumerate(rows) if row.num_missing]
        step_log_probs[_places(no_end, src.device)] = -math.inf

        # 2. The candidates: the best 2N of each sentence, the best of each row, and what the terms ask for.
        log_probs = torch.tensor([[row.log_prob for row in rows] for rows in beams], device=src.device)
        totals = log_probs[:, :, None] + step_log_probs
        found = _best(totals, 2 * width)
        for (i, row, piece), log_prob in zip(asked, totals[is_asked].tolist(), strict=True):
            found[i][row, piece] = log_prob

        # 3. Each sentence deals its rows out to the banks, and leaves the batch when it is done.
        goes_on = [i for i, s in enumerate(live) if searches[s].goes_on(found[i], length)]
        if not goes_on:
            break
        live = [live[i] for i in goes_on]
        chosen = [i * width + row.from_row for i, s in zip(goes_on, live, strict=True) for row in searches[s].rows]
        state = state.select(torch.tensor(chosen, device=src.device))

    return [sorted(search.finished, key=rank)[:beam] for search in searches]


def _places(places: list[tuple[int, int, int]], device: torch.device) -> tuple[Tensor, ...]:
    """(sentence, row, piece) as an index into a tensor (B, N, V)."""
    return tuple(torch.tensor(places, dtype=torch.long, device=device).view(-1, 3).T)


def _best(totals: Tensor, num_best: int) -> list[dict[tuple[int, int], float]]:
    """The log-probabilities of the best (row, piece) of each sentence, and of the best piece of each row."""
    vocab_size = totals.size(-1)
    best, places = totals.flatten(1).topk(min(num_best, totals[0].numel()), dim=1)
    found: list[dict[tuple[int, int], float]] = [
        {divmod(place, vocab_size): log_prob for place, log_prob in zip(*of_sentence, strict=True)}
        for of_sentence in zip(places.tolist(), best.tolist(), strict=True)
    ]
    best_of_row, piece_of_row = totals.max(dim=-1)
    for of_sentence, log_probs, pieces in zip(found, best_of_row.tolist(), piece_of_row.tolist(), strict=True):
        of_sentence.update(zip(enumerate(pieces), log_probs, strict=True))
    return found


@dataclass(frozen=True)
class Row:
    """A hypothesis in the beam."""

    ids: list[int]  # with the begin mark
    log_prob: float
    readings: Readings
    num_missing: int  # pieces of terms
    term_log_probs: tuple[float, ...] = ()  # of each piece that was said for a term
    from_row: int = 0  # which row of the beam before it continues


class _Search:
    """The search of one sentence: its beam, and what has finished."""

    def __init__(self, terms: Terms, max_length: int, src_length: int, beam: int, alpha: float) -> None:
        self.terms = terms
        self.max_length = max_length
        self.beam = beam
        self.width = beam + terms.num_pieces
        self.alpha = alpha
        self.penalty_of_terms = length_penalty(src_length, alpha)  # the same wherever they are said
        self.finished: list[Hypothesis] = []
        self.rows: list[Row] = []
        self._fill([Row([BOS_ID], 0.0, terms.start, terms.num_pieces)])

    def asked(self) -> list[tuple[int, int]]:
        """The (row, piece) that would begin a term or go on with one."""
        return [
            (n, piece)
            for n, row in enumerate(self.rows)
            if math.isfinite(row.log_prob)
            for piece in self.terms.next_pieces(row.readings)
        ]

    def not_next(self) -> Iterator[tuple[int, list[int]]]:
        """Of each row, the pieces that would make another word of a term just said."""
        for n, row in enumerate(self.rows):
            if pieces := self.terms.not_next(row.readings):
                yield n, list(pieces)

    def goes_on(self, found: dict[tuple[int, int], float], length: int) -> bool:
        """Make the next beam of the (row, piece) that were found; False when the sentence is done.

        What could no longer say its terms is left out. What ends among the rows of a beam is finished, and the best of
        what does not end live on.
        """
        candidates = sorted(
            (self._continue(*place, log_prob) for place, log_prob in found.items() if math.isfinite(log_prob)),
            key=lambda row: -row.log_prob,
        )
        candidates = [row for row in candidates if row.num_missing <= self.max_length - length]
        for row in _deal(candidates, self.width):
            if row.ids[-1] == EOS_ID:
                self.finished.append(Hypothesis(row.ids[1:-1], row.log_prob, self._score(row)))
        alive = _deal([row for row in candidates if row.ids[-1] != EOS_ID], self.width)
        if not alive or self._has_enough(alive):
            return False
        if length == self.max_length:
            for row in alive[: max(0, self.beam - len(self.finished))]:
                self.finished.append(Hypothesis(row.ids[1:], row.log_prob, self._score(row), is_complete=False))
            return False
        self._fill(alive)
        return True

    def _continue(self, from_row: int, piece: int, log_prob: float) -> Row:
        row = self.rows[from_row]
        readings = row.readings if piece == EOS_ID else self.terms.advance(row.readings, piece)
        num_missing = self.terms.num_missing(readings)
        paid = (*row.term_log_probs, log_prob - row.log_prob)  # without the last, if it was not for a term; and
        paid = paid[: self.terms.num_pieces - num_missing]  # without those of a term that was broken off
        return Row([*row.ids, piece], log_prob, readings, num_missing, paid, from_row)

    def _has_enough(self, alive: list[Row]) -> bool:
        """Whether enough has ended, and nothing that still misses a term is ahead of all that ended."""
        if len(self.finished) < self.width:
            return False
        leading = max((self._score(row) for row in alive if row.num_missing), default=-math.inf)
        return max(hypothesis.score for hypothesis in self.finished) >= leading

    def _score(self, row: Row) -> float:
        """Log-probability over the length penalty, for the terms and for all else."""
        of_terms = sum(row.term_log_probs)
        num_others = len(row.ids) - 1 - len(row.term_log_probs)
        return (row.log_prob - of_terms) / length_penalty(num_others, self.alpha) + of_terms / self.penalty_of_terms

    def _fill(self, rows: list[Row]) -> None:
        """Rows that nothing lives in repeat the first, with no probability."""
        self.rows = rows + [replace(rows[0], log_prob=-math.inf)] * (self.width - len(rows))


def _deal(rows: list[Row], num_rows: int) -> list[Row]:
    """The best of each bank in turn, beginning with the bank that misses least, until all rows are taken."""
    banks: dict[int, list[Row]] = {}
    for row in rows:
        banks.setdefault(row.num_missing, []).append(row)
    turns = ((turn, num_missing) for num_missing, bank in banks.items() for turn in range(len(bank)))
    return [banks[num_missing][turn] for turn, num_missing in sorted(turns)[:num_rows]]
