from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from jumok.nn.attention import KeyValue, MultiHeadAttention, scaled_dot_product_attention
from jumok.nn.masks import causal_mask, padding_mask


def test_equation_1_on_a_2x2_example_by_hand():
    # d_k = 1, so no scaling. Query 1 scores its two keys 0 and ln 3: weights 1/4 and 3/4. Query 2 scores both 0.
    q = torch.tensor([[1.0], [0.0]])
    k = torch.tensor([[0.0], [math.log(3)]])
    v = torch.tensor([[10.0], [20.0]])
    context, weights = scaled_dot_product_attention(q, k, v)
    torch.testing.assert_close(weights, torch.tensor([[0.25, 0.75], [0.5, 0.5]]))
    torch.testing.assert_close(context, torch.tensor([[17.5], [15.0]]))


def test_scores_are_divided_by_the_root_of_d_k():
    # d_k = 4: q·k = 2·ln 3 scaled by 1/2 is ln 3.
    q, k = torch.tensor([[1.0, 1.0, 0.0, 0.0]]), torch.tensor([[0.0] * 4, [math.log(3), math.log(3), 5.0, -7.0]])
    _, weights = scaled_dot_product_attention(q, k, torch.zeros(2, 4))
    torch.testing.assert_close(weights, torch.tensor([[0.25, 0.75]]))


def test_a_masked_key_has_weight_exactly_zero_and_the_rest_sums_to_one():
    q, k, v = (torch.randn(2, 3, 5, 4) for _ in range(3))
    mask = torch.rand(2, 1, 5, 5) < 0.5
    mask[..., 0] = True
    _, weights = scaled_dot_product_attention(q, k, v, mask)
    assert (weights[~mask.expand_as(weights)] == 0).all()
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(2, 3, 5))


@pytest.mark.parametrize("kind", ["none", "padding", "causal", "both"])
def test_equation_1_is_torchs_scaled_dot_product_attention(kind):
    torch.manual_seed(1)
    q, k, v = (torch.randn(2, 3, 6, 8) for _ in range(3))
    ids = torch.tensor([[5, 6, 7, 8, 9, 9], [5, 6, 7, 0, 0, 0]])
    mask = {
        "none": None,
        "padding": padding_mask(ids, 0),
        "causal": causal_mask(6),
        "both": padding_mask(ids, 0) & causal_mask(6),
    }[kind]
    ours, _ = scaled_dot_product_attention(q, k, v, mask)
    torch.testing.assert_close(ours, F.scaled_dot_product_attention(q, k, v, mask))


def _pair(bias: bool, num_heads: int = 4, d_model: int = 16) -> tuple[MultiHeadAttention, nn.MultiheadAttention]:
    """Ours and torch's with the same random weights."""
    torch.manual_seed(2)
    ours = MultiHeadAttention(d_model, num_heads, bias=bias).eval()
    theirs = nn.MultiheadAttention(d_model, num_heads, bias=bias, batch_first=True).eval()
    with torch.no_grad():
        for parameter in ours.parameters():
            parameter.normal_(std=0.5)
        theirs.in_proj_weight.copy_(ours.project_in.weight)
        theirs.out_proj.weight.copy_(ours.project_out.weight)
        if bias:
            theirs.in_proj_bias.copy_(ours.project_in.bias)
            theirs.out_proj.bias.copy_(ours.project_out.bias)
    return ours, theirs


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("return_notes", [False, True])
@pytest.mark.parametrize("kind", ["plain", "padding", "causal", "cross"])
def test_multi_head_attention_is_torchs_with_the_same_weights(bias, return_notes, kind):
    ours, theirs = _pair(bias)
    x, memory = torch.randn(3, 5, 16), torch.randn(3, 7, 16)
    is_padding = torch.zeros(3, 7 if kind == "cross" else 5, dtype=torch.bool)
    is_padding[1, 3:], is_padding[2, 1:] = True, True
    may_attend = ~is_padding[:, None, None, :]
    options = {"return_notes": return_notes}
    with torch.no_grad():
        match kind:
            case "plain":
                y, notes = ours(x, **options)
                expected, expected_weights = theirs(x, x, x, average_attn_weights=False)
            case "padding":
                y, notes = ours(x, mask=may_attend, **options)
                expected, expected_weights = theirs(x, x, x, key_padding_mask=is_padding, average_attn_weights=False)
            case "causal":
                y, notes = ours(x, is_causal=True, **options)
                expected, expected_weights = theirs(x, x, x, attn_mask=~causal_mask(5), average_attn_weights=False)
            case "cross":
                y, notes = ours(x, memory, may_attend, **options)
                expected, expected_weights = theirs(
                    x, memory, memory, key_padding_mask=is_padding, average_attn_weights=False
                )
    torch.testing.assert_close(y, expected, atol=1e-5, rtol=1e-5)
    if return_notes:
        torch.testing.assert_close(notes.weights, expected_weights, atol=1e-6, rtol=1e-5)
        torch.testing.assert_close(notes.weights @ notes.v, notes.context, atol=1e-5, rtol=1e-5)
    else:
        assert notes is None


