"""Scaled dot-product attention and multi-head attention.

Paper: Vaswani et al. 2017, section 3.2.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from jumok.nn.masks import causal_mask
from jumok.nn.short_attention import MAX_LENGTH, short_attention


def scaled_dot_product_attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Attention(Q, K, V) = softmax(Q·Kᵀ / √d_k)·V, and the weights.

    Paper: Vaswani et al. 2017, section 3.2.1, equation 1.
    """
    d_k = q.size(-1)
    scores = q @ k.transpose(-2, -1) / math.sqrt(d_k)  # (B, H, Q, K), (B, H, M, K) -> (B, H, Q, M)
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    attn_weights = scores.softmax(dim=-1)
    return attn_weights @ v, attn_weights  # (B, H, Q, K), (B, H, Q, M)


class KeyValue(NamedTuple):
    """Keys and values of every head, computed once and used by many queries."""

    keys: Tensor  # (B, H, M, K)
    values: Tensor  # (B, H, M, K)


class MultiHeadAttention(nn.Module):
    """Several attentions side by side, each in its own subspace of d_model / num_heads dimensions.

    MultiHead(Q, K, V) = Concat(head_1, …, head_h)·W^O with head_i = Attention(Q·W_i^Q, K·W_i^K, V·W_i^V).
    W^Q, W^K and W^V of all heads are the three parts of one matrix, so that self-attention is one product.

    Paper: Vaswani et al. 2017, section 3.2.2.
    Differs: dropout on the attention weights, which the paper does not mention but its authors' code has, is off by
    default: at 0 the fast kernels can be used, and the residual dropout regularises enough.
    """

    def __init__(self, d_model: int, num_heads: int, dropout: float = 0.0, bias: bool = False) -> None:
        super().__init__()
        self.d_model = d_model
        self.num_heads = num_heads
        self.dropout = dropout
        self.project_in = nn.Linear(d_model, 3 * d_model, bias=bias)  # W^Q, W^K, W^V of all heads
        self.project_out = nn.Linear(d_model, d_model, bias=bias)  # W^O

    def forward(
        self,
        x: Tensor,
        memory: Tensor | KeyValue | None = None,
        mask: Tensor | None = None,
        is_causal: bool = False,
        return_weights: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Attend from `x` to `memory`, or to `x` itself where no memory is given.

        `is_causal` hides the future without a mask being built; `mask` hides whatever it says. The weights come
        back only on request, since the fast path never has them in one place.
        """
        if not return_weights and not isinstance(memory, KeyValue) and self._is_short(x, memory):
            q = self._project(x, slice(None) if memory is None else slice(self.d_model))
            kv = None if memory is None else self._project(memory, slice(self.d_model, None))
            return self.project_out(short_attention(q, kv, self.num_heads, mask, is_causal)), None
        if memory is None:
            q, key_value = self.query_key_value(x)
        else:
            q = self.query(x)
            key_value = memory if isinstance(memory, KeyValue) else self.key_value(memory)
        return self.attend(q, key_value, mask, is_causal, return_weights)

    def attend(
        self,
        q: Tensor,
        memory: KeyValue,
        mask: Tensor | None = None,
        is_causal: bool = False,
        return_weights: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Equation 1 for every head, then W^O: by the fast kernel, or as written above where the weights are wanted."""
        assert mask is None or not is_causal, "a mask says all: put the causal one into it"
        attn_weights = None
        if return_weights:
            visible = causal_mask(q.size(-2), q.device) if is_causal else mask
            context, attn_weights = scaled_dot_product_attention(q, *memory, visible)
        else:
            dropout = self.dropout if self.training else 0.0
            context = F.scaled_dot_product_attention(q, *memory, mask, dropout_p=dropout, is_causal=is_causal)
        return self.project_out(context.transpose(1, 2).flatten(2)), attn_weights  # (B, H, Q, K) -> (B, Q, D)

    def query(self, x: Tensor) -> Tensor:
        """Q·W^Q of every head."""
        return self._heads(self._project(x, slice(self.d_model)))[0]

    def key_value(self, memory: Tensor) -> KeyValue:
        """K·W^K and V·W^V of every head: in cross-attention once a sentence, not once a step."""
        return KeyValue(*self._heads(self._project(memory, slice(self.d_model, None))))

    def query_key_value(self, x: Tensor) -> tuple[Tensor, KeyValue]:
        """All three in one product, for self-attention."""
        q, k, v = self._heads(self._project(x, slice(None)))
        return q, KeyValue(k, v)

    def _project(self, x: Tensor, rows: slice) -> Tensor:
        """Multiply by these rows of the one matrix: (B, T, D) -> (B, T, n·D)."""
        bias = self.project_in.bias
        return F.linear(x, self.project_in.weight[rows], None if bias is None else bias[rows])

    def _heads(self, y: Tensor) -> tuple[Tensor, ...]:
        """Split a projection into its parts and heads: (B, T, n·D) -> n × (B, H, T, K)."""
        parts = y.view(*y.shape[:2], -1, self.num_heads, self.d_model // self.num_heads)  # (B, T, n, H, K)
        return tuple(part.transpose(1, 2) for part in parts.unbind(2))

    def _is_short(self, x: Tensor, memory: Tensor | None) -> bool:
        """Whether batched products are the fast path: training on a CPU, on short sentences."""
        longest = max(x.size(1), 0 if memory is None else memory.size(1))
        is_plain = x.dtype == torch.float32 and not torch.is_autocast_enabled("cpu") and not self.dropout
        return x.device.type == "cpu" and torch.is_grad_enabled() and is_plain and longest <= MAX_LENGTH
