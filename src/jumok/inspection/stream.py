"""The residual stream: its size after every sub-layer, and what two kinds of norm make of the same batch."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from jumok.inspection.subject import Pair, Subject
from jumok.nn.normalization import BatchNorm, LayerNorm


@dataclass(frozen=True)
class StreamPoint:
    """The stream after one sub-layer, over all positions and numbers of a sentence."""

    name: str
    mean: float
    variance: float
    rms: float


@torch.inference_mode()
def stream_of(subject: Subject, pair: Pair) -> dict[str, list[StreamPoint]]:
    """From the embeddings on, through encoder and decoder."""
    _, notes = subject.transformer.forward_with_notes(pair.batch.src, pair.batch.tgt_in)
    points = {
        "encoder": [_point("embedding", notes.src_embedded)],
        "decoder": [_point("embedding", notes.tgt_embedded)],
    }
    names = {
        "encoder": ("self-attention", "feed-forward"),
        "decoder": ("self-attention", "cross-attention", "feed-forward"),
    }
    for side, layers in (("encoder", notes.encoder), ("decoder", notes.decoder)):
        for number, layer in enumerate(layers, 1):
            points[side] += [_point(f"{number} {name}", x) for name, x in zip(names[side], layer.stream, strict=True)]
    return points


def _point(name: str, x: Tensor) -> StreamPoint:
    x = x.float()
    return StreamPoint(name, float(x.mean()), float(x.var(correction=0)), float(x.square().mean().sqrt()))


@dataclass(frozen=True)
class NormComparison:
    """How much a sentence's normalised vectors change when other sentences stand beside it in the batch."""

    layer_norm_change: float
    batch_norm_change: float
    batch_mean_alone: float
    batch_mean_beside: float


@torch.inference_mode()
def compare_norms(subject: Subject, pair: Pair, others: list[list[int]]) -> NormComparison:
    """Normalise the embedded sentence alone, and again with other sources beside it, padded to the longest."""
    model = subject.transformer
    rows = [pair.src_ids, *others]
    width = max(map(len, rows))
    padded = torch.tensor([row + [model.pad_id] * (width - len(row)) for row in rows], device=subject.device)
    alone, beside = (model.src_position(model.src_embedding(ids)) for ids in (padded[:1, : len(pair.src_ids)], padded))
    layer_norm, batch_norm = LayerNorm(alone.size(-1)).to(alone), BatchNorm(alone.size(-1)).to(alone).train()
    changes = [
        float((norm(beside)[:1, : len(pair.src_ids)] - norm(alone)).abs().max()) for norm in (layer_norm, batch_norm)
    ]
    return NormComparison(changes[0], changes[1], float(alone.mean()), float(beside.mean()))
