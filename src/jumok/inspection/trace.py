"""What every head did, recorded by the very code that trains and translates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from jumok.data.batching import Batch, collate
from jumok.models import TranslationModel
from jumok.models.transformer import Transformer
from jumok.nn.attention import Attended
from jumok.text.tokenizer import Tokenizer

Array = NDArray[np.float32]


@dataclass(frozen=True)
class HeadRecord:
    """Equation 1 of one head, step by step."""

    q: Array  # (Q, K)
    k: Array  # (M, K)
    v: Array  # (M, K)
    scores: Array  # (Q, M) q·k, before they are divided and masked
    visible: NDArray[np.bool_]  # (Q, M) what the mask lets through
    weights: Array  # (Q, M)
    context: Array  # (Q, K) weights · v


@dataclass(frozen=True)
class AttentionRecord:
    """One attention of one layer: the weights of every head, and for a Transformer all that led to them."""

    weights: Array  # (H, Q, M)
    attended: Attended | None = None  # of one sentence

    def head(self, number: int) -> HeadRecord:
        """One head, counted from 0."""
        assert self.attended is not None, "only a Transformer has queries, keys and values"
        return HeadRecord(*(part[0, number].float().cpu().numpy() for part in self.attended))


@dataclass(frozen=True)
class AttentionTrace:
    """The attentions of one sentence pair, layer by layer; a model has those of the three that it has."""

    src_pieces: list[str]  # with </s>
    tgt_in_pieces: list[str]  # what the decoder read: <s> and the target
    tgt_out_pieces: list[str]  # what it had to say: the target and </s>
    encoder: list[AttentionRecord]  # source looks at source
    decoder: list[AttentionRecord]  # target (as read) looks at target (as read)
    cross: list[AttentionRecord]  # target looks at source


def trace_attention(
    model: TranslationModel, src_tokenizer: Tokenizer, tgt_tokenizer: Tokenizer, source: str, target: str
) -> AttentionTrace:
    """Run one teacher-forced pass over a sentence and its translation, and keep all that was attended to."""
    src_ids, tgt_ids = src_tokenizer.encode([source])[0], tgt_tokenizer.encode([target])[0]
    batch = collate([src_ids], [tgt_ids]).to(next(model.parameters()).device)
    return trace_batch(model, src_tokenizer, tgt_tokenizer, batch)


@torch.inference_mode()
def trace_batch(
    model: TranslationModel, src_tokenizer: Tokenizer, tgt_tokenizer: Tokenizer, batch: Batch
) -> AttentionTrace:
    """The same for a batch of one pair."""
    was_training = model.training
    model.eval()
    try:
        records = _records(model, batch)
    finally:
        model.train(was_training)
    return AttentionTrace(
        src_tokenizer.id_to_piece(batch.src[0].tolist()),
        tgt_tokenizer.id_to_piece(batch.tgt_in[0].tolist()),
        tgt_tokenizer.id_to_piece(batch.tgt_out[0].tolist()),
        *records,
    )


def _records(model: TranslationModel, batch: Batch) -> tuple[list[AttentionRecord], ...]:
    """Of encoder, decoder and cross-attention."""
    if isinstance(model, Transformer):
        _, notes = model.forward_with_notes(batch.src, batch.tgt_in)
        attended = (
            [layer.attended[0] for layer in notes.encoder],
            [layer.attended[0] for layer in notes.decoder],
            [layer.attended[1] for layer in notes.decoder],
        )
        return tuple([AttentionRecord(_array(one.weights), one) for one in layers] for layers in attended)
    _, weights = model.forward_with_weights(batch.src, batch.tgt_in)
    return tuple(
        [AttentionRecord(_array(one)) for one in layers] for layers in (weights.encoder, weights.decoder, weights.cross)
    )


def _array(weights: torch.Tensor) -> Array:
    array: Array = weights[0].float().cpu().numpy()
    return array
