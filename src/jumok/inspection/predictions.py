"""What the model would say at each position, and how sure it is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from jumok.decoding.rules import Rules
from jumok.inspection.labels import label_pieces
from jumok.inspection.subject import Pair, Subject
from jumok.text.tokenizer import BOS_ID, EOS_ID


@dataclass(frozen=True)
class Candidate:
    """A piece that could be said, and how likely it is."""

    piece: int
    label: str
    probability: float


@dataclass(frozen=True)
class Prediction:
    """One position: the likeliest pieces, the piece that stands there, the uncertainty in bits."""

    top: list[Candidate]
    gold: Candidate
    entropy: float


def predictions(subject: Subject, pair: Pair, num_candidates: int = 5) -> list[Prediction]:
    """Of every position of the target, the end mark included, each under the pieces before it."""
    log_probs = subject.log_probs(pair)
    return describe(subject, log_probs, pair.batch.tgt_out[0], num_candidates)


def describe(subject: Subject, log_probs: Tensor, tgt_out: Tensor, num_candidates: int) -> list[Prediction]:
    """The same from log-probabilities (T, V)."""
    best, pieces = log_probs.topk(min(num_candidates, log_probs.size(-1)), dim=-1)
    of_gold = log_probs.gather(1, tgt_out[:, None])[:, 0].exp().tolist()
    entropies = (-(log_probs.exp() * log_probs).nan_to_num(0.0).sum(dim=-1) / math.log(2)).tolist()
    return [
        Prediction(
            [candidate(subject, i, p) for i, p in zip(row, of_row, strict=True)], candidate(subject, gold, p_gold), bits
        )
        for row, of_row, gold, p_gold, bits in zip(
            pieces.tolist(), best.exp().tolist(), tgt_out.tolist(), of_gold, entropies, strict=True
        )
    ]


def candidate(subject: Subject, piece: int, probability: float) -> Candidate:
    """A piece with the label that a person reads."""
    return Candidate(piece, label_of(subject, piece), probability)


def label_of(subject: Subject, piece: int) -> str:
    """A target piece by its id as a person reads it."""
    return label_pieces(subject.tgt_tokenizer.id_to_piece([piece]))[0]


@dataclass(frozen=True)
class Said:
    """One step of a lane: what was read last, what is said then."""

    reads: str
    says: Candidate


def free_run(subject: Subject, src_ids: list[int], begin: Sequence[int] = ()) -> tuple[list[Said], list[int]]:
    """Greedy prediction, each piece under the model's own before it; the first ones (ids) can be put in its mouth.

    Returns what was said, the end mark included, and the ids without it.
    """
    rules = Rules.of(subject.config.decoding, [begin])
    said: list[Said] = []
    ids = [BOS_ID]
    with torch.inference_mode():
        state = subject.model.start(subject.pair_of_ids(src_ids, []).batch.src)
        for _ in range(subject.max_tgt_length(src_ids, len(begin))):
            so_far = torch.tensor([[ids]], device=subject.device)
            log_probs, state = subject.model.step(so_far[0, :, -1], state)
            rules.apply(log_probs[None], so_far, live=[0])
            piece = int(log_probs[0].argmax())
            of_piece = candidate(subject, piece, float(log_probs[0, piece].exp()))
            said.append(Said(label_of(subject, ids[-1]), of_piece))
            if piece == EOS_ID:
                break
            ids.append(piece)
    return said, ids[1:]
