"""The first translation model with attention: the decoder looks for what it needs in all of the source.

Paper: Bahdanau et al. 2015, "Neural Machine Translation by Jointly Learning to Align and Translate", section 3 and
appendix A.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor, nn

from jumok.architectures.bahdanau import BahdanauConfig
from jumok.architectures.base import Cell
from jumok.models.embedded import EmbeddedModel
from jumok.models.interface import AttentionWeights, BatchShape, DecoderState
from jumok.models.seq2seq import RecurrentStack, flat, layered
from jumok.models.state import RowState
from jumok.nn.recurrent import CellState, RecurrentLayer
from jumok.nn.source_attention import SourceAttention

# --- the encoder ------------------------------------------------------------------------------------------------


class BidirectionalLayer(nn.Module):
    """One layer reads forwards, one backwards; at each word they say together what stands before and behind it.

    Paper: Bahdanau et al. 2015, section 3.2.
    """

    def __init__(self, cell: Cell, d_in: int, d_out: int) -> None:
        super().__init__()
        self.forwards = RecurrentLayer(cell, d_in, d_out)
        self.backwards = RecurrentLayer(cell, d_in, d_out)

    def forward(self, x: Tensor, is_word: Tensor) -> Tensor:
        """(B, S, d_in) -> (B, S, 2·D)."""
        forwards, _ = self.forwards(x, is_word=is_word)
        backwards, _ = self.backwards(x, is_word=is_word, is_backward=True)
        return torch.cat([forwards, backwards], dim=-1)

    def multiply_adds(self, num_tokens: int) -> int:
        """Of so many steps of a row, padded ones counted."""
        return self.forwards.multiply_adds(num_tokens) + self.backwards.multiply_adds(num_tokens)


class Memory(NamedTuple):
    """What the decoder looks at: annotations of every source word, their keys, and which of them are words."""

    annotations: Tensor  # (B, S, 2·D)
    keys: Tensor  # (B, S, D)
    is_word: Tensor  # (B, S)


# --- the model --------------------------------------------------------------------------------------------------


class Bahdanau(EmbeddedModel):
    """Before each step the decoder's last state is compared with every source word; the mean, weighted, is its context.

    e_ij = v·tanh(W_a·s_(i−1) + U_a·h_j), α_ij = softmax_j(e_ij), c_i = Σ_j α_ij·h_j; s_i = cell(y_(i−1), c_i; s_(i−1)).

    Paper: Bahdanau et al. 2015, section 3.1, equations 4 to 6; appendix A.1.2 (scores), A.2.1 (encoder), A.2.2 (first
    state, deep output with maxout).
    Differs: the deep output reads s_i, as equation 4 has it, where appendix A.2.2 writes s_(i−1). Its width l is
    d_model, which lets it share the target's embedding; the paper's is half. The paper has one layer of GRU each;
    further decoder layers stand between the one that looks at the source and the output. The GRU's reset gate is
    torch's (see `nn/recurrent.py`), an LSTM's c starts at zero, and there is dropout.
    """

    has_attention = True

    def __init__(self, config: BahdanauConfig, src_vocab_size: int, tgt_vocab_size: int, pad_id: int) -> None:
        super().__init__(config, src_vocab_size, tgt_vocab_size, pad_id)
        self.config = config
        cell, d = config.cell, config.d_model
        self.encoder = nn.ModuleList(
            BidirectionalLayer(cell, 2 * d if i else d, d) for i in range(config.encoder_layers)
        )
        self.first_states = nn.Linear(d, config.decoder_layers * d)  # W_s of every decoder layer
        self.attention = SourceAttention("additive", d_query=d, d_memory=2 * d)
        self.bottom = RecurrentLayer(cell, d, d)
        self.from_context = nn.Linear(2 * d, self.bottom.state_weight.size(0), bias=False)  # C of every gate
        self.upper = RecurrentStack(cell, d, d, config.decoder_layers - 1, config.dropout)
        self.deep_output = nn.Linear(4 * d, 2 * d)  # U_o, V_o and C_o side by side

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        """Hidden vectors (B, T, D), teacher-forced."""
        return self._run(src, tgt)[0]

    def forward_with_weights(self, src: Tensor, tgt: Tensor) -> tuple[Tensor, AttentionWeights]:
        """The same pass, and how much each step looked at each source word."""
        hidden, attn_weights = self._run(src, tgt)
        return hidden, AttentionWeights(cross=[attn_weights[:, None]])  # (B, T, S) -> (B, 1, T, S)

    def start(self, src: Tensor) -> RowState:
        """Encode, and compute the keys once."""
        memory, states = self._encode(src)
        return RowState.begin(flat(states), memory)

    def step(self, last_ids: Tensor, state: DecoderState) -> tuple[Tensor, RowState]:
        """Log-probabilities (R, V) of the next piece of each row."""
        assert isinstance(state, RowState)
        bottom, *upper = layered(state.rows, self.config.decoder_layers)
        x = self.embed_tgt(last_ids)
        context, _ = self._look(state.by_sentence(bottom[0]), Memory(*state.memory))
        context = context.flatten(0, 1)  # (B, N, 2·D) -> (R, 2·D)
        bottom = self.bottom.advance(self.bottom.project(x) + self.from_context(context), bottom)
        upper = self.upper.step(self.dropout(bottom[0]), upper) if upper else []
        states = [bottom, *upper]
        return self.log_probs(self._say(states[-1][0], x, context)), state.after(flat(states))

    def multiply_adds(self, shape: BatchShape) -> int:
        """Both directions of the encoder, first states, scores and contexts, the decoder's layers, deep output."""
        rows, S, T = shape.num_rows, shape.src_length, shape.tgt_length
        encoder = sum(layer.multiply_adds(rows * S) for layer in self._encoder_layers())
        attention = self.attention.multiply_adds(rows, S, T)
        decoder = self.bottom.multiply_adds(rows * T) + self.upper.multiply_adds(rows * T)
        a_step = self.from_context.weight.numel() + self.deep_output.weight.numel()
        output = shape.num_tgt_tokens * self.output_weight.numel()
        return encoder + rows * self.first_states.weight.numel() + attention + decoder + rows * T * a_step + output

    def _run(self, src: Tensor, tgt: Tensor) -> tuple[Tensor, Tensor]:
        memory, (bottom, *upper) = self._encode(src)
        x = self.embed_tgt(tgt)
        states, contexts, weights = [], [], []
        for projected in self.bottom.project(x.transpose(0, 1)).unbind(0):  # (B, T, D) -> T × (B, G·D)
            context, attn_weights = self._look(bottom[0][:, None], memory)
            bottom = self.bottom.advance(projected + self.from_context(context[:, 0]), bottom)
            states.append(bottom[0])
            contexts.append(context)
            weights.append(attn_weights)
        hidden = torch.stack(states, dim=1)
        if upper:
            hidden, _ = self.upper(self.dropout(hidden), upper)
        return self._say(hidden, x, torch.cat(contexts, dim=1)), torch.cat(weights, dim=1)

    def _encode(self, src: Tensor) -> tuple[Memory, list[CellState]]:
        """The memory, and the decoder's first states: tanh(W_s·h), h being the backward state at the first word."""
        is_word = src != self.pad_id
        x = self.embed_src(src)
        for i, layer in enumerate(self._encoder_layers()):
            x = layer(self.dropout(x) if i else x, is_word)
        at_first_word = x[:, 0, self.config.d_model :]
        first = torch.tanh(self.first_states(at_first_word)).chunk(self.config.decoder_layers, dim=-1)
        states = [(h, *self.bottom.start(src.size(0))[1:]) for h in first]
        return Memory(x, self.attention.keys(x), is_word), states

    def _look(self, query: Tensor, memory: Memory) -> tuple[Tensor, Tensor]:
        """Contexts (B, Q, 2·D) and weights (B, Q, S) of the queries (B, Q, D) of each sentence."""
        context, attn_weights = self.attention(query, memory.keys, memory.annotations, memory.is_word)
        return context, attn_weights

    def _say(self, hidden: Tensor, x: Tensor, context: Tensor) -> Tensor:
        """t_i: the larger of two numbers each of U_o·s_i + V_o·E·y_(i−1) + C_o·c_i (maxout)."""
        one, other = self.deep_output(torch.cat([hidden, x, context], dim=-1)).chunk(2, dim=-1)
        said: Tensor = self.dropout(torch.maximum(one, other))
        return said

    def _encoder_layers(self) -> Iterator[BidirectionalLayer]:
        for layer in self.encoder:
            assert isinstance(layer, BidirectionalLayer)
            yield layer
