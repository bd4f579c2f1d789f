"""What is special about GNMT; what holds for every architecture is in tests/properties/test_architectures.py."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from jumok.architectures.gnmt import GnmtConfig
from jumok.evaluation.cost import forward_flops
from jumok.models.gnmt import Gnmt
from jumok.models.interface import BatchShape
from jumok.text.tokenizer import PAD_ID

SRC, TGT = torch.tensor([[5, 6, 7, 8, 3], [9, 5, 3, PAD_ID, PAD_ID]]), torch.tensor([[2, 8, 9], [2, 4, PAD_ID]])


def _model(vocab_size: int = 23, **changes: Any) -> Gnmt:
    torch.manual_seed(0)
    config = GnmtConfig(**{"d_model": 8, "encoder_layers": 4, "decoder_layers": 4, "dropout": 0.0, **changes})
    return Gnmt(config, vocab_size, vocab_size, PAD_ID).eval()


def _silence(*layers: Any) -> None:
    """An LSTM layer of zeros puts out zeros."""
    with torch.no_grad():
        for layer in layers:
            for parameter in layer.parameters():
                parameter.zero_()


def _moved(encoder: Any) -> torch.Tensor:
    """Which of five positions of the memory are others when the third word is."""
    x = torch.randn(1, 5, 8)
    changed = x.clone()
    changed[0, 2] += 1
    is_word = torch.ones(1, 5, dtype=torch.bool)
    return (encoder(x, is_word) != encoder(changed, is_word)).any(dim=-1)[0]


@torch.no_grad()
def test_the_first_encoder_layer_sees_both_sides():
    encoder = _model(encoder_layers=1).encoder
    assert encoder.d_memory == 16
    assert _moved(encoder).all()
    _silence(encoder.first.backwards)
    assert _moved(encoder).tolist() == [False, False, True, True, True]


@torch.no_grad()
def test_the_layers_above_read_forwards():
    encoder = _model().encoder
    _silence(encoder.first.backwards)
    assert _moved(encoder).tolist() == [False, False, True, True, True]
    assert [layer.input_weight.shape[1] for layer in encoder.above] == [16, 8, 8]


@torch.no_grad()
def test_a_residual_connection_begins_at_the_third_layer_of_the_encoder():
    x, is_word = torch.randn(1, 5, 8), torch.ones(1, 5, dtype=torch.bool)
    encoder = _model().encoder
    second, third, fourth = encoder.above
    first = torch.cat([encoder.first.forwards(x)[0], encoder.first.backwards(x, is_backward=True)[0]], dim=-1)
    _silence(third, fourth)
    torch.testing.assert_close(encoder(x, is_word), second(first)[0])  # goes past the two above
    _silence(second)
    assert not encoder(x, is_word).any()  # nothing goes past the second


@torch.no_grad()
def test_a_residual_connection_begins_at_the_third_layer_of_the_decoder():
    model = _model()
    second, third, fourth = model.decoder.above
    x, source = torch.randn(2, 3, 8), model._encode(SRC)
    bottom = model.decoder.bottom(x, source)
    of_second, _ = second(torch.cat([bottom.output, bottom.context], dim=-1))
    of_third, _ = third(torch.cat([of_second, bottom.context], dim=-1))
    on_third = of_second + of_third
    of_fourth, _ = fourth(torch.cat([on_third, bottom.context], dim=-1))
    torch.testing.assert_close(model.decoder(x, source)[0], on_third + of_fourth)


@pytest.mark.parametrize("number", [0, 1, 2])
def test_the_context_reaches_every_layer_above_the_bottom(number):
    model = _model()
    layer = model.decoder.above[number]
    model(SRC, TGT).square().sum().backward()
    assert layer.input_weight.shape == (32, 8 + 8)
    assert layer.input_weight.grad[:, 8:].any(dim=0).all()


@torch.no_grad()
def test_the_top_layer_alone_still_sees_the_source():
    model = _model(decoder_layers=2)
    model.decoder.above[0].input_weight[:, :8] = 0  # nothing but the context
    other = SRC.clone()
    other[0, 1] = 10
    assert (model(SRC, TGT)[0] != model(other, TGT)[0]).any(dim=-1).all()


@torch.no_grad()
def test_attention_asks_with_the_bottom_output_of_the_step_before():
    model = _model()
    decoder, source = model.decoder, model._encode(SRC)
    bottom = decoder.bottom(model.tgt_embedding(TGT), source)
    _, weights = model.forward_with_weights(SRC, TGT)
    queries = torch.cat([torch.zeros(2, 1, 8), bottom.output[:, :-1]], dim=1)
    context, attn_weights = decoder.bottom.attention(queries, source.keys, source.memory, source.is_word)
    torch.testing.assert_close(weights.cross[0][:, 0], attn_weights)
    torch.testing.assert_close(bottom.context, context)
    # The piece read at a step has no say in what that step looks at; at the next it has.
    other = TGT.clone()
    other[0, 1] = 11
    _, of_other = model.forward_with_weights(SRC, other)
    assert torch.equal(weights.cross[0][0, 0, :2], of_other.cross[0][0, 0, :2])
    assert not torch.equal(weights.cross[0][0, 0, 2], of_other.cross[0][0, 0, 2])


@torch.no_grad()
def test_weights_sum_to_one_and_are_zero_on_padding():
    _, weights = _model().forward_with_weights(SRC, TGT)
    (cross,) = weights.cross
    assert cross.shape == (2, 1, 3, 5)
    torch.testing.assert_close(cross.sum(-1), torch.ones(2, 1, 3))
    assert not cross[1, :, :, 3:].any()


def test_stacks_of_width_two_by_hand():
    # d = 2, one source and one target token, four pieces. Encoder of two layers: the first twice 4d·(d + d) = 64, the
    # second 4d·(2d + d) = 48. Keys 4, query 4, score 2, context 2. Bottom of the decoder: 4d·(2d + d) = 48, and as
    # much for the layer above it. Output: d·V = 8. Together 228.
    model = _model(vocab_size=4, d_model=2, encoder_layers=2, decoder_layers=2)
    assert forward_flops(model, BatchShape(1, 1, 1, 1, 1)) == 2 * 228


def test_tying_shares_as_many_matrices_as_it_says():
    for tie, count in (("three-way", 1), ("two-way", 2), ("none", 3)):
        model = _model(tie_embeddings=tie)
        matrices = (model.src_embedding.weight, model.tgt_embedding.weight, model.output_weight)
        assert len({matrix.data_ptr() for matrix in matrices}) == count


def test_dropout_is_on_every_layers_output_but_not_on_what_goes_past_it():
    model = _model(dropout=0.5).train()
    hand_up = model.decoder.hand_up
    torch.manual_seed(1)
    below, output = torch.full((4, 100), 3.0), torch.ones(4, 100)
    assert set(hand_up(2, below, output).unique().tolist()) == {0.0, 2.0}
    assert set(hand_up(3, below, output).unique().tolist()) == {3.0, 5.0}
    assert not torch.allclose(model(SRC, TGT), model(SRC, TGT))
