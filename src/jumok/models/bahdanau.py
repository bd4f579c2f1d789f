"""The first translation model with attention: the decoder looks for what it needs in all of the source.

Paper: Bahdanau et al. 2015, "Neural Machine Translation by Jointly Learning to Align and Translate", section 3 and
appendix A.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from jumok.architectures.bahdanau import BahdanauConfig
from jumok.models.embedded import AttentiveModel
from jumok.models.interface import BatchShape, DecoderState
from jumok.models.state import RowState
from jumok.nn.attending_layer import AttendingLayer, Source
from jumok.nn.recurrent import BidirectionalLayer, CellState
from jumok.nn.recurrent_stack import RecurrentStack, flat, layered


class Bahdanau(AttentiveModel):
    """Before each step the decoder's last state is compared with every source word; the mean, weighted, is its context.

    e_ij = v·tanh(W_a·s_(i−1) + U_a·h_j), α_ij = softmax_j(e_ij), c_i = Σ_j α_ij·h_j; s_i = cell(y_(i−1), c_i; s_(i−1)).

    Paper: Bahdanau et al. 2015, section 3.1, equations 4 to 6; appendix A.1.2 (scores), A.2.1 (encoder), A.2.2 (first
    state, deep output with maxout).
    Differs: the deep output reads s_i, as equation 4 has it, where appendix A.2.2 writes s_(i−1). Its width l is
    d_model, as is that of the embeddings, which lets them share weights; the paper's are 500 and 620 of 1000. The
    paper has one layer of GRU each; further decoder layers stand between the one that looks at the source and the
    output. The GRU's reset gate is torch's (see `nn/recurrent.py`), an LSTM's c starts at zero, weights start as each
    layer has them (the paper: appendix B.1), and there is dropout.
    """

    def __init__(self, config: BahdanauConfig, src_vocab_size: int, tgt_vocab_size: int, pad_id: int) -> None:
        super().__init__(config, src_vocab_size, tgt_vocab_size, pad_id)
        self.config = config
        cell, d = config.cell, config.d_model
        self.encoder = nn.ModuleList(
            BidirectionalLayer(cell, 2 * d if i else d, d) for i in range(config.encoder_layers)
        )
        self.first_states = nn.Linear(d, config.decoder_layers * d)  # W_s of every decoder layer
        self.bottom = AttendingLayer(cell, d, 2 * d, d)
        self.upper = RecurrentStack(cell, d, d, config.decoder_layers - 1, config.dropout)
        self.deep_output = nn.Linear(4 * d, 2 * d)  # U_o, V_o and C_o side by side

    def start(self, src: Tensor) -> RowState:
        """Encode, and compute the keys once."""
        source, states = self._encode(src)
        return RowState.begin(flat(states), source)

    def step(self, last_ids: Tensor, state: DecoderState) -> tuple[Tensor, RowState]:
        """Log-probabilities (R, V) of the next piece of each row."""
        assert isinstance(state, RowState)
        bottom, *upper = layered(state.rows, self.config.decoder_layers)
        x = self.embed_tgt(last_ids)
        looked, bottom = self.bottom.step(x, bottom, Source(*state.memory))
        upper = self.upper.step(self.dropout(bottom[0]), upper) if upper else []
        states = [bottom, *upper]
        return self.log_probs(self._say(states[-1][0], x, looked.context)), state.after(flat(states))

    def multiply_adds(self, shape: BatchShape) -> int:
        """Both directions of the encoder, first states, scores and contexts, the decoder's layers, deep output."""
        rows, S, T = shape.num_rows, shape.src_length, shape.tgt_length
        encoder = sum(layer.multiply_adds(rows * S) for layer in self._encoder_layers())
        decoder = self.bottom.multiply_adds(rows, S, T) + self.upper.multiply_adds(rows * T)
        output = rows * T * self.deep_output.weight.numel() + shape.num_tgt_tokens * self.output_weight.numel()
        return encoder + rows * self.first_states.weight.numel() + decoder + output

    def run(self, src: Tensor, tgt: Tensor) -> tuple[Tensor, Tensor]:
        """Hidden vectors (B, T, D), and what was looked at (B, T, S)."""
        source, (bottom, *upper) = self._encode(src)
        x = self.embed_tgt(tgt)
        looked = self.bottom(x, source, bottom)
        hidden = self.upper(self.dropout(looked.output), upper)[0] if upper else looked.output
        return self._say(hidden, x, looked.context), looked.attn_weights

    def _encode(self, src: Tensor) -> tuple[Source, list[CellState]]:
        """What is looked at, and the first states: tanh(W_s·h), h being the backward state at the first word."""
        is_word = src != self.pad_id
        x = self.embed_src(src)
        for i, layer in enumerate(self._encoder_layers()):
            x = layer(self.dropout(x) if i else x, is_word)
        at_first_word = x[:, 0, self.config.d_model :]
        first = torch.tanh(self.first_states(at_first_word)).chunk(self.config.decoder_layers, dim=-1)
        states = [(h, *self.bottom.recurrent.start(src.size(0))[1:]) for h in first]
        return self.bottom.read(x, is_word), states

    def _say(self, hidden: Tensor, x: Tensor, context: Tensor) -> Tensor:
        """t_i: the larger of two numbers each of U_o·s_i + V_o·E·y_(i−1) + C_o·c_i (maxout)."""
        one, other = self.deep_output(torch.cat([hidden, x, context], dim=-1)).chunk(2, dim=-1)
        said: Tensor = self.dropout(torch.maximum(one, other))
        return said

    def _encoder_layers(self) -> Iterator[BidirectionalLayer]:
        for layer in self.encoder:
            assert isinstance(layer, BidirectionalLayer)
            yield layer
