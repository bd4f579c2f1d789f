"""Attention on top of a stack of recurrent layers, with three ways to compare.

Paper: Luong et al. 2015, "Effective Approaches to Attention-based Neural Machine Translation", section 3.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from jumok.architectures.luong import LuongConfig
from jumok.models.embedded import AttentiveModel
from jumok.models.interface import BatchShape, DecoderState
from jumok.models.state import RowState
from jumok.nn.recurrent import CellState
from jumok.nn.recurrent_stack import RecurrentStack, flat, layered
from jumok.nn.source_attention import SourceAttention


class Luong(AttentiveModel):
    """The decoder's top state h_t is compared with the encoder's; what it finds and h_t together predict.

    h̃_t = tanh(W_c·[c_t; h_t]); with `input_feeding` h̃_(t−1) is part of the decoder's input at step t. Without it no
    step waits for the attention of the one before: all are run first, and attention is one batched product.

    Paper: Luong et al. 2015, sections 3 and 3.1 (global attention), equations 5 to 7; section 3.3 (input feeding). The
    decoder's layers start from the encoder's last states, as in Sutskever et al. 2014, whose stacks it follows.
    Differs: no local attention (section 3.2), and no location score (equation 8). The source is read backwards only
    where `reverse_source` says so, as by all attention models of the paper (Table 1); input feeding starts from zeros,
    of which it says nothing.
    """

    def __init__(self, config: LuongConfig, src_vocab_size: int, tgt_vocab_size: int, pad_id: int) -> None:
        super().__init__(config, src_vocab_size, tgt_vocab_size, pad_id)
        self.config = config
        d = config.d_model
        self.encoder = RecurrentStack(config.cell, d, d, config.encoder_layers, config.dropout)
        self.decoder = RecurrentStack(config.cell, d, d, config.decoder_layers, config.dropout)
        if config.input_feeding:
            num_gates = self.decoder.bottom.state_weight.size(0)
            self.from_last = nn.Linear(d, num_gates, bias=False)  # what h̃ adds to the first layer's gates
        self.attention = SourceAttention(config.score, d_query=d, d_memory=d)
        self.join = nn.Linear(2 * d, d, bias=False)  # W_c

    def start(self, src: Tensor) -> RowState:
        """Encode, and compute the keys once; where h̃ is fed there is none yet."""
        memory, states = self._encode(src)
        fed = (torch.zeros_like(states[-1][0]),) if self.config.input_feeding else ()
        return RowState.begin((*flat(states), *fed), memory)

    def step(self, last_ids: Tensor, state: DecoderState) -> tuple[Tensor, RowState]:
        """Log-probabilities (R, V) of the next piece of each row."""
        assert isinstance(state, RowState)
        projected, rows = self.decoder.bottom.project(self.embed_tgt(last_ids)), state.rows
        if self.config.input_feeding:
            projected, rows = projected + self.from_last(rows[-1]), rows[:-1]
        states = self.decoder.advance(projected, layered(rows, self.config.decoder_layers))
        hidden, _ = self._attend(state.by_sentence(states[-1][0]), state.memory)
        hidden = hidden.flatten(0, 1)  # (B, N, D) -> (R, D)
        fed = (hidden,) if self.config.input_feeding else ()
        return self.log_probs(hidden), state.after((*flat(states), *fed))

    def multiply_adds(self, shape: BatchShape) -> int:
        """The layers of both stacks, what is fed back, scores and contexts, W_c, and the output."""
        rows, S, T = shape.num_rows, shape.src_length, shape.tgt_length
        layers = self.encoder.multiply_adds(rows * S) + self.decoder.multiply_adds(rows * T)
        a_step = self.join.weight.numel() + (self.from_last.weight.numel() if self.config.input_feeding else 0)
        attention = self.attention.multiply_adds(rows, S, T)
        return layers + attention + rows * T * a_step + shape.num_tgt_tokens * self.output_weight.numel()

    def run(self, src: Tensor, tgt: Tensor) -> tuple[Tensor, Tensor]:
        """Hidden vectors (B, T, D), and what was looked at (B, T, S)."""
        memory, states = self._encode(src)
        x = self.embed_tgt(tgt)
        if not self.config.input_feeding:
            hidden, attn_weights = self._attend(self.decoder(x, states)[0], memory)
            return self.dropout(hidden), attn_weights
        fed = torch.zeros_like(states[-1][0])
        said, weights = [], []
        for projected in self.decoder.bottom.project(x.transpose(0, 1)).unbind(0):  # (B, T, D) -> T × (B, G·D)
            states = self.decoder.advance(projected + self.from_last(fed), states)
            hidden, attn_weights = self._attend(states[-1][0][:, None], memory)
            fed = hidden[:, 0]
            said.append(fed)
            weights.append(attn_weights)
        return self.dropout(torch.stack(said, dim=1)), torch.cat(weights, dim=1)

    def _encode(self, src: Tensor) -> tuple[tuple[Tensor, Tensor, Tensor], list[CellState]]:
        """What the decoder looks at: states of the top layer, their keys, which are words; and every layer's last."""
        is_word = src != self.pad_id
        x, states = self.encoder(self.embed_src(src), is_word=is_word, is_backward=self.config.reverse_source)
        return (x, self.attention.keys(x), is_word), states

    def _attend(self, query: Tensor, memory: tuple[Tensor, ...]) -> tuple[Tensor, Tensor]:
        """h̃ (B, Q, D) and weights (B, Q, S) of the top states (B, Q, D) of each sentence."""
        states, keys, is_word = memory
        context, attn_weights = self.attention(query, keys, states, is_word)
        return torch.tanh(self.join(torch.cat([context, query], dim=-1))), attn_weights
