"""Recurrent layers upon each other, each reading what the one below says."""

from __future__ import annotations

from collections.abc import Iterator

from torch import Tensor, nn

from jumok.architectures.base import Cell
from jumok.nn.dropout import Dropout
from jumok.nn.recurrent import CellState, RecurrentLayer


class RecurrentStack(nn.Module):
    """Layers upon layers, each reading what the one below says, with dropout in between.

    Paper: Zaremba et al. 2015, "Recurrent Neural Network Regularization", section 3.2: dropout goes between layers,
    never from step to step.
    """

    def __init__(self, cell: Cell, d_in: int, d_out: int, num_layers: int, dropout: float) -> None:
        super().__init__()
        # Not a ModuleList, whose members sharded training takes for whole calls: a decoder also calls parts of them.
        self.layers = nn.Sequential(*(RecurrentLayer(cell, d_out if i else d_in, d_out) for i in range(num_layers)))
        self.dropout = Dropout(dropout)

    def __iter__(self) -> Iterator[RecurrentLayer]:
        for layer in self.layers:
            assert isinstance(layer, RecurrentLayer)
            yield layer

    @property
    def bottom(self) -> RecurrentLayer:
        """The layer that sees the input."""
        return next(iter(self))

    def forward(
        self,
        x: Tensor,
        states: list[CellState] | None = None,
        is_word: Tensor | None = None,
        is_backward: bool = False,
    ) -> tuple[Tensor, list[CellState]]:
        """All steps: what the top layer says (B, T, D), and the last state of every layer."""
        last: list[CellState] = []
        for i, layer in enumerate(self):
            x, state = layer(self.dropout(x) if i else x, states and states[i], is_word, is_backward)
            last.append(state)
        return x, last

    def advance(self, projected: Tensor, states: list[CellState]) -> list[CellState]:
        """One step of every row, from what the first layer's input adds to its gates."""
        new: list[CellState] = []
        for i, (layer, state) in enumerate(zip(self, states, strict=True)):
            new.append(layer.advance(layer.project(self.dropout(new[-1][0])) if i else projected, state))
        return new

    def step(self, x: Tensor, states: list[CellState]) -> list[CellState]:
        """One step of every row: x is (R, d_in)."""
        return self.advance(self.bottom.project(x), states)

    def multiply_adds(self, num_tokens: int) -> int:
        """Of so many steps of a row, padded ones counted."""
        return sum(layer.multiply_adds(num_tokens) for layer in self)


def flat(states: list[CellState]) -> tuple[Tensor, ...]:
    """The states of all layers as the rows of a RowState."""
    return tuple(part for state in states for part in state)


def layered(rows: tuple[Tensor, ...], num_layers: int) -> list[CellState]:
    """The way back."""
    size = len(rows) // num_layers
    return [rows[i : i + size] for i in range(0, len(rows), size)]
