"""What is special about Deep-Att; what holds for every architecture is in tests/properties/test_architectures.py."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from jumok.architectures.deep_att import DeepAttConfig
from jumok.evaluation.cost import forward_flops
from jumok.models.deep_att import DeepAtt
from jumok.models.interface import BatchShape
from jumok.nn.attending_layer import AttendingLayer
from jumok.text.tokenizer import PAD_ID

SRC, TGT = torch.tensor([[5, 6, 7, 8, 3], [9, 5, 3, PAD_ID, PAD_ID]]), torch.tensor([[2, 8, 9], [2, 4, PAD_ID]])


def _model(vocab_size: int = 23, **changes: Any) -> DeepAtt:
    torch.manual_seed(0)
    config = DeepAttConfig(**{"d_model": 8, "encoder_layers": 3, "decoder_layers": 3, "dropout": 0.0, **changes})
    return DeepAtt(config, vocab_size, vocab_size, PAD_ID).eval()


def _silence(weights: list[torch.Tensor]) -> None:
    with torch.no_grad():
        for weight in weights:
            weight.zero_()


@pytest.mark.parametrize(("number", "directions"), [(0, [False, True, False]), (1, [True, False, True])])
def test_a_columns_directions_alternate_and_the_two_columns_begin_differently(number, directions):
    column = _model().columns[number]
    assert [column.is_backward(k) for k in range(3)] == directions


@pytest.mark.parametrize(("number", "unmoved"), [(0, slice(0, 2)), (1, slice(3, 5))])
@torch.no_grad()
def test_a_column_of_one_layer_sees_one_side_only(number, unmoved):
    column = _model(encoder_layers=1).columns[number]
    x = torch.randn(1, 5, 8)
    changed = x.clone()
    changed[0, 2] += 1
    is_word = torch.ones(1, 5, dtype=torch.bool)
    (_, before), (_, after) = column(x, is_word), column(changed, is_word)
    moved = (before != after).any(dim=-1)[0]
    assert not moved[unmoved].any()
    assert moved.sum() == 3


@torch.no_grad()
def test_a_column_of_two_layers_sees_both_sides():
    for column in _model(encoder_layers=2).columns:
        x = torch.randn(1, 5, 8)
        changed = x.clone()
        changed[0, 2] += 1
        is_word = torch.ones(1, 5, dtype=torch.bool)
        assert (column(x, is_word)[1] != column(changed, is_word)[1]).any(dim=-1).all()


@torch.no_grad()
def test_a_layers_input_is_half_of_f_and_h_of_the_layer_below():
    column = _model(encoder_layers=2).columns[0]
    lower, upper = column.layers
    x, is_word = torch.randn(1, 4, 8), torch.ones(1, 4, dtype=torch.bool)
    handed_up = torch.cat([lower.project(x)[..., :16], lower(x)[0]], dim=-1)
    f, h = column(x, is_word)
    torch.testing.assert_close(f, handed_up @ upper.input_weight.t() + upper.input_bias)
    torch.testing.assert_close(h, upper(handed_up, is_backward=True)[0])


def test_without_any_recurrent_output_the_fast_forward_path_still_carries_the_source_to_the_top():
    model = _model()
    # Nothing of h reaches the layer above, and nothing of a state its successor: what is left is f.
    for column in model.columns:
        _silence([layer.state_weight.data for layer in column.layers])
        _silence([layer.input_weight.data[:, 16:] for layer in list(column.layers)[1:]])
        x = torch.randn(1, 4, 8, requires_grad=True)
        f, _ = column(x, torch.ones(1, 4, dtype=torch.bool))
        f[0, 1].sum().backward()
        assert x.grad[0, 1].all()
        assert not x.grad[0, [0, 2, 3]].any()  # the path is that of a single word
        first, second, third = (layer.input_weight.detach() for layer in column.layers)
        matrices = third[:, :16] @ second[:16, :16] @ first[:16]  # linear from bottom to top
        torch.testing.assert_close(x.grad[0, 1], matrices.sum(dim=0))


@torch.no_grad()
def test_the_fast_forward_path_carries_the_target_to_the_hidden_vectors():
    model = _model()
    _silence([layer.input_weight[:, 16:] for layer in model.above])  # h goes no further than its own layer
    _silence([model.join_top.weight[:, 32:]])  # and not to the output
    hidden, other = model(SRC[:1], TGT[:1]), model(SRC[:1], torch.tensor([[2, 10, 9]]))
    assert (hidden[0, 1] != other[0, 1]).any()


@torch.no_grad()
def test_the_memory_is_a_quarter_of_both_columns_f_and_h():
    model = _model()
    source = model._encode(SRC[:1])
    x, is_word = model.src_embedding(SRC[:1]), SRC[:1] != PAD_ID
    joined = torch.cat([part for column in model.columns for part in column(x, is_word)], dim=-1)
    assert joined.shape[-1] == 2 * (32 + 8)
    assert source.memory.shape == (1, 5, 20)
    torch.testing.assert_close(source.memory, joined @ model.join_columns.weight.t())


@torch.no_grad()
def test_the_attending_layer_asks_with_its_last_output_and_takes_the_answer_as_input():
    torch.manual_seed(0)
    layer = AttendingLayer("lstm", 3, 6, 4)
    memory, is_word = torch.randn(2, 5, 6), torch.tensor([[True] * 5, [True] * 3 + [False] * 2])
    x, source = torch.randn(2, 3, 3), layer.read(memory, is_word)
    attended = layer(x, source)
    state = layer.recurrent.start(2)
    for t in range(3):
        context, attn_weights = layer.attention(state[0][:, None], source.keys, memory, is_word)
        together = torch.cat([x[:, t], context[:, 0]], dim=-1)
        torch.testing.assert_close(attended.attn_weights[:, t], attn_weights[:, 0])
        torch.testing.assert_close(attended.context[:, t], context[:, 0])
        torch.testing.assert_close(attended.gates[:, t], layer.recurrent.project(together))
        state = layer.recurrent.step(together, state)
        torch.testing.assert_close(attended.output[:, t], state[0])


@torch.no_grad()
def test_weights_sum_to_one_and_are_zero_on_padding():
    hidden, weights = _model().forward_with_weights(SRC, TGT)
    (cross,) = weights.cross
    assert hidden.shape == (2, 3, 8)
    assert cross.shape == (2, 1, 3, 5)
    torch.testing.assert_close(cross.sum(-1), torch.ones(2, 1, 3))
    assert not cross[1, :, :, 3:].any()


def test_one_layer_of_width_two_by_hand():
    # d = 2, one source and one target token, four pieces. A column's layer: 4d·(d + d) = 32, two of them 64.
    # What joins the columns: 10d·2.5d = 20·5 = 100. Keys 5·2 = 10, query 2·2 = 4, score 2, context 5.
    # The decoder's layer: 4d·(d + 5 + d) = 8·9 = 72. What joins f and h: 5d·d = 20. Output: d·V = 8. Together 285.
    model = _model(vocab_size=4, d_model=2, encoder_layers=1, decoder_layers=1)
    assert forward_flops(model, BatchShape(1, 1, 1, 1, 1)) == 2 * 285


def test_the_second_layers_by_hand():
    # One more in each column and in the decoder: 4d·(2d + d + d) = 8·8 = 64 each.
    shape = BatchShape(1, 1, 1, 1, 1)
    one = _model(vocab_size=4, d_model=2, encoder_layers=1, decoder_layers=1)
    two = _model(vocab_size=4, d_model=2, encoder_layers=2, decoder_layers=2)
    assert two.multiply_adds(shape) - one.multiply_adds(shape) == 3 * 64


def test_tying_shares_as_many_matrices_as_it_says():
    for tie, count in (("three-way", 1), ("two-way", 2), ("none", 3)):
        model = _model(tie_embeddings=tie)
        matrices = (model.src_embedding.weight, model.tgt_embedding.weight, model.output_weight)
        assert len({matrix.data_ptr() for matrix in matrices}) == count


def test_dropout_is_on_embeddings_connections_and_output():
    model = _model(dropout=0.5).train()
    torch.manual_seed(1)
    first, second = model(SRC, TGT), model(SRC, TGT)
    assert not torch.allclose(first, second)
    assert (first == 0).float().mean() > 0.2
