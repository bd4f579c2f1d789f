"""Sequence to sequence with one context vector.

Paper: Sutskever et al. 2014, "Sequence to Sequence Learning with Neural Networks", sections 2 and 3; Cho et al. 2014,
"Learning Phrase Representations using RNN Encoder-Decoder for Statistical Machine Translation", section 2.
"""

from __future__ import annotations

import torch
from torch import Tensor

from jumok.architectures.seq2seq import Seq2SeqConfig
from jumok.models.embedded import EmbeddedModel
from jumok.models.interface import BatchShape, DecoderState
from jumok.models.state import RowState
from jumok.nn.recurrent import CellState
from jumok.nn.recurrent_stack import RecurrentStack, flat, layered


class Seq2Seq(EmbeddedModel):
    """All that the decoder learns of the source is the state in which the encoder's layers end.

    Paper: Sutskever et al. 2014, section 2 (the encoder's last states start the decoder's layers) and section 3.3
    (the source read backwards: `reverse_source`); Cho et al. 2014, section 2.2 (`feed_context`: the context, what the
    top encoder layer said last, is part of every decoder step's input).
    Differs: with `feed_context` the context reaches the output through the layers; Cho et al. have a maxout layer
    that sees it once more, and derive the decoder's first state from it by a tanh layer. There is dropout, as
    in all models here.
    """

    def __init__(self, config: Seq2SeqConfig, src_vocab_size: int, tgt_vocab_size: int, pad_id: int) -> None:
        super().__init__(config, src_vocab_size, tgt_vocab_size, pad_id)
        self.config = config
        d = config.d_model
        self.encoder = RecurrentStack(config.cell, d, d, config.encoder_layers, config.dropout)
        d_in = 2 * d if config.feed_context else d
        self.decoder = RecurrentStack(config.cell, d_in, d, config.decoder_layers, config.dropout)

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        """Hidden vectors (B, T, D), teacher-forced."""
        states = self._encode(src)
        x = self.embed_tgt(tgt)
        if self.config.feed_context:
            x = torch.cat([x, _context(states)[:, None].expand_as(x)], dim=-1)  # (B, T, D) -> (B, T, 2·D)
        hidden: Tensor = self.dropout(self.decoder(x, states)[0])
        return hidden

    def start(self, src: Tensor) -> RowState:
        """Encode: the states, and the context where every step sees it."""
        states = self._encode(src)
        context = (_context(states),) if self.config.feed_context else ()
        return RowState.begin((*flat(states), *context), memory=())

    def step(self, last_ids: Tensor, state: DecoderState) -> tuple[Tensor, RowState]:
        """Log-probabilities (R, V) of the next piece of each row."""
        assert isinstance(state, RowState)
        x, rows = self.embed_tgt(last_ids), state.rows
        context: tuple[Tensor, ...] = ()
        if self.config.feed_context:
            rows, context = rows[:-1], rows[-1:]
            x = torch.cat([x, *context], dim=-1)
        states = self.decoder.step(x, layered(rows, self.config.decoder_layers))
        return self.log_probs(states[-1][0]), state.after((*flat(states), *context))

    def multiply_adds(self, shape: BatchShape) -> int:
        """Every gate of every layer at every step, and the output."""
        encoder = self.encoder.multiply_adds(shape.num_rows * shape.src_length)
        decoder = self.decoder.multiply_adds(shape.num_rows * shape.tgt_length)
        return encoder + decoder + shape.num_tgt_tokens * self.output_weight.numel()

    def _encode(self, src: Tensor) -> list[CellState]:
        _, states = self.encoder(
            self.embed_src(src), is_word=src != self.pad_id, is_backward=self.config.reverse_source
        )
        last: list[CellState] = states
        return last


def _context(states: list[CellState]) -> Tensor:
    """The one vector: what the top layer said last."""
    return states[-1][0]
