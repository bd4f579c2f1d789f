"""A recurrent layer with attention to the source: what the decoders of Bahdanau, Deep-Att, GNMT and MoE begin with.

Paper: Bahdanau et al. 2015, section 3.1 and appendix A.1.2; Wu et al. 2016, section 3, equation 4.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from jumok.architectures.base import Cell
from jumok.nn.recurrent import CellState, RecurrentLayer
from jumok.nn.source_attention import SourceAttention


class Source(NamedTuple):
    """What a decoder sees of the sentences that it translates."""

    memory: Tensor  # (B, S, M)
    keys: Tensor  # (B, S, D)
    is_word: Tensor  # (B, S)


class Looked(NamedTuple):
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

    def forward(self, x: Tensor, source: Source, state: CellState | None = None) -> Looked:
        """All steps from the first on: x is (B, T, d_in); without a state to begin with it is zeros."""
        of_x, of_context = self._input_weights()
        state = state or self.recurrent.start(x.size(0))
        steps: list[Looked] = []
        for from_x in F.linear(x, of_x, self.recurrent.input_bias).unbind(dim=1):  # one product for all steps
            looked, state = self._advance(from_x, of_context, state, source)
            steps.append(looked)
        return Looked(*(torch.stack(parts, dim=1) for parts in zip(*steps, strict=True)))

    def step(self, x: Tensor, state: CellState, source: Source) -> tuple[Looked, CellState]:
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
    ) -> tuple[Looked, CellState]:
        # The rows of one sentence are so many queries to one set of keys: (R, D) -> (B, N, D).
        query = state[0].view(source.memory.size(0), -1, state[0].size(-1))
        context, attn_weights = self.attention(query, source.keys, source.memory, source.is_word)
        context, attn_weights = context.flatten(0, 1), attn_weights.flatten(0, 1)
        gates = torch.addmm(from_x, context, of_context.t())
        state = self.recurrent.advance(gates, state)
        return Looked(gates, state[0], context, attn_weights), state
