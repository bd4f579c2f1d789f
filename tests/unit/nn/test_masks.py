from __future__ import annotations

import torch

from jumok.nn.masks import causal_mask, padding_mask


def test_padding_mask_is_true_where_a_word_stands_and_broadcasts_over_heads_and_queries():
    mask = padding_mask(torch.tensor([[5, 6, 0], [7, 0, 0]]), pad_id=0)
    assert mask.dtype == torch.bool
    assert mask.shape == (2, 1, 1, 3)
    assert mask[:, 0, 0].tolist() == [[True, True, False], [True, False, False]]


def test_padding_mask_takes_any_pad_id():
    assert padding_mask(torch.tensor([[0, 9]]), pad_id=9)[0, 0, 0].tolist() == [True, False]


def test_causal_mask_lets_each_position_see_itself_and_the_past():
    mask = causal_mask(3)
    assert mask.dtype == torch.bool
    assert mask.tolist() == [[True, False, False], [True, True, False], [True, True, True]]
