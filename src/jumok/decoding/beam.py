"""Beam search over any model of `models.interface`; a beam of one is greedy search.

Every live sentence has N rows side by side. Each step, every row is continued by every piece, the best 2N
continuations of a sentence are looked at, those among the best N that end become finished hypotheses, and the best N
that do not end live on. A sentence is done when N times the patience of its hypotheses have finished; its rows are
dropped and the rest goes on in a smaller batch.

Paper: Vaswani et al. 2017, section 6.1; Wu et al. 2016, section 7; Kasai et al. 2022 (patience).
Differs: Wu et al. prune what falls too far behind the best; here a sentence stops after so many ends, as in
CTranslate2, so that both engines say the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from jumok.decoding.hypothesis import Hypothesis, rank
from jumok.decoding.length_penalty import length_penalty
from jumok.decoding.rules import Rules
from jumok.models.interface import TranslationModel
from jumok.text.tokenizer import BOS_ID, EOS_ID


@dataclass(frozen=True)
class BeamStep:
    """One step of a search, for who wants to watch it: the continuations that were looked at, best first."""

    live: list[int]  # the sentence of each group of N rows
    totals: Tensor  # (B, 2N) log-probability of each continuation, its past included
    from_row: Tensor  # (B, 2N) which row of its sentence it continues
    piece: Tensor  # (B, 2N)
    before: Tensor  # (B, N) log-probability of each row before the step
    keep: Tensor  # (B, N) places of those that live on


@torch.inference_mode()
def beam_search(
    model: TranslationModel,
    src: Tensor,
    beam: int,
    alpha: float,
    max_lengths: list[int],
    rules: Rules | None = None,
    patience: float = 1.0,
    watch: Callable[[BeamStep], None] | None = None,
) -> list[list[Hypothesis]]:
    """The N best translations of each source row (B, S), best first, those that were cut off after the others.

    `max_lengths` limits each sentence's pieces; a hypothesis that reaches it is cut off and marked so. `watch` is told
    of every step.
    """
    rules = rules or Rules()
    num_sentences, num_enough = src.size(0), math.floor(beam * patience + 0.5)
    finished: list[list[Hypothesis]] = [[] for _ in range(num_sentences)]
    live = list(range(num_sentences))  # which sentence each group of N rows belongs to
    rows = torch.arange(num_sentences, device=src.device).repeat_interleave(beam)
    state = model.start(src).select(rows)
    ids = torch.full((num_sentences, beam, 1), BOS_ID, device=src.device)  # (B, N, length + 1)
    log_probs = torch.full((num_sentences, beam), -math.inf, device=src.device)
    log_probs[:, 0] = 0.0  # all rows are alike at first: only one may be continued

    for length in range(1, max(max_lengths) + 1):
        # 1. Continue every row by every piece.
        step_log_probs, state = model.step(ids[:, :, -1].flatten(), state)
        vocab_size = step_log_probs.size(-1)
        step_log_probs = step_log_probs.view(len(live), beam, vocab_size)  # (B·N, V) -> (B, N, V)
        rules.apply(step_log_probs, ids, live)
        totals = step_log_probs.add_(log_probs[:, :, None])

        # 2. The best 2N continuations of each sentence: even if N of them end, N remain.
        best, places = totals.flatten(1).topk(min(2 * beam, beam * vocab_size), dim=1)  # (B, 2N)
        from_row, piece = places // vocab_size, places % vocab_size
        is_end = piece == EOS_ID

        # 3. Those among the best N that end are finished.
        _collect(finished, live, ids, best, from_row, is_end, beam, length, alpha)

        # 4. The best N that do not end live on.
        keep = _first_not_ended(is_end, beam)
        if watch is not None:
            watch(BeamStep(live, best, from_row, piece, log_probs, keep))
        log_probs = best.gather(1, keep)
        from_row, piece = from_row.gather(1, keep), piece.gather(1, keep)
        ids = torch.cat((ids.gather(1, from_row[:, :, None].expand(-1, -1, length)), piece[:, :, None]), dim=2)

        # 5. Sentences that are done leave the batch.
        goes_on = []
        for i, sentence in enumerate(live):
            if len(finished[sentence]) >= num_enough:
                continue
            if length >= max_lengths[sentence]:
                _cut_off(finished[sentence], ids[i], log_probs[i], length, alpha, beam)
                continue
            goes_on.append(i)
        if not goes_on:
            break
        going = torch.tensor(goes_on, device=src.device)
        rows = (torch.arange(len(live), device=src.device)[:, None] * beam + from_row)[going].flatten()
        state = state.select(rows)
        live, ids, log_probs = [live[i] for i in goes_on], ids[going], log_probs[going]

    return [sorted(hypotheses, key=rank)[:beam] for hypotheses in finished]


def _collect(
    finished: list[list[Hypothesis]],
    live: list[int],
    ids: Tensor,
    best: Tensor,
    from_row: Tensor,
    is_end: Tensor,
    beam: int,
    length: int,
    alpha: float,
) -> None:
    """Add what ended among the best N of each sentence."""
    ended = is_end[:, :beam] & best[:, :beam].isfinite()
    sentence, place = ended.nonzero(as_tuple=True)
    words = ids[sentence, from_row[sentence, place], 1:].tolist()
    for i, log_prob, pieces in zip(sentence.tolist(), best[sentence, place].tolist(), words, strict=True):
        finished[live[i]].append(Hypothesis(pieces, log_prob, log_prob / length_penalty(length, alpha)))


def _first_not_ended(is_end: Tensor, beam: int) -> Tensor:
    """Places of the best N continuations that do not end, in order."""
    order = torch.arange(is_end.size(1), device=is_end.device)
    return torch.where(is_end, order + is_end.size(1), order).topk(beam, dim=1, largest=False, sorted=True).indices


def _cut_off(
    hypotheses: list[Hypothesis], ids: Tensor, log_probs: Tensor, length: int, alpha: float, beam: int
) -> None:
    """Fill up with unfinished hypotheses where the length limit came first; finished ones rank before them."""
    for row, log_prob in zip(ids.tolist(), log_probs.tolist(), strict=True):
        if len(hypotheses) < beam and math.isfinite(log_prob):
            score = log_prob / length_penalty(length, alpha)
            hypotheses.append(Hypothesis(row[1:], log_prob, score, is_complete=False))
