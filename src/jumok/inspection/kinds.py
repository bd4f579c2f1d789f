"""The three attentions of a Transformer: whose weights, and which pieces look at which."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from jumok.inspection.trace import AttentionTrace

Kind = Literal["encoder", "decoder", "cross"]
KINDS: tuple[Kind, ...] = ("cross", "encoder", "decoder")
Weights = list[NDArray[np.float32]]  # one array (H, Q, M) a layer


def kinds_of(trace: AttentionTrace) -> list[Kind]:
    """Those of the three that a model has; cross-attention, which tells most, comes first."""
    return [kind for kind in KINDS if weights_of(trace, kind)]


def weights_of(trace: AttentionTrace, kind: Kind) -> Weights:
    """The weights of one of the three attentions; empty where a model does not have it."""
    records = {"encoder": trace.encoder, "decoder": trace.decoder, "cross": trace.cross}[kind]
    return [record.weights for record in records]


def pieces_of(trace: AttentionTrace, kind: Kind) -> tuple[list[str], list[str]]:
    """The pieces that look (rows) and those that are looked at (columns)."""
    return {
        "encoder": (trace.src_pieces, trace.src_pieces),
        "decoder": (trace.tgt_in_pieces, trace.tgt_in_pieces),
        "cross": (trace.tgt_out_pieces, trace.src_pieces),
    }[kind]
