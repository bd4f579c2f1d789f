"""A traced pass is the same pass, and its weights are weights."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from jumok.architectures.bahdanau import BahdanauConfig
from jumok.architectures.seq2seq import Seq2SeqConfig
from jumok.data.batching import collate
from jumok.errors import UsageError
from jumok.inspection.kinds import kinds_of
from jumok.inspection.trace import AttentionTrace, trace_attention
from jumok.models import TranslationModel, build_model
from jumok.models.transformer import Transformer
from jumok.text.tokenizer import PAD_ID, Tokenizer


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
    for weights in (record.weights for record in (*trace.encoder, *trace.decoder, *trace.cross)):
        np.testing.assert_allclose(weights.sum(axis=-1), 1, atol=1e-5)


def test_shapes_are_heads_by_looking_by_looked_at(trace: AttentionTrace) -> None:
    num_src, num_tgt = len(trace.src_pieces), len(trace.tgt_in_pieces)
    assert [layer.weights.shape for layer in trace.encoder] == [(4, num_src, num_src)] * 3
    assert [layer.weights.shape for layer in trace.decoder] == [(4, num_tgt, num_tgt)] * 2
    assert [layer.weights.shape for layer in trace.cross] == [(4, num_tgt, num_src)] * 2


def test_decoder_never_looks_ahead(trace: AttentionTrace) -> None:
    for weights in (record.weights for record in trace.decoder):
        assert (weights[:, *np.triu_indices(weights.shape[-1], k=1)] == 0).all()


def test_pieces_of_target_are_shifted_by_one(trace: AttentionTrace) -> None:
    assert trace.src_pieces[-1] == "</s>"
    assert trace.tgt_in_pieces[0] == "<s>"
    assert trace.tgt_out_pieces == [*trace.tgt_in_pieces[1:], "</s>"]


def test_a_traced_pass_is_the_plain_one_to_the_bit(model: TranslationModel, tokenizer: Tokenizer) -> None:
    batch = collate(tokenizer.encode(["어제 학교"]), tokenizer.encode(["카페 바다"]))
    with torch.inference_mode():
        hidden, notes = model.forward_with_notes(batch.src, batch.tgt_in)
        assert torch.equal(hidden, model(batch.src, batch.tgt_in))
    last = notes.decoder[-1].attended[1]
    torch.testing.assert_close(last.weights @ last.v, last.context, atol=1e-5, rtol=1e-4)


def test_one_head_step_by_step(model: TranslationModel, tokenizer: Tokenizer) -> None:
    head = trace_attention(model, tokenizer, tokenizer, "어제 학교", "카페 바다").decoder[0].head(1)
    scores = np.where(head.visible, head.q @ head.k.T / np.sqrt(head.q.shape[1]), -np.inf)
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    np.testing.assert_allclose(head.scores, head.q @ head.k.T, atol=1e-5)
    np.testing.assert_allclose(head.weights, powers / powers.sum(axis=1, keepdims=True), atol=1e-6)
    np.testing.assert_allclose(head.context, head.weights @ head.v, atol=1e-6)
    assert (head.visible == np.tri(len(head.visible), dtype=bool)).all()


def test_recurrent_attention_is_traced_too(tokenizer: Tokenizer) -> None:
    config = BahdanauConfig(d_model=8)
    model = build_model(config, tokenizer.vocab_size, tokenizer.vocab_size, PAD_ID)
    trace = trace_attention(model, tokenizer, tokenizer, "어제 학교", "카페")
    assert kinds_of(trace) == ["cross"]
    assert trace.cross[0].weights.shape == (1, len(trace.tgt_out_pieces), len(trace.src_pieces))
    np.testing.assert_allclose(trace.cross[0].weights.sum(-1), 1, atol=1e-6)


def test_a_model_without_attention_is_refused(tokenizer: Tokenizer) -> None:
    config = Seq2SeqConfig(d_model=8, encoder_layers=1, decoder_layers=1)
    model = build_model(config, tokenizer.vocab_size, tokenizer.vocab_size, PAD_ID)
    with pytest.raises(UsageError, match="^Seq2Seq has no attention to the source"):
        trace_attention(model, tokenizer, tokenizer, "a", "b")
