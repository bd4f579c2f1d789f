"""Deep-Att, read top to bottom: fast-forward connections, the encoder's columns, the model.

Paper: Zhou et al. 2016, "Deep Recurrent Models with Fast-Forward Connections for Neural Machine Translation".
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from jumok.architectures.deep_att import DeepAttConfig
from jumok.models.embedded import AttentiveModel
from jumok.models.interface import BatchShape, DecoderState
from jumok.models.state import RowState
from jumok.nn.attending_layer import AttendingLayer, Source
from jumok.nn.dropout import Dropout
from jumok.nn.recurrent import RecurrentLayer, recurrent_layers
from jumok.nn.recurrent_stack import flat, layered

# --- fast-forward connections -----------------------------------------------------------------------------------


class FastForward(nn.Module):
    """What a layer hands up: half of f, which neither state nor activation has touched, joined with its output h.

    f is what a layer's input adds to its gates. From the embeddings to the top there is thus a path of nothing but
    matrices, along which a gradient reaches every layer of a deep stack.

    Paper: Zhou et al. 2016, section 3.1: f^k = W^k·[Half(f^(k−1)), Dropout(h^(k−1))]; half, because f is four times as
    wide as h, and no worse.
    """

    def __init__(self, d_model: int, dropout: float) -> None:
        super().__init__()
        self.d_half = 2 * d_model
        self.d_out = self.d_half + d_model
        self.dropout = Dropout(dropout)

    def forward(self, f: Tensor, h: Tensor) -> Tensor:
        """(…, 4·D) and (…, D) -> (…, 3·D)."""
        return torch.cat([f[..., : self.d_half], self.dropout(h)], dim=-1)


class Column(nn.Module):
    """LSTM layers of which every other one reads from the last word to the first.

    Paper: Zhou et al. 2016, section 3.1, figure 2: directions are interleaved from layer to layer.
    """

    def __init__(self, config: DeepAttConfig, begins_backward: bool) -> None:
        super().__init__()
        self.begins_backward = begins_backward
        self.hand_up = FastForward(config.d_model, config.dropout)
        widths = [config.d_model] + [self.hand_up.d_out] * (config.encoder_layers - 1)
        self.layers = nn.ModuleList(RecurrentLayer("lstm", width, config.d_model) for width in widths)

    def is_backward(self, number: int) -> bool:
        """Whether the layer of this number, 0 the lowest, reads backwards."""
        return self.begins_backward != (number % 2 == 1)

    def forward(self, x: Tensor, is_word: Tensor) -> tuple[Tensor, Tensor]:
        """From embedded source to the top layer's f (B, S, 4·D) and h (B, S, D)."""
        f, h = x, x
        for number, layer in enumerate(recurrent_layers(self.layers)):
            f = layer.project(self.hand_up(f, h) if number else x)
            # Padding stands behind the words: who reads forwards meets it when there is nothing more to read.
            h, _ = layer.run(f, is_word=is_word, is_backward=True) if self.is_backward(number) else layer.run(f)
        return f, h


# --- the model --------------------------------------------------------------------------------------------------


class DeepAtt(AttentiveModel):
    """Two columns read the source in interleaved directions; a stack of LSTM layers with attention writes the target.

    Paper: Zhou et al. 2016, section 3.1 and figure 2. Both columns' f and h are the memory, projected to a quarter of
    their width; the lowest decoder layer looks at it, and its input is the last piece with the context.
    Differs: the LSTM has no peepholes, and f holds the biases of the gates. Embeddings are as wide as a layer (the
    paper: half), and the decoder's last f and h pass a linear layer of that width on their way to the vocabulary, so
    that embeddings and output can share their weights. Dropout is on the embeddings and on that layer too.
    """

    def __init__(self, config: DeepAttConfig, src_vocab_size: int, tgt_vocab_size: int, pad_id: int) -> None:
        super().__init__(config, src_vocab_size, tgt_vocab_size, pad_id)
        self.config = config
        d = config.d_model
        self.columns = nn.ModuleList(Column(config, begins_backward) for begins_backward in (False, True))
        d_joined = 2 * (4 * d + d)
        self.join_columns = nn.Linear(d_joined, d_joined // 4, bias=False)
        self.bottom = AttendingLayer("lstm", d, d_joined // 4, d)
        self.hand_up = FastForward(d, config.dropout)
        self.above = nn.ModuleList(
            RecurrentLayer("lstm", self.hand_up.d_out, d) for _ in range(config.decoder_layers - 1)
        )
        self.join_top = nn.Linear(4 * d + d, d)

    def start(self, src: Tensor) -> RowState:
        """Encode, and begin every layer with a state of zeros."""
        layers = [self.bottom.recurrent, *recurrent_layers(self.above)]
        return RowState.begin(flat([layer.start(src.size(0)) for layer in layers]), self._encode(src))

    def step(self, last_ids: Tensor, state: DecoderState) -> tuple[Tensor, RowState]:
        """Log-probabilities (R, V) of the next piece of each row."""
        assert isinstance(state, RowState)
        states = layered(state.rows, self.config.decoder_layers)
        looked, lowest = self.bottom.step(self.tgt_embedding(last_ids), states[0], Source(*state.memory))
        f, h, new_states = looked.gates, looked.output, [lowest]
        for layer, of_layer in zip(recurrent_layers(self.above), states[1:], strict=True):
            f = layer.project(self.hand_up(f, h))
            new_states.append(layer.advance(f, of_layer))
            h = new_states[-1][0]
        return self.log_probs(self._join_top(f, h)), state.after(flat(new_states))

    def multiply_adds(self, shape: BatchShape) -> int:
        """Every column and what joins them, the layers of the decoder and what joins f and h at its top, the output."""
        num_src, num_tgt = shape.num_rows * shape.src_length, shape.num_rows * shape.tgt_length
        columns = sum(layer.multiply_adds(num_src) for column in self._columns() for layer in column)
        joining = num_src * self.join_columns.weight.numel() + num_tgt * self.join_top.weight.numel()
        bottom = self.bottom.multiply_adds(shape.num_rows, shape.src_length, shape.tgt_length)
        above = sum(layer.multiply_adds(num_tgt) for layer in recurrent_layers(self.above))
        return columns + joining + bottom + above + shape.num_tgt_tokens * self.output_weight.numel()

    def run(self, src: Tensor, tgt: Tensor) -> tuple[Tensor, Tensor]:
        """Hidden vectors (B, T, D), and what was looked at (B, T, S)."""
        looked = self.bottom(self.embed_tgt(tgt), self._encode(src))
        f, h = looked.gates, looked.output
        for layer in recurrent_layers(self.above):
            f = layer.project(self.hand_up(f, h))
            h, _ = layer.run(f)
        return self._join_top(f, h), looked.attn_weights

    def _encode(self, src: Tensor) -> Source:
        is_word = src != self.pad_id
        x = self.embed_src(src)
        tops = [part for column in self.columns for part in column(x, is_word)]
        return self.bottom.read(self.join_columns(torch.cat(tops, dim=-1)), is_word)  # (B, S, 10·D) -> (B, S, 2.5·D)

    def _join_top(self, f: Tensor, h: Tensor) -> Tensor:
        hidden: Tensor = self.dropout(self.join_top(torch.cat([f, h], dim=-1)))
        return hidden

    def _columns(self) -> list[list[RecurrentLayer]]:
        return [recurrent_layers(column.layers) for column in self.columns if isinstance(column, Column)]
