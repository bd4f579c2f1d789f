"""Recurrent layers: plain RNN, LSTM and GRU over padded sentences, all steps or one.

Paper: Elman 1990; Hochreiter and Schmidhuber 1997 (LSTM, with the forget gate of Gers et al. 2000); Cho et al. 2014
(GRU).
Differs: the GRU multiplies by the reset gate after the product with the state, as torch and cuDNN do, so that each step
is one product.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from jumok.architectures.base import Cell

CellState = tuple[Tensor, ...]  # (R, D) each: h of an RNN or GRU, h and c of an LSTM
_NUM_GATES = {"rnn": 1, "lstm": 4, "gru": 3}


class RecurrentLayer(nn.Module):
    """One layer: h_t is a function of x_t and h_(t−1).

    What the input adds to the gates is one product for all steps (`project`), what the state adds one product a step.
    """

    def __init__(self, cell: Cell, d_in: int, d_out: int) -> None:
        super().__init__()
        self.cell = cell
        self.d_out = d_out
        num_rows = _NUM_GATES[cell] * d_out
        self.input_weight = nn.Parameter(torch.empty(num_rows, d_in))  # gates as torch orders them: i f g o, or r z n
        self.state_weight = nn.Parameter(torch.empty(num_rows, d_out))
        self.input_bias = nn.Parameter(torch.zeros(num_rows))
        self.state_bias = nn.Parameter(torch.zeros(num_rows)) if cell == "gru" else None  # else one would do for both
        for weight in (self.input_weight, self.state_weight):
            nn.init.uniform_(weight, -(d_out**-0.5), d_out**-0.5)
        if cell == "rnn":
            nn.init.orthogonal_(self.state_weight)  # the state neither grows nor fades at first (Saxe et al. 2014)
        if cell == "lstm":
            nn.init.ones_(self.input_bias[d_out : 2 * d_out])  # remember at first (Jozefowicz et al. 2015)

    def start(self, num_rows: int) -> CellState:
        """A state of zeros."""
        zeros = self.state_weight.new_zeros(num_rows, self.d_out)
        return (zeros, zeros) if self.cell == "lstm" else (zeros,)

    def project(self, x: Tensor) -> Tensor:
        """What the input adds to the gates, of any number of steps: (…, d_in) -> (…, G·D)."""
        return F.linear(x, self.input_weight, self.input_bias)

    def advance(self, projected: Tensor, state: CellState) -> CellState:
        """One step of every row, from the projected input (R, G·D)."""
        h = state[0]
        if self.cell == "rnn":
            return (torch.tanh(torch.addmm(projected, h, self.state_weight.t())),)
        if self.cell == "gru":
            from_state = F.linear(h, self.state_weight, self.state_bias)
            d = self.d_out
            reset, update = (projected[:, : 2 * d] + from_state[:, : 2 * d]).sigmoid().chunk(2, dim=1)
            new = torch.tanh(torch.addcmul(projected[:, 2 * d :], reset, from_state[:, 2 * d :]))
            return (torch.addcmul(new, update, h - new),)
        gates = torch.addmm(projected, h, self.state_weight.t())
        i, f, g, o = gates.chunk(4, dim=1)
        c = torch.addcmul(f.sigmoid() * state[1], i.sigmoid(), g.tanh())
        return o.sigmoid() * c.tanh(), c

    def forward(
        self, x: Tensor, state: CellState | None = None, is_word: Tensor | None = None, is_backward: bool = False
    ) -> tuple[Tensor, CellState]:
        """All steps, (B, T, d_in) -> (B, T, D), and the state after the last; `is_backward`: from last word to first.

        Where `is_word` (B, T) is False there is padding, which leaves the state as it was. Without it every position
        counts, as in a decoder, where padding stands behind the words and nobody asks for the last state.
        """
        return self.run(self.project(x.transpose(0, 1)).transpose(0, 1), state, is_word, is_backward)

    def run(
        self,
        projected: Tensor,
        state: CellState | None = None,
        is_word: Tensor | None = None,
        is_backward: bool = False,
    ) -> tuple[Tensor, CellState]:
        """The same from the projected input (B, T, G·D), for who has a use for that too."""
        state = state or self.start(projected.size(0))
        steps = projected.unbind(1)  # T × (B, G·D); `forward` makes each one piece of memory
        words = [None] * len(steps) if is_word is None else is_word.t()[:, :, None].unbind(0)
        if is_backward:
            steps, words = steps[::-1], words[::-1]
        outputs: list[Tensor] = []
        for into, is_here in zip(steps, words, strict=True):
            new = self.advance(into, state)
            if is_here is not None:
                new = tuple(torch.where(is_here, after, before) for after, before in zip(new, state, strict=True))
            state = new
            outputs.append(state[0])
        return torch.stack(outputs[::-1] if is_backward else outputs).transpose(0, 1), state

    def step(self, x: Tensor, state: CellState) -> CellState:
        """One step of every row: x is (R, d_in); the output is the state's first part."""
        return self.advance(self.project(x), state)

    def multiply_adds(self, num_tokens: int) -> int:
        """Of so many steps of a row, padded ones counted."""
        return num_tokens * (self.input_weight.numel() + self.state_weight.numel())


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


def recurrent_layers(layers: nn.ModuleList) -> list[RecurrentLayer]:
    """The same layers, by their type."""
    return [layer for layer in layers if isinstance(layer, RecurrentLayer)]
