"""What somebody chose to look at: one of the three attentions, some of its layers and heads, one word.

Layers and heads count from 1 for people and from 0 here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jumok.errors import UsageError
from jumok.inspection.kinds import Kind, kinds_of, pieces_of, weights_of
from jumok.inspection.labels import Span, find_text, join_pieces, words_of
from jumok.inspection.trace import AttentionTrace


@dataclass(frozen=True)
class Selection:
    """Some heads of some layers of one attention."""

    kind: Kind
    layers: list[int]
    heads: list[int]

    @classmethod
    def of(
        cls, trace: AttentionTrace, kind: Kind, layers: Sequence[int] | None = None, heads: Sequence[int] | None = None
    ) -> Selection:
        """These layers and heads, all where None are named; what is not there is refused."""
        known = kinds_of(trace)
        if kind not in known:
            raise UsageError(f"kind {kind}: this model has {' and '.join(known)} attention only")
        weights = weights_of(trace, kind)
        return cls(
            kind,
            _existing(layers, len(weights), f"layer of {kind} attention"),
            _existing(heads, weights[0].shape[0], "head in a layer"),
        )

    def weights(self, trace: AttentionTrace) -> list[NDArray[np.float32]]:
        """Of each chosen layer those of the chosen heads (H, Q, M)."""
        of_layers = weights_of(trace, self.kind)
        return [of_layers[layer][self.heads] for layer in self.layers]


@dataclass(frozen=True)
class Link:
    """A word and the word that it looks at most."""

    word: Span
    looks_at: Span
    weight: float


@dataclass(frozen=True)
class ChosenWord:
    """A word that looks, or (at the other side of cross-attention) one that is looked at."""

    span: Span
    is_looked_at: bool = False


def strongest_links(
    trace: AttentionTrace, selection: Selection, row_has_spaces: bool = True, column_has_spaces: bool = True
) -> list[Link]:
    """What each word looks at most, in the mean of the chosen layers and heads; begin and end are no words."""
    weights = np.mean([heads.mean(axis=0) for heads in selection.weights(trace)], axis=0)  # (Q, M)
    rows, columns = pieces_of(trace, selection.kind)
    looked_at = words_of(columns, column_has_spaces)
    links = []
    for word in words_of(rows, row_has_spaces) if looked_at else []:
        of_word = weights[word.start : word.end].mean(axis=0)
        sums = [float(of_word[other.start : other.end].sum()) for other in looked_at]
        best = int(np.argmax(sums))
        links.append(Link(word, looked_at[best], sums[best]))
    return links


def choose_word(
    trace: AttentionTrace, kind: Kind, wanted: str, row_has_spaces: bool = True, column_has_spaces: bool = True
) -> ChosenWord:
    """The word of this number (from 1) among those that look, or of this text on either side."""
    rows, columns = pieces_of(trace, kind)
    words, text = words_of(rows, row_has_spaces), join_pieces(rows)
    if wanted.isdecimal():
        if not 1 <= int(wanted) <= len(words):
            raise UsageError(f"word {wanted}: “{text}” has words 1 to {len(words)}; choose one of them")
        return ChosenWord(words[int(wanted) - 1])
    found = [ChosenWord(span) for span in find_text(rows, wanted, row_has_spaces)]
    if not found and kind == "cross":
        found = [ChosenWord(span, is_looked_at=True) for span in find_text(columns, wanted, column_has_spaces)]
    if not found:
        sides = f"“{text}”" + (f" nor in “{join_pieces(columns)}”" if kind == "cross" else "")
        raise UsageError(f"word {wanted}: is not in {sides}; choose one that is, or its number")
    if len(found) > 1:
        if found[0].is_looked_at:
            raise UsageError(f"word {wanted}: stands {len(found)} times in “{join_pieces(columns)}”; add a neighbour")
        numbers = [str(_number_of(chosen.span, words)) for chosen in found]
        raise UsageError(f"word {wanted}: stands in “{text}” as word {' and '.join(numbers)}; give the number")
    return found[0]


def _number_of(span: Span, words: Sequence[Span]) -> int:
    return next((number for number, word in enumerate(words, start=1) if span.start < word.end), len(words))


def _existing(numbers: Sequence[int] | None, count: int, what: str) -> list[int]:
    if numbers is None:
        return list(range(count))
    for number in numbers:
        if not 0 <= number < count:
            there = "there is only 1" if count == 1 else f"there are 1 to {count}"
            raise UsageError(f"no {what} has number {number + 1}; {there}")
    return list(numbers)
