"""Batched attention over short sentences equals equation 1, forward and backward."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from jumok.nn import attention
from jumok.nn.attention import MultiHeadAttention, scaled_dot_product_attention
from jumok.nn.masks import causal_mask
from jumok.nn.short_attention import MAX_LENGTH, short_attention

BATCH, D_MODEL, NUM_HEADS = 3, 8, 2


def heads(x: Tensor) -> Tensor:
    return x.view(*x.shape[:2], NUM_HEADS, -1).transpose(1, 2)


def by_equation(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
    context, _ = scaled_dot_product_attention(heads(q), heads(k), heads(v), mask)
    return context.transpose(1, 2).flatten(2)


def some_keys_hidden(num_keys: int) -> Tensor:
    mask = torch.ones(BATCH, 1, 1, num_keys, dtype=torch.bool)
    mask[1, ..., num_keys // 2 + 1 :] = False
    return mask


@pytest.mark.parametrize("length", [1, 5, 15, 16, 17, 33])
@pytest.mark.parametrize("kind", ["open", "masked", "causal"])
def test_self_attention_equals_equation_1_and_so_do_its_gradients(length: int, kind: str) -> None:
    torch.manual_seed(length)
    qkv = torch.randn(BATCH, length, 3 * D_MODEL, requires_grad=True)
    mask = {"open": None, "masked": some_keys_hidden(length), "causal": causal_mask(length)}[kind]
    expected = by_equation(*qkv.split(D_MODEL, dim=-1), mask)
    found = short_attention(qkv, None, NUM_HEADS, None if kind == "causal" else mask, is_causal=kind == "causal")
    torch.testing.assert_close(found, expected)
    direction = torch.randn_like(expected)
    torch.testing.assert_close(*(torch.autograd.grad(y, qkv, direction)[0] for y in (found, expected)))


@pytest.mark.parametrize(("num_queries", "num_keys"), [(1, 1), (4, 7), (7, 4), (20, 16), (3, 31)])
@pytest.mark.parametrize("is_masked", [False, True])
def test_cross_attention_equals_equation_1_and_so_do_its_gradients(
    num_queries: int, num_keys: int, is_masked: bool
) -> None:
    torch.manual_seed(num_queries)
    q = torch.randn(BATCH, num_queries, D_MODEL, requires_grad=True)
    kv = torch.randn(BATCH, num_keys, 2 * D_MODEL, requires_grad=True)
    mask = some_keys_hidden(num_keys) if is_masked else None
    expected = by_equation(q, *kv.split(D_MODEL, dim=-1), mask)
    found = short_attention(q, kv, NUM_HEADS, mask)
    torch.testing.assert_close(found, expected)
    direction = torch.randn_like(expected)
    torch.testing.assert_close(*(torch.autograd.grad(y, (q, kv), direction) for y in (found, expected)))


def test_only_training_on_short_sentences_takes_this_path(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[int] = []

    def noted(q: Tensor, *rest: object) -> Tensor:
        taken.append(q.size(1))
        return short_attention(q, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(attention, "short_attention", noted)
    layer = MultiHeadAttention(D_MODEL, NUM_HEADS)
    layer(torch.randn(1, MAX_LENGTH, D_MODEL))
    layer(torch.randn(1, MAX_LENGTH + 1, D_MODEL))
    layer(torch.randn(1, 3, D_MODEL), torch.randn(1, MAX_LENGTH + 1, D_MODEL))
    with torch.no_grad():
        layer(torch.randn(1, 4, D_MODEL))
    MultiHeadAttention(D_MODEL, NUM_HEADS, dropout=0.1)(torch.randn(1, 4, D_MODEL))
    assert taken == [MAX_LENGTH]


@pytest.mark.parametrize("length", [MAX_LENGTH, MAX_LENGTH + 1])
def test_both_paths_give_the_same_at_the_length_where_they_meet(length: int) -> None:
    torch.manual_seed(3)
    layer = MultiHeadAttention(D_MODEL, NUM_HEADS, bias=True)
    x = torch.randn(2, length, D_MODEL)
    trained, _ = layer(x, is_causal=True)
    with torch.no_grad():
        used, _ = layer(x, is_causal=True)
    torch.testing.assert_close(trained, used)
