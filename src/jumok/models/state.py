"""What a model remembers between two steps: tensors of each row, and tensors that the rows of a sentence share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor


def select_sentences(sentence_of_row: Tensor, rows: Tensor, num_sentences: int) -> tuple[Tensor | None, Tensor]:
    """Which sentences are left when these rows are, None where they are all there as before; and the rows' new ones."""
    kept, new_sentence_of_row, counts = torch.unique_consecutive(
        sentence_of_row[rows], return_inverse=True, return_counts=True
    )
    assert (counts == counts[:1]).all(), "every sentence has equally many rows"
    is_as_before = torch.equal(kept, torch.arange(num_sentences, device=kept.device))
    return None if is_as_before else kept, new_sentence_of_row


@dataclass(frozen=True)
class RowState:
    """The state of a model whose memory is a handful of tensors.

    A model with N rows a sentence finds its queries by `by_sentence`, and goes back by `flatten(0, 1)`.
    """

    rows: tuple[Tensor, ...]  # (R, …) each
    memory: tuple[Tensor, ...]  # (B, …) each, shared by the rows of a sentence; may be empty
    sentence_of_row: Tensor  # (R,)
    length: int = 0  # how many pieces were fed so far

    @classmethod
    def begin(cls, rows: tuple[Tensor, ...], memory: tuple[Tensor, ...]) -> Self:
        """One row a sentence."""
        first = (*rows, *memory)[0]
        return cls(rows, memory, torch.arange(first.size(0), device=first.device))

    def after(self, rows: tuple[Tensor, ...]) -> Self:
        """The same memory one piece later."""
        return type(self)(rows, self.memory, self.sentence_of_row, self.length + 1)

    def by_sentence(self, x: Tensor) -> Tensor:
        """A tensor of rows, the rows of a sentence together: (R, D) -> (B, N, D)."""
        return x.view(self.memory[0].size(0), -1, x.size(-1))

    def select(self, rows: Tensor) -> Self:
        """Reorder, repeat or drop rows; memory is copied only when a whole sentence goes or moves."""
        num_sentences = self.memory[0].size(0) if self.memory else int(self.sentence_of_row.max()) + 1
        kept, sentence_of_row = select_sentences(self.sentence_of_row, rows, num_sentences)
        memory = self.memory if kept is None else tuple(of_sentence[kept] for of_sentence in self.memory)
        return type(self)(tuple(of_row[rows] for of_row in self.rows), memory, sentence_of_row, self.length)
