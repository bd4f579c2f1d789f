"""What every head looked at, recorded by the very code that trains and translates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from jumok.data.batching import collate
from jumok.errors import UsageError
from jumok.models import TranslationModel
from jumok.models.transformer import Transformer
from jumok.text.tokenizer import Tokenizer

Weights = list[NDArray[np.float32]]  # one array (H, Q, M) a layer


@dataclass(frozen=True)
class AttentionTrace:
    """The attention weights of one sentence pair, layer by layer and head by head."""

    src_pieces: list[str]  # with </s>
    tgt_in_pieces: list[str]  # what the decoder read: <s> and the target
    tgt_out_pieces: list[str]  # what it had to say: the target and </s>
    encoder: Weights  # source looks at source
    decoder: Weights  # target (as read) looks at target (as read)
    cross: Weights  # target looks at source


@torch.inference_mode()
def trace_attention(
    model: TranslationModel, src_tokenizer: Tokenizer, tgt_tokenizer: Tokenizer, source: str, target: str
) -> AttentionTrace:
    """Run one teacher-forced pass over a sentence and its translation, and keep all weights."""
    if not isinstance(model, Transformer):
        raise UsageError("attention can be traced in a Transformer only")
    src_ids, tgt_ids = src_tokenizer.encode([source])[0], tgt_tokenizer.encode([target])[0]
    batch = collate([src_ids], [tgt_ids]).to(next(model.parameters()).device)
    was_training = model.training
    model.eval()
    _, weights = model.forward_with_weights(batch.src, batch.tgt_in)
    model.train(was_training)
    return AttentionTrace(
        src_pieces=src_tokenizer.id_to_piece(batch.src[0].tolist()),
        tgt_in_pieces=tgt_tokenizer.id_to_piece(batch.tgt_in[0].tolist()),
        tgt_out_pieces=tgt_tokenizer.id_to_piece(batch.tgt_out[0].tolist()),
        encoder=[layer[0].cpu().numpy() for layer in weights.encoder],
        decoder=[layer[0].cpu().numpy() for layer in weights.decoder],
        cross=[layer[0].cpu().numpy() for layer in weights.cross],
    )
