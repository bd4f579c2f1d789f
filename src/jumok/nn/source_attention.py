"""Attention as it was before the Transformer: one state compares itself with every source position.

Paper: Bahdanau et al. 2015, section 3.1 (additive); Luong et al. 2015, section 3.1 (dot, general, concat).
"""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import Tensor, nn

Score = Literal["additive", "dot", "general", "concat"]


class SourceAttention(nn.Module):
    """weights = softmax(score(query, memory_s)) over the source positions s; context = Σ_s weights_s · memory_s.

    dot       q·m
    general   q·(W·m)
    additive  v·tanh(W_q·q + W_m·m)
    concat    the same: W·[q; m] is W_q·q + W_m·m

    Paper: Luong et al. 2015, section 3.1, equation 7 and the scores below it; Bahdanau et al. 2015, section 3.1 and
    appendix A.1.2.
    """

    def __init__(self, score: Score, d_query: int, d_memory: int, d_score: int | None = None) -> None:
        super().__init__()
        self.score = score
        self.d_query = d_query
        self.d_memory = d_memory
        d_score = d_score or d_query
        assert score != "dot" or d_query == d_memory, "a dot product needs vectors of one width"
        if score == "general":
            self.project_memory = nn.Linear(d_memory, d_query, bias=False)
        elif score in ("additive", "concat"):
            self.project_query = nn.Linear(d_query, d_score, bias=False)
            self.project_memory = nn.Linear(d_memory, d_score)
            self.weigh = nn.Parameter(torch.empty(d_score).uniform_(-(d_score**-0.5), d_score**-0.5))

    def keys(self, memory: Tensor) -> Tensor:
        """What queries are compared with, computed once a sentence: (B, S, d_memory) -> (B, S, ·)."""
        return memory if self.score == "dot" else self.project_memory(memory)

    def forward(self, query: Tensor, keys: Tensor, memory: Tensor, is_word: Tensor) -> tuple[Tensor, Tensor]:
        """Context (B, Q, d_memory) and weights (B, Q, S) of any number of queries (B, Q, d_query) a sentence.

        Where `is_word` (B, S) is False there is padding, which nobody looks at.
        """
        if self.score in ("dot", "general"):
            scores = query @ keys.transpose(1, 2)  # (B, Q, D), (B, S, D) -> (B, Q, S)
        else:
            together = self.project_query(query)[:, :, None] + keys[:, None]  # (B, Q, S, D)
            scores = (together.tanh() @ self.weigh[:, None]).squeeze(-1)
        attn_weights = scores.masked_fill(~is_word[:, None], -math.inf).softmax(dim=-1)
        return attn_weights @ memory, attn_weights

    def multiply_adds(self, num_rows: int, src_length: int, num_queries: int) -> int:
        """Of `keys` once a sentence, and of so many queries a sentence: scores and context."""
        pairs = num_rows * src_length * num_queries
        products = pairs * self.d_memory  # the context
        if self.score != "dot":
            products += num_rows * src_length * self.project_memory.weight.numel()
        if self.score in ("dot", "general"):
            return products + pairs * self.d_query
        return products + pairs * self.weigh.numel() + num_rows * num_queries * self.project_query.weight.numel()
