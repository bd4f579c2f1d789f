"""A traced pass is the same pass, and its weights are weights."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from jumok.data.batching import collate
from jumok.errors import UsageError
from jumok.inspection.trace import AttentionTrace, trace_attention
from jumok.models import TranslationModel
from jumok.models.transformer import Transformer
from jumok.text.tokenizer import Tokenizer


def test_traced_pass_agrees_with_plain_pass(model: TranslationModel, tokenizer: Tokenizer) -> None:
    assert isinstance(model, Transformer)
    sources, targets = ["어제 카페에 갔어요.", "어제"], ["I like the park.", "I see."]  # the second is padded
    batch = collate(tokenizer.encode(sources), tokenizer.encode(targets))
    with torch.inference_mode():
        plain = model(batch.src, batch.tgt_in)
        traced, _ = model.forward_with_weights(batch.src, batch.tgt_in)
    has_word = batch.tgt_out != 0
    torch.testing.assert_close(traced[has_word], plain[has_word], atol=1e-5, rtol=0)


def test_rows_sum_to_one(trace: AttentionTrace) -> None:
    for weights in (*trace.encoder, *trace.decoder, *trace.cross):
        np.testing.assert_allclose(weights.sum(axis=-1), 1, atol=1e-5)


def test_shapes_are_heads_by_looking_by_looked_at(trace: AttentionTrace) -> None:
    num_src, num_tgt = len(trace.src_pieces), len(trace.tgt_in_pieces)
    assert [layer.shape for layer in trace.encoder] == [(4, num_src, num_src)] * 3
    assert [layer.shape for layer in trace.decoder] == [(4, num_tgt, num_tgt)] * 2
    assert [layer.shape for layer in trace.cross] == [(4, num_tgt, num_src)] * 2


def test_decoder_never_looks_ahead(trace: AttentionTrace) -> None:
    for weights in trace.decoder:
        assert (weights[:, *np.triu_indices(weights.shape[-1], k=1)] == 0).all()


def test_pieces_of_target_are_shifted_by_one(trace: AttentionTrace) -> None:
    assert trace.src_pieces[-1] == "</s>"
    assert trace.tgt_in_pieces[0] == "<s>"
    assert trace.tgt_out_pieces == [*trace.tgt_in_pieces[1:], "</s>"]


def test_another_model_is_refused(tokenizer: Tokenizer) -> None:
    with pytest.raises(UsageError, match="attention can be traced in a Transformer only"):
        trace_attention(torch.nn.Linear(1, 1), tokenizer, tokenizer, "a", "b")  # type: ignore[arg-type]
