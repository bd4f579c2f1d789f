from __future__ import annotations

import torch

from jumok.nn.embedding import ScaledEmbedding


def test_a_looked_up_vector_is_the_row_times_the_root_of_d_model():
    embedding = ScaledEmbedding(5, 16)
    ids = torch.tensor([[1, 4, 1]])
    torch.testing.assert_close(embedding(ids), 4.0 * embedding.weight[ids])


def test_weights_start_with_variance_1_over_d_model_so_that_vectors_start_with_variance_1():
    torch.manual_seed(0)
    embedding = ScaledEmbedding(2000, 64)
    assert abs(embedding.weight.std().item() * 8 - 1) < 0.02
    assert abs(embedding(torch.arange(2000)).std().item() - 1) < 0.02
