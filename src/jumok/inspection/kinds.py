"""The three attentions of a Transformer: whose weights, and which pieces look at which."""

from __future__ import annotations

from typing import Literal

from jumok.inspection.trace import AttentionTrace, Weights

Kind = Literal["encoder", "decoder", "cross"]


def weights_of(trace: AttentionTrace, kind: Kind) -> Weights:
    """The weights of one of the three attentions."""
    return {"encoder": trace.encoder, "decoder": trace.decoder, "cross": trace.cross}[kind]


def pieces_of(trace: AttentionTrace, kind: Kind) -> tuple[list[str], list[str]]:
    """The pieces that look (rows) and those that are looked at (columns)."""
    return {
        "encoder": (trace.src_pieces, trace.src_pieces),
        "decoder": (trace.tgt_in_pieces, trace.tgt_in_pieces),
        "cross": (trace.tgt_out_pieces, trace.src_pieces),
    }[kind]