def test_gradients_with_and_without_returned_weights_agree():
    attention, _ = _pair(bias=True)
    gradients = []
    x = torch.randn(2, 5, 16)
    for return_notes in (False, True):
        attention.zero_grad()
        attention(x, is_causal=True, return_notes=return_notes)[0].square().sum().backward()
        gradients.append([p.grad.clone() for p in attention.parameters()])
    torch.testing.assert_close(gradients[0], gradients[1], atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("bias", [False, True])
def test_keys_and_values_computed_once_give_the_same_as_the_memory_itself(bias):
    attention, _ = _pair(bias)
    x, memory, mask = torch.randn(2, 4, 16), torch.randn(2, 6, 16), torch.rand(2, 1, 1, 6) < 0.6
    mask[..., 0] = True
    direct, _ = attention(x, memory, mask)
    cached, _ = attention(x, attention.key_value(memory), mask)
    torch.testing.assert_close(cached, direct)


@pytest.mark.parametrize("bias", [False, True])
def test_query_and_key_value_are_the_parts_of_query_key_value(bias):
    attention, _ = _pair(bias)
    x = torch.randn(2, 4, 16)
    q, (k, v) = attention.query_key_value(x)
    torch.testing.assert_close(attention.query(x), q)
    torch.testing.assert_close(attention.key_value(x), KeyValue(k, v))
    assert q.shape == k.shape == v.shape == (2, 4, 4, 4)  # (B, H, T, K)


@pytest.mark.parametrize("bias", [False, True])
def test_one_position_at_a_time_with_a_cache_is_the_causal_pass(bias):
    attention, _ = _pair(bias)
    x = torch.randn(2, 6, 16)
    full, _ = attention(x, is_causal=True)
    past: KeyValue | None = None
    for t in range(6):
        q, new = attention.query_key_value(x[:, t : t + 1])
        past = new if past is None else KeyValue(*(torch.cat(pair, 2) for pair in zip(past, new, strict=True)))
        torch.testing.assert_close(attention.attend(q, past)[0][:, 0], full[:, t], atol=1e-5, rtol=1e-5)


def test_attention_dropout_acts_in_training_only():
    attention = MultiHeadAttention(16, 2, dropout=0.5)
    x = torch.randn(1, 8, 16)
    attention.eval()
    torch.testing.assert_close(attention(x)[0], attention(x)[0])
    attention.train()
    assert not torch.allclose(attention(x)[0], attention(x)[0])


def test_the_paper_has_no_biases_and_none_is_the_default():
    assert [name for name, _ in MultiHeadAttention(16, 2).named_parameters()] == [
        "project_in.weight",
        "project_out.weight",
    ]


# --- variants -----------------------------------------------------------------------------------------------------


def _two_keys_of_which_one_is_hidden(**options) -> tuple[torch.Tensor, torch.Tensor]:
    """Scores ln 3 and ln 5, values 10 and 20, the second key hidden."""
    q, k = torch.tensor([[1.0]]), torch.tensor([[math.log(3)], [math.log(5)]])
    return scaled_dot_product_attention(q, k, torch.tensor([[10.0], [20.0]]), torch.tensor([[True, False]]), **options)


def test_minus_infinity_leaves_nothing_of_what_is_hidden_by_hand():
    context, weights = _two_keys_of_which_one_is_hidden()
    assert weights.tolist() == [[1, 0]] and context.item() == 10


def test_zero_before_the_softmax_gives_what_is_hidden_the_weight_of_a_score_of_zero_by_hand():
    context, weights = _two_keys_of_which_one_is_hidden(masking="zero_before")  # e^ln 3 = 3, e^0 = 1
    torch.testing.assert_close(weights, torch.tensor([[0.75, 0.25]]))
    assert context.item() == pytest.approx(12.5)


def test_zero_after_the_softmax_leaves_weights_that_sum_to_less_than_one_by_hand():
    context, weights = _two_keys_of_which_one_is_hidden(masking="zero_after")  # 3 / (3 + 5)
    torch.testing.assert_close(weights, torch.tensor([[0.375, 0.0]]))
    assert context.item() == pytest.approx(3.75)


def test_unscaled_scores_are_the_products_themselves_by_hand():
    q, k = torch.ones(1, 4), torch.stack([torch.zeros(4), torch.full((4,), math.log(3) / 4)])
    _, weights = scaled_dot_product_attention(q, k, torch.zeros(2, 4), scale_scores=False)
    torch.testing.assert_close(weights, torch.tensor([[0.25, 0.75]]))


def test_unscaled_scores_saturate_the_softmax_as_d_k_grows():
    """Section 3.2.1: products of d_k random pairs have variance d_k; divided by √d_k it is 1."""
    torch.manual_seed(0)
    largest = {}
    for scale_scores in (True, False):
        q, k = torch.randn(200, 256), torch.randn(10, 256)
        _, weights = scaled_dot_product_attention(q, k, k, scale_scores=scale_scores)
        largest[scale_scores] = weights.max(dim=-1).values.mean().item()
    assert largest[True] < 0.5 and largest[False] > 0.9


@pytest.mark.parametrize("options", [{"scale_scores": False}, {"masking": "zero_before"}, {"masking": "zero_after"}])
@pytest.mark.parametrize("is_causal", [True, False])
def test_every_path_computes_the_variant(options, is_causal):
    torch.manual_seed(0)
    attention = MultiHeadAttention(16, 2, **options)
    x, mask = torch.randn(2, 5, 16), None if is_causal else torch.arange(5)[None, None, None] < 3
    visible = causal_mask(5) if is_causal else mask
    q, (k, v) = attention.query_key_value(x)
    context, _ = scaled_dot_product_attention(q, k, v, visible, **options)
    expected = attention.project_out(context.transpose(1, 2).flatten(2))
    trained, nothing = attention(x, mask=mask, is_causal=is_causal)
    with torch.no_grad():
        predicted, _ = attention(x, mask=mask, is_causal=is_causal)
    traced, notes = attention(x, mask=mask, is_causal=is_causal, return_notes=True)
    for y in (trained, predicted, traced):
        torch.testing.assert_close(y, expected)
    assert nothing is None and notes.weights.shape == (2, 2, 5, 5)


@pytest.mark.parametrize("is_cross", [True, False])
def test_another_width_of_heads_is_the_same_equation_on_the_fast_paths_and_the_slow_one(is_cross):
    torch.manual_seed(0)
    attention = MultiHeadAttention(16, 3, bias=True, d_k=5)
    assert attention.project_in.weight.shape == (45, 16) and attention.project_out.weight.shape == (16, 15)
    x, memory = torch.randn(2, 4, 16), torch.randn(2, 6, 16) if is_cross else None
    short, _ = attention(x, memory)
    with torch.no_grad():
        fused, _ = attention(x, memory)
    written_out, notes = attention(x, memory, return_notes=True)
    torch.testing.assert_close(short, written_out, atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(fused, written_out, atol=1e-6, rtol=1e-5)
    assert notes.weights.shape == (2, 3, 4, 6 if is_cross else 4)


def test_dropout_acts_on_the_weights_of_variants_too():
    attention = MultiHeadAttention(16, 2, dropout=0.5, masking="zero_after").train()
    x = torch.randn(1, 8, 16)
    assert not torch.allclose(attention(x)[0], attention(x)[0])
