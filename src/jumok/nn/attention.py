"""Scaled dot-product attention and multi-head attention.

Paper: Vaswani et al. 2017, section 3.2.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from jumok.nn.masks import Masking, causal_mask
from jumok.nn.short_attention import MAX_LENGTH, short_attention


def scaled_dot_product_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    scale_scores: bool = True,
    masking: Masking = "minus_infinity",
    dropout: float = 0.0,
) -> tuple[Tensor, Tensor]:
    """Attention(Q, K, V) = softmax(Q·Kᵀ / √d_k)·V, and the weights.

    Paper: Vaswani et al. 2017, section 3.2.1, equation 1.
    Differs: by choice without √d_k, or with one of the wrong maskings that `masks.py` explains.
    """
    d_k = q.size(-1)
    scores = q @ k.transpose(-2, -1)  # (B, H, Q, K), (B, H, M, K) -> (B, H, Q, M)
    if scale_scores:
        scores = scores / math.sqrt(d_k)
    if mask is not None and masking != "zero_after":
        scores = scores.masked_fill(~mask, -math.inf if masking == "minus_infinity" else 0.0)
    attn_weights = scores.softmax(dim=-1)
    if mask is not None and masking == "zero_after":
        attn_weights = attn_weights.masked_fill(~mask, 0.0)
    return F.dropout(attn_weights, dropout) @ v, attn_weights  # (B, H, Q, K), (B, H, Q, M)


class KeyValue(NamedTuple):
    """Keys and values of every head, computed once and used by many queries."""

    keys: Tensor  # (B, H, M, K)
    values: Tensor  # (B, H, M, K)


class Attended(NamedTuple):
    """Every step of equation 1, of every head, for who wants to look at it."""

    q: Tensor  # (B, H, Q, K)
    k: Tensor  # (B, H, M, K)
    v: Tensor  # (B, H, M, K)
    scores: Tensor  # (B, H, Q, M) q·k, before they are divided and masked
    visible: Tensor  # (B, H, Q, M) what the mask lets through
    weights: Tensor  # (B, H, Q, M)
    context: Tensor  # (B, H, Q, K) what goes on to W^O


class MultiHeadAttention(nn.Module):
    """Several attentions side by side, each in its own subspace of d_k = d_model / num_heads dimensions.

    MultiHead(Q, K, V) = Concat(head_1, …, head_h)·W^O with head_i = Attention(Q·W_i^Q, K·W_i^K, V·W_i^V).
    W^Q, W^K and W^V of all heads are the three parts of one matrix, so that self-attention is one product. Another d_k
    may be given; values are then as wide as keys, d_v = d_k.

    Paper: Vaswani et al. 2017, section 3.2.2.
    Differs: dropout on the attention weights, which the paper does not mention but its authors' code has, is off by
    default: at 0 the fast kernels can be used, and the residual dropout regularises enough.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = False,
        d_k: int | None = None,
        scale_scores: bool = True,
        masking: Masking = "minus_infinity",
    ) -> None:
        super().__init__()
        self.d_model = d_model
        self.num_heads = num_heads
        self.width = num_heads * (d_k or d_model // num_heads)  # of all heads together: d_model in the paper
        self.dropout = dropout
        self.scale_scores = scale_scores
        self.masking: Masking = masking
        self.project_in = nn.Linear(d_model, 3 * self.width, bias=bias)  # W^Q, W^K, W^V of all heads
        self.project_out = nn.Linear(self.width, d_model, bias=bias)  # W^O

    def forward(
        self,
        x: Tensor,
        memory: Tensor | KeyValue | None = None,
        mask: Tensor | None = None,
        is_causal: bool = False,
        return_notes: bool = False,
    ) -> tuple[Tensor, Attended | None]:
        """Attend from `x` to `memory`, or to `x` itself where no memory is given.

        `is_causal` hides the future without a mask being built; `mask` hides whatever it says. What was attended to
        comes back only on request, since the fast path never has the weights in one place.
        """
        if not return_notes and not isinstance(memory, KeyValue) and self._is_short(x, memory):
            q = self._project(x, slice(None) if memory is None else slice(self.width))
            kv = None if memory is None else self._project(memory, slice(self.width, None))
            return self.project_out(short_attention(q, kv, self.num_heads, mask, is_causal)), None
        if memory is None:
            q, key_value = self.query_key_value(x)
        else:
            q = self.query(x)
            key_value = memory if isinstance(memory, KeyValue) else self.key_value(memory)
        return self.attend(q, key_value, mask, is_causal, return_notes)

    def attend(
        self,
        q: Tensor,
        memory: KeyValue,
        mask: Tensor | None = None,
        is_causal: bool = False,
        return_notes: bool = False,
    ) -> tuple[Tensor, Attended | None]:
        """Equation 1 for every head, then W^O: by the fast kernel, or as written above where it does not fit.

        Notes are taken beside it and change nothing: what goes on to W^O is the same to the bit.
        """
        assert mask is None or not is_causal, "a mask says all: put the causal one into it"
        dropout = self.dropout if self.training else 0.0
        visible, attn_weights = mask, None
        if return_notes or not self._is_papers:
            visible = causal_mask(q.size(-2), q.device) if is_causal else mask
            context, attn_weights = scaled_dot_product_attention(
                q, *memory, visible, self.scale_scores, self.masking, dropout
            )
        if self._is_papers:
            context = F.scaled_dot_product_attention(q, *memory, mask, dropout_p=dropout, is_causal=is_causal)
        y = self.project_out(context.transpose(1, 2).flatten(2))  # (B, H, Q, K) -> (B, Q, H·K) -> (B, Q, D)
        if not return_notes:
            return y, None
        assert attn_weights is not None
        scores = q @ memory.keys.transpose(-2, -1)
        everything = torch.ones((), dtype=torch.bool, device=q.device)
        visible = (everything if visible is None else visible).expand_as(scores)
        return y, Attended(q, *memory, scores, visible, attn_weights, context)

    def query(self, x: Tensor) -> Tensor:
        """Q·W^Q of every head."""
        return self._heads(self._project(x, slice(self.width)))[0]

    def key_value(self, memory: Tensor) -> KeyValue:
        """K·W^K and V·W^V of every head: in cross-attention once a sentence, not once a step."""
        return KeyValue(*self._heads(self._project(memory, slice(self.width, None))))

    def query_key_value(self, x: Tensor) -> tuple[Tensor, KeyValue]:
        """All three in one product, for self-attention."""
        q, k, v = self._heads(self._project(x, slice(None)))
        return q, KeyValue(k, v)

    def _project(self, x: Tensor, rows: slice) -> Tensor:
        """Multiply by these rows of the one matrix: (B, T, D) -> (B, T, n·H·K)."""
        bias = self.project_in.bias
        return F.linear(x, self.project_in.weight[rows], None if bias is None else bias[rows])

    def _heads(self, y: Tensor) -> tuple[Tensor, ...]:
        """Split a projection into its parts and heads: (B, T, n·H·K) -> n × (B, H, T, K)."""
        parts = y.view(*y.shape[:2], -1, self.num_heads, self.width // self.num_heads)  # (B, T, n, H, K)
        return tuple(part.transpose(1, 2) for part in parts.unbind(2))

    @property
    def _is_papers(self) -> bool:
        """Whether equation 1 is computed as it stands."""
        return self.scale_scores and self.masking == "minus_infinity"

    def _is_short(self, x: Tensor, memory: Tensor | None) -> bool:
        """Whether batched products are the fast path: training on a CPU, on short sentences."""
        longest = max(x.size(1), 0 if memory is None else memory.size(1))
        is_plain = x.dtype == torch.float32 and not torch.is_autocast_enabled("cpu") and not self.dropout
        is_fast = x.device.type == "cpu" and torch.is_grad_enabled() and longest <= MAX_LENGTH
        return is_fast and is_plain and self._is_papers
