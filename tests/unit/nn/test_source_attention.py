from __future__ import annotations

import math

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from jumok.nn.source_attention import SourceAttention

SCORES = ["additive", "dot", "general", "concat"]


def _parts(score: str, d: int = 4):
    torch.manual_seed(1)
    attention = SourceAttention(score, d, d)
    memory = torch.randn(2, 5, d)
    is_word = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])
    return attention, torch.randn(2, 3, d), memory, is_word


def test_dot_by_hand():
    memory = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [9.0, 9.0]]])
    query = torch.tensor([[[math.log(3.0), 0.0]]])  # scores log 3 and 0: weights 3/4 and 1/4
    context, weights = SourceAttention("dot", 2, 2)(query, memory, memory, torch.tensor([[True, True, False]]))
    assert weights.flatten().tolist() == pytest.approx([0.75, 0.25, 0])
    assert context.flatten().tolist() == pytest.approx([0.75, 0.25])


def _score(attention: SourceAttention, q: torch.Tensor, m: torch.Tensor) -> torch.Tensor:
    """As the papers write it, of one query and one source position."""
    if attention.score == "dot":
        return q @ m
    if attention.score == "general":
        return q @ (attention.project_memory.weight @ m)
    w = torch.cat([attention.project_query.weight, attention.project_memory.weight], dim=1)
    return attention.weigh @ torch.tanh(w @ torch.cat([q, m]) + attention.project_memory.bias)


@torch.no_grad()
@pytest.mark.parametrize("score", SCORES)
def test_every_pair_is_scored_as_the_papers_write_it(score):
    attention, query, memory, is_word = _parts(score)
    context, weights = attention(query, attention.keys(memory), memory, is_word)
    for b, num_words in enumerate((5, 3)):
        for i, q in enumerate(query[b]):
            scores = torch.stack([_score(attention, q, m) for m in memory[b, :num_words]])
            torch.testing.assert_close(weights[b, i, :num_words], scores.softmax(0))
            torch.testing.assert_close(context[b, i], scores.softmax(0) @ memory[b, :num_words])


@pytest.mark.parametrize("score", SCORES)
def test_weights_sum_to_one_and_nobody_looks_at_padding(score):
    attention, query, memory, is_word = _parts(score)
    _, weights = attention(query, attention.keys(memory), memory, is_word)
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 3))
    assert (weights[1, :, 3:] == 0).all()


@pytest.mark.parametrize("score", SCORES)
def test_the_formula_is_what_a_counter_counts(score):
    attention, query, memory, is_word = _parts(score)
    with FlopCounterMode(display=False) as counter:
        attention(query, attention.keys(memory), memory, is_word)
    assert counter.get_total_flops() == 2 * attention.multiply_adds(2, 5, 3)


def test_a_dot_product_needs_one_width():
    with pytest.raises(AssertionError, match="a dot product needs vectors of one width"):
        SourceAttention("dot", 4, 8)
