"""GNMT, read top to bottom: the residual rule, encoder, decoder, the model.

Paper: Wu et al. 2016, "Google's Neural Machine Translation System", section 3 and figure 1. Its length and coverage
penalties are in `decoding/`, its refinement by reward in `training/`.
"""

from __future__ import annotations

from typing import Final

import torch
from torch import Tensor, nn

from jumok.architectures.gnmt import GnmtConfig
from jumok.models.embedded import AttentiveModel
from jumok.models.interface import BatchShape, DecoderState
from jumok.models.state import RowState
from jumok.nn.attending_layer import AttendingLayer, Source
from jumok.nn.dropout import Dropout
from jumok.nn.recurrent import BidirectionalLayer, CellState, RecurrentLayer, recurrent_layers
from jumok.nn.recurrent_stack import flat, layered

FIRST_RESIDUAL: Final = 3  # counted from the bottom, 1 the lowest

# --- stacks -----------------------------------------------------------------------------------------------------


class ResidualDropout(nn.Module):
    """Dropout of a layer's output, and from the third layer on the layer's input added to it.

    Paper: Wu et al. 2016, section 3.1, equation 6, and figure 1.
    """

    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.dropout = Dropout(dropout)

    def forward(self, number: int, below: Tensor, output: Tensor) -> Tensor:
        """What layer `number` hands up, from what it got and what it made of it."""
        return self.dropout.add(output, below) if number >= FIRST_RESIDUAL else self.dropout(output)


class Encoder(nn.Module):
    """The first layer reads both ways, those above it forwards.

    Paper: Wu et al. 2016, section 3.2, figure 3.
    """

    def __init__(self, config: GnmtConfig) -> None:
        super().__init__()
        d = config.d_model
        self.first = BidirectionalLayer("lstm", d, d)
        widths = [2 * d, *[d] * config.encoder_layers][: config.encoder_layers]  # of what each layer hands up
        self.above = nn.ModuleList(RecurrentLayer("lstm", width, d) for width in widths[:-1])
        self.d_memory = widths[-1]
        self.hand_up = ResidualDropout(config.dropout)

    def forward(self, x: Tensor, is_word: Tensor) -> Tensor:
        """From embedded source to memory; padding stands behind the words, and only who reads backwards minds it."""
        x = self.hand_up(1, x, self.first(x, is_word))
        for number, layer in enumerate(self.above, start=2):
            x = self.hand_up(number, x, layer(x)[0])
        return x

    def multiply_adds(self, num_tokens: int) -> int:
        """Of so many tokens, padded ones counted."""
        above = sum(layer.multiply_adds(num_tokens) for layer in recurrent_layers(self.above))
        return self.first.multiply_adds(num_tokens) + above


class Decoder(nn.Module):
    """The bottom layer looks at the source with its last output; every layer sees the context that it found.

    Paper: Wu et al. 2016, section 3, equation 4, and figure 1.
    """

    def __init__(self, config: GnmtConfig, d_memory: int) -> None:
        super().__init__()
        d = config.d_model
        self.bottom = AttendingLayer("lstm", d, d_memory, d)
        self.above = nn.ModuleList(RecurrentLayer("lstm", d + d_memory, d) for _ in range(config.decoder_layers - 1))
        self.hand_up = ResidualDropout(config.dropout)

    def forward(self, x: Tensor, source: Source) -> tuple[Tensor, Tensor]:
        """Hidden vectors (B, T, D) and attention weights (B, T, S), from embedded target."""
        looked = self.bottom(x, source)
        x = self.hand_up(1, x, looked.output)
        for number, layer in enumerate(self.above, start=2):
            output, _ = layer(torch.cat([x, looked.context], dim=-1))
            x = self.hand_up(number, x, output)
        return x, looked.attn_weights

    def start(self, num_rows: int) -> list[CellState]:
        """States of zeros, of one layer after the other."""
        return [layer.start(num_rows) for layer in (self.bottom.recurrent, *recurrent_layers(self.above))]

    def step(self, x: Tensor, states: list[CellState], source: Source) -> tuple[Tensor, list[CellState]]:
        """One step of every row: x is (R, D)."""
        looked, lowest = self.bottom.step(x, states[0], source)
        x = self.hand_up(1, x, looked.output)
        new_states = [lowest]
        for number, layer in enumerate(recurrent_layers(self.above), start=2):
            new_states.append(layer.step(torch.cat([x, looked.context], dim=-1), states[number - 1]))
            x = self.hand_up(number, x, new_states[-1][0])
        return x, new_states

    def multiply_adds(self, num_rows: int, src_length: int, num_steps: int) -> int:
        """Of so many steps a sentence."""
        above = sum(layer.multiply_adds(num_rows * num_steps) for layer in recurrent_layers(self.above))
        return above + self.bottom.multiply_adds(num_rows, src_length, num_steps)


# --- the model --------------------------------------------------------------------------------------------------


class Gnmt(AttentiveModel):
    """Residual LSTM stacks that read and write, with attention from the bottom of the writer to the top of the reader.

    Paper: Wu et al. 2016, section 3 and figure 1.
    Differs: weights start as each layer has them (the paper: uniform within ±0.04); embeddings and output
    can share their weights, as everywhere in Jumok; nothing is quantized, so that states and logits are not clipped in
    training, and h = o·tanh(c), where the paper then leaves the tanh out (section 6).
    """

    def __init__(self, config: GnmtConfig, src_vocab_size: int, tgt_vocab_size: int, pad_id: int) -> None:
        super().__init__(config, src_vocab_size, tgt_vocab_size, pad_id)
        self.config = config
        self.encoder = Encoder(config)
        self.decoder = Decoder(config, self.encoder.d_memory)

    def start(self, src: Tensor) -> RowState:
        """Encode, and begin every layer with a state of zeros."""
        return RowState.begin(flat(self.decoder.start(src.size(0))), self._encode(src))

    def step(self, last_ids: Tensor, state: DecoderState) -> tuple[Tensor, RowState]:
        """Log-probabilities (R, V) of the next piece of each row."""
        assert isinstance(state, RowState)
        states = layered(state.rows, self.config.decoder_layers)
        hidden, states = self.decoder.step(self.tgt_embedding(last_ids), states, Source(*state.memory))
        return self.log_probs(hidden), state.after(flat(states))

    def multiply_adds(self, shape: BatchShape) -> int:
        """The layers of encoder and decoder, and the output."""
        encoder = self.encoder.multiply_adds(shape.num_rows * shape.src_length)
        decoder = self.decoder.multiply_adds(shape.num_rows, shape.src_length, shape.tgt_length)
        return encoder + decoder + shape.num_tgt_tokens * self.output_weight.numel()

    def run(self, src: Tensor, tgt: Tensor) -> tuple[Tensor, Tensor]:
        """Hidden vectors (B, T, D), and what was looked at (B, T, S)."""
        hidden, attn_weights = self.decoder(self.embed_tgt(tgt), self._encode(src))
        return hidden, attn_weights

    def _encode(self, src: Tensor) -> Source:
        is_word = src != self.pad_id
        return self.decoder.bottom.read(self.encoder(self.embed_src(src), is_word), is_word)
