"""Attention as pictures: one head, every head of every layer, or the one figure that explains it to a newcomer."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from jumok.inspection.kinds import Kind, Weights, pieces_of, weights_of
from jumok.inspection.selection import Selection
from jumok.inspection.sheet import (
    INK,
    MUTED,
    PAPER,
    Sheet,
    clamp,
    draw_map,
    draw_scale,
    label_bottom,
    label_side,
    label_size,
    label_top,
    picture_labels,
    pleasant_columns,
    text_width,
)
from jumok.inspection.trace import AttentionTrace

TITLES: dict[Kind, str] = {
    "encoder": "Encoder self-attention",
    "decoder": "Decoder self-attention",
    "cross": "Cross-attention",
}
NOTES: dict[Kind, str] = {
    "encoder": "Row: a source piece. Column: a source piece it looks at.",
    "decoder": "Row: a target piece as read. Column: itself, or a piece before it.",
    "cross": "Row: a target piece while it is written. Column: a source piece it looks at.",
}
_MARKS = "A leading _ begins a word."
_NARROWEST = 7.5  # inches of a sheet, for its headings
_MAX_CELLS_WITH_NUMBERS = 260  # above it the figures would be too small to read


def draw_attention_map(trace: AttentionTrace, selection: Selection, path: Path) -> None:
    """One head, as large as it can be read well: the first of the selection."""
    [weights, *_] = (heads[0] for heads in selection.weights(trace))
    rows, columns = (picture_labels(pieces) for pieces in pieces_of(trace, selection.kind))
    longest = max(len(rows), len(columns))
    step = min(clamp(0.22, 5.5 / longest, 0.5), 24 / longest)  # inches a piece
    map_width, map_height = step * len(columns), step * len(rows)
    font_size, every = label_size(step, 12)
    left = 0.45 + text_width(rows, font_size)
    lean = text_width(columns, font_size)
    top = 1.6 + lean * 0.85
    sheet = Sheet(max(left + map_width + max(0.9, lean * 0.7 + 0.2), _NARROWEST), top + map_height + 0.75)
    place = f"layer {selection.layers[0] + 1}, head {selection.heads[0] + 1}"
    sheet.text(0.4, 0.42, f"{TITLES[selection.kind]}, {place}", size=17, weight="bold")
    sheet.sentences(trace, 0.4, 0.83)
    axes = sheet.axes(left, top, map_width, map_height)
    image = draw_map(axes, weights, has_grid=True)
    label_side(axes, rows, font_size, every)
    label_top(axes, columns, font_size, every)
    draw_scale(sheet, image, left + map_width + 0.16, top, map_height)
    if len(rows) * len(columns) <= _MAX_CELLS_WITH_NUMBERS:
        for row, column in zip(*(weights >= 0.05).nonzero(), strict=True):
            weight = float(weights[row, column])
            color, size = (PAPER if weight > 0.35 else INK), clamp(5, 17 * step, 8)
            axes.text(column, row, f"{weight:.2f}", size=size, color=color, ha="center", va="center")
    sheet.text(0.4, top + map_height + 0.36, f"{NOTES[selection.kind]} {_MARKS}", size=9.5, color=MUTED)
    sheet.save(path)


def draw_attention_grid(trace: AttentionTrace, selection: Selection, path: Path) -> None:
    """All chosen heads: a row a layer, a column a head; few layers of many heads run over several lines."""
    weights = selection.weights(trace)
    rows, columns = (picture_labels(pieces) for pieces in pieces_of(trace, selection.kind))
    longest = max(len(rows), len(columns))
    step = min(max(0.17, 1.7 / longest), 6 / longest)  # inches a piece
    map_width, map_height = step * len(columns), step * len(rows)
    font_size, every = label_size(step, 9)
    across = pleasant_columns(len(selection.heads), map_width, map_height * len(weights))
    lines_of_layer = len(selection.heads) // across
    left = 0.75 + text_width(rows, font_size)
    top, gap, name = 1.65, 0.14, 0.24
    line_height = map_height + (name if lines_of_layer > 1 else gap)
    layer_height = lines_of_layer * line_height + (0.25 if lines_of_layer > 1 else 0)
    height = top + len(weights) * layer_height + 0.65 + text_width(columns, font_size)
    sheet = Sheet(max(left + across * (map_width + gap) + 0.25, _NARROWEST), height)
    sheet.text(0.4, 0.42, _grid_title(trace, selection), size=15, weight="bold")
    sheet.sentences(trace, 0.4, 0.83)
    for number, heads in enumerate(weights):
        block = top + number * layer_height
        middle = block + (lines_of_layer * line_height - (line_height - map_height)) / 2
        sheet.name(0.4, middle, f"layer {selection.layers[number] + 1}", rotation=90)
        for place, head in enumerate(heads):
            line, column = divmod(place, across)
            x, y = left + column * (map_width + gap), block + line * line_height
            axes = sheet.axes(x, y, map_width, map_height)
            draw_map(axes, head)
            if lines_of_layer > 1 or number == 0:
                sheet.name(x + map_width / 2, y - 0.12, f"head {selection.heads[place] + 1}")
            if column == 0:
                label_side(axes, rows, font_size, every)
            if (number, line) == (len(weights) - 1, lines_of_layer - 1):
                label_bottom(axes, columns, font_size, every)
    sheet.text(0.4, sheet.height - 0.3, f"{NOTES[selection.kind]} {_MARKS}", size=9.5, color=MUTED)
    sheet.save(path)


def _grid_title(trace: AttentionTrace, selection: Selection) -> str:
    weights = weights_of(trace, selection.kind)
    num_layers, num_heads = len(weights), weights[0].shape[0]
    heads = "every head" if len(selection.heads) == num_heads else "chosen heads"
    if len(selection.layers) == 1:
        place = f"{heads} of layer {selection.layers[0] + 1}"
    else:
        place = f"{heads} of {'every layer' if len(selection.layers) == num_layers else 'chosen layers'}"
    return f"{TITLES[selection.kind]}: {place.replace('every head of ', '') if num_heads == 1 else place}"


def draw_attention(trace: AttentionTrace, path: Path) -> None:
    """The figure for a newcomer: what each target piece was made from, and every head beside it."""
    rows, columns = (picture_labels(pieces) for pieces in pieces_of(trace, "cross"))
    longest = max(len(rows), len(columns))
    step = min(clamp(0.22, 4.6 / longest, 0.48), 10 / longest)  # inches a piece
    map_width, map_height = step * len(columns), step * len(rows)
    font_size, every = label_size(step, 12)
    left = 0.45 + text_width(rows, font_size)
    top = 1.6 + text_width(columns, font_size) * 0.85  # the labels lean
    cross = weights_of(trace, "cross")
    room = max(map_height, 0.95 * len(cross))  # many layers may reach further down than the sentence
    heads = _HeadGrid.fitting(cross, left + map_width + 1.3, top, room)
    sheet = Sheet(max(heads.left + heads.width + 0.35, _NARROWEST), top + max(map_height, heads.height) + 0.95)

    sheet.text(0.4, 0.42, "Where the translator looks while it writes", size=17, weight="bold")
    sheet.sentences(trace, 0.4, 0.83)
    axes = sheet.axes(left, top, map_width, map_height)
    image = draw_map(axes, cross[-1].mean(axis=0), highest=None, has_grid=True)
    label_side(axes, rows, font_size, every)
    label_top(axes, columns, font_size, every)
    draw_scale(sheet, image, left + map_width + 0.16, top, map_height)
    for line, text in enumerate(
        (
            "Row: the piece being written. Column: a source piece it looks at.",
            f"Mean of the {heads.num_heads} heads of the last layer. {_MARKS}",
        )
    ):
        sheet.text(left, top + map_height + 0.26 + 0.21 * line, text, size=9.5, color=MUTED)
    heads.draw(sheet)
    sheet.save(path)


@dataclass(frozen=True)
class _HeadGrid:
    """Small maps of every head: a block a layer, in which the heads may run over several lines."""

    weights: Weights
    left: float
    top: float
    num_columns: int
    map_width: float
    map_height: float

    GAP, NAME, BLOCK_GAP = 0.12, 0.22, 0.14  # between maps; for the name above a map; between layers
    MAX_WIDTH = 7.2

    @classmethod
    def fitting(cls, weights: Weights, left: float, top: float, height: float) -> _HeadGrid:
        """As large as width and height allow, at about the proportions of the sentence."""
        num_heads, num_rows, num_columns = weights[0].shape
        proportion = clamp(0.6, num_rows / num_columns, 1.6)
        across, size, room = num_heads, 0.4, 0.0
        for candidate in (n for n in range(1, num_heads + 1) if num_heads % n == 0):  # no line half empty
            lines = len(weights) * num_heads // candidate
            high = (height - cls.BLOCK_GAP * (len(weights) - 1)) / lines - cls.NAME
            wide = min(cls.MAX_WIDTH / candidate - cls.GAP, high / proportion, 2.2)
            if wide > size:
                across, size, room = candidate, wide, high
        map_height = max(size * proportion, min(room, 1.4 * size * proportion))
        return cls(weights, left, top, across, size, map_height)

    @property
    def num_heads(self) -> int:
        return int(self.weights[0].shape[0])

    @property
    def width(self) -> float:
        return self.num_columns * (self.map_width + self.GAP)

    @property
    def height(self) -> float:
        return len(self.weights) * self._block_height + self.BLOCK_GAP * (len(self.weights) - 1)

    @property
    def _block_height(self) -> float:
        return math.ceil(self.num_heads / self.num_columns) * (self.map_height + self.NAME)

    def draw(self, sheet: Sheet) -> None:
        """Put the maps on the sheet."""
        sheet.text(self.left, self.top - 0.36, "Every head of every layer by itself", size=11, weight="bold")
        for layer, of_heads in enumerate(self.weights):
            block = self.top + layer * (self._block_height + self.BLOCK_GAP)
            middle = block + (self._block_height + self.NAME) / 2
            sheet.name(self.left - 0.17, middle, f"layer {layer + 1}", rotation=90)
            for head, weights in enumerate(of_heads):
                line, column = divmod(head, self.num_columns)
                x = self.left + column * (self.map_width + self.GAP)
                y = block + line * (self.map_height + self.NAME) + self.NAME
                draw_map(sheet.axes(x, y, self.map_width, self.map_height), weights)
                name = f"head {head + 1}" if self.map_width > 0.6 else str(head + 1)
                sheet.name(x + self.map_width / 2, y - 0.1, name)
