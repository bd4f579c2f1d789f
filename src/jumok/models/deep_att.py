"""Deep-Att, read top to bottom: a layer that looks, fast-forward connections, the encoder's columns, the model.

Paper: Zhou et al. 2016, "Deep Recurrent Models with Fast-Forward Connections for Neural Machine Translation".
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from jumok.architectures.base import Cell
from jumok.architectures.deep_att import DeepAttConfig
from jumok.models.embedded import EmbeddedModel
from jumok.models.interface import AttentionWeights, BatchShape, DecoderState
from jumok.models.state import RowState
from jumok.nn.dropout import Dropout
from jumok.nn.recurrent import CellState, RecurrentLayer
from jumok.nn.source_attention import SourceAttention

# --- the bottom decoder layer, of GNMT too ----------------------------------------------------------------------


class Source(NamedTuple):
    """What a decoder sees of the sentences that it translates."""

    memory: Tensor  # (B, S, M)
    keys: Tensor  # (B, S, D)
    is_word: Tensor  # (B, S)


class Attended(NamedTuple):
    """What came of steps that looked: of all steps (B, T, ·), or of one step of each row (R, ·)."""

    gates: Tensor  # what the input and the context add to them
    output: Tensor
    context: Tensor
    attn_weights: Tensor


class AttendingLayer(nn.Module):
    """A recurrent layer that looks at the source before each step, with its output of the step before.

    What it looks for depends on what it has just read, so that it goes step by step in training too. The layers above
    it do not look: they are computed one after the other, each for all steps.
    """

    def __init__(self, cell: Cell, d_in: int, d_memory: int, d_out: int) -> None:
        super().__init__()
        self.d_in = d_in
        self.recurrent = RecurrentLayer(cell, d_in + d_memory, d_out)
        self.attention = SourceAttention("additive", d_out, d_memory)

    def read(self, memory: Tensor, is_word: Tensor) -> Source:
        """Get ready to look at these sentences."""
        return Source(memory, self.attention.keys(memory), is_word)

    def forward(self, x: Tensor, source: Source) -> Attended:
        """All steps from the first on: x is (B, T, d_in)."""
        of_x, of_context = self._input_weights()
        state = self.recurrent.start(x.size(0))
        steps: list[Attended] = []
        for from_x in F.linear(x, of_x, self.recurrent.input_bias).unbind(dim=1):  # one product for all steps
            attended, state = self._advance(from_x, of_context, state, source)
            steps.append(attended)
        return Attended(*(torch.stack(parts, dim=1) for parts in zip(*steps, strict=True)))

    def step(self, x: Tensor, state: CellState, source: Source) -> tuple[Attended, CellState]:
        """One step of every row: x is (R, d_in)."""
        of_x, of_context = self._input_weights()
        return self._advance(F.linear(x, of_x, self.recurrent.input_bias), of_context, state, source)

    def multiply_adds(self, num_rows: int, src_length: int, num_steps: int) -> int:
        """Of `read`, and of so many steps a sentence."""
        looking = self.attention.multiply_adds(num_rows, src_length, num_steps)
        return looking + self.recurrent.multiply_adds(num_rows * num_steps)

    def _input_weights(self) -> tuple[Tensor, Tensor]:
        weight = self.recurrent.input_weight
        return weight[:, : self.d_in], weight[:, self.d_in :]

    def _advance(
        self, from_x: Tensor, of_context: Tensor, state: CellState, source: Source
    ) -> tuple[Attended, CellState]:
        # The rows of one sentence are so many queries to one set of keys: (R, D) -> (B, N, D).
        query = state[0].view(source.memory.size(0), -1, state[0].size(-1))
        context, attn_weights = self.attention(query, source.keys, source.memory, source.is_word)
        context, attn_weights = context.flatten(0, 1), attn_weights.flatten(0, 1)
        gates = torch.addmm(from_x, context, of_context.t())
        state = self.recurrent.advance(gates, state)
        return Attended(gates, state[0], context, attn_weights), state


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


def recurrent_layers(layers: nn.ModuleList) -> list[RecurrentLayer]:
    """The same layers, by their type."""
    return [layer for layer in layers if isinstance(layer, RecurrentLayer)]


# --- the model --------------------------------------------------------------------------------------------------


class DeepAtt(EmbeddedModel):
    """Two columns read the source in interleaved directions; a stack of LSTM layers with attention writes the target.

    Paper: Zhou et al. 2016, section 3.1 and figure 2. Both columns' f and h are the memory, projected to a quarter of
    their width; the lowest decoder layer looks at it, and its input is the last piece with the context.
    Differs: the LSTM has no peepholes, and f holds the biases of the gates. Embeddings are as wide as a layer (the
    paper: half), and the decoder's last f and h pass a linear layer of that width on their way to the vocabulary, so
    that embeddings and output can share their weights. Dropout is on the embeddings and on that layer too.
    """

    has_attention = True

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

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        """Hidden vectors (B, T, D), teacher-forced."""
        return self._run(src, tgt)[0]

    def forward_with_weights(self, src: Tensor, tgt: Tensor) -> tuple[Tensor, AttentionWeights]:
        """The same pass, and what the lowest decoder layer looked at."""
        hidden, attn_weights = self._run(src, tgt)
        return hidden, AttentionWeights(cross=[attn_weights[:, None]])

    def start(self, src: Tensor) -> RowState:
        """Encode, and begin every layer with a state of zeros."""
        layers = [self.bottom.recurrent, *recurrent_layers(self.above)]
        return RowState.begin(tuple(part for layer in layers for part in layer.start(src.size(0))), self._encode(src))

    def step(self, last_ids: Tensor, state: DecoderState) -> tuple[Tensor, RowState]:
        """Log-probabilities (R, V) of the next piece of each row."""
        assert isinstance(state, RowState)
        x = self.tgt_embedding(last_ids)
        attended, rows = self.bottom.step(x, state.rows[:2], Source(*state.memory))
        f, h = attended.gates, attended.output
        for number, layer in enumerate(recurrent_layers(self.above), start=1):
            f = layer.project(self.hand_up(f, h))
            of_layer = layer.advance(f, state.rows[2 * number : 2 * number + 2])
            h = of_layer[0]
            rows += of_layer
        return self.log_probs(self._join_top(f, h)), state.after(rows)

    def multiply_adds(self, shape: BatchShape) -> int:
        """Every column and what joins them, the layers of the decoder and what joins f and h at its top, the output."""
        num_src, num_tgt = shape.num_rows * shape.src_length, shape.num_rows * shape.tgt_length
        columns = sum(layer.multiply_adds(num_src) for column in self._columns() for layer in column)
        joining = num_src * self.join_columns.weight.numel() + num_tgt * self.join_top.weight.numel()
        bottom = self.bottom.multiply_adds(shape.num_rows, shape.src_length, shape.tgt_length)
        above = sum(layer.multiply_adds(num_tgt) for layer in recurrent_layers(self.above))
        return columns + joining + bottom + above + shape.num_tgt_tokens * self.output_weight.numel()

    def _run(self, src: Tensor, tgt: Tensor) -> tuple[Tensor, Tensor]:
        attended = self.bottom(self.embed_tgt(tgt), self._encode(src))
        f, h = attended.gates, attended.output
        for layer in recurrent_layers(self.above):
            f = layer.project(self.hand_up(f, h))
            h, _ = layer.run(f)
        return self._join_top(f, h), attended.attn_weights

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
