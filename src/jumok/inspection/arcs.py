"""One word and what it looks at: an arc a head, in the head's colour, the stronger the more.

Paper: Vaswani et al. 2017, figures 3 to 5.
Differs: the sentence runs down the sheet, where Hangul, Kana and Han are read without a turned head; beside each word
a box a head says the same as the arcs, in the order of the heads, for who cannot tell the colours apart.
"""

from __future__ import annotations

import colorsys
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection, PolyCollection
from matplotlib.colors import to_rgba
from matplotlib.patches import FancyBboxPatch
from matplotlib.path import Path as Curve
from numpy.typing import NDArray

from jumok.inspection.fonts import font_families
from jumok.inspection.kinds import pieces_of
from jumok.inspection.pictures import TITLES
from jumok.inspection.selection import ChosenWord, Selection
from jumok.inspection.sheet import FRAME, INK, MUTED, Sheet, clamp, picture_labels, pleasant_columns, text_width
from jumok.inspection.trace import AttentionTrace

# Told apart on white by most eyes; more heads than these take hues at equal distances.
_HEAD_COLORS = ("#d1495b", "#00798c", "#e08e0b", "#3443a0", "#57a639", "#9b4f96", "#6f4e37", "#1fa2c9")
_FAINTEST = 0.03  # weights below are not drawn as arcs; their boxes are
_REACH, _GAP, _NAMES = 2.0, 0.55, 0.5  # inches: of an arc; between layers; for names above a layer
_CHOSEN, _EMPTY = "#e9ecf8", "#f6f7fc"
_BEND = [Curve.MOVETO, Curve.CURVE4, Curve.CURVE4, Curve.CURVE4]


def head_colors(num_heads: int) -> list[str]:
    """A colour for each head of the model: a head keeps its own in every picture of it."""
    if num_heads <= len(_HEAD_COLORS):
        return list(_HEAD_COLORS[:num_heads])
    shades = (colorsys.hls_to_rgb(head / num_heads, (0.36, 0.52)[head % 2], 0.7) for head in range(num_heads))
    return ["#" + "".join(f"{round(255 * part):02x}" for part in shade) for shade in shades]


def arcs_sheet(trace: AttentionTrace, selection: Selection, chosen: ChosenWord, num_heads: int) -> Sheet:
    """A panel a layer; `num_heads` is how many the model has, of which the selection may show some."""
    panels = [
        _Panel(trace, selection, chosen, heads, [head_colors(num_heads)[head] for head in selection.heads])
        for heads in selection.weights(trace)
    ]
    width, height = panels[0].width + _GAP, panels[0].height + _NAMES + 0.2
    across, top = pleasant_columns(len(panels), width, height), 1.45
    sheet = Sheet(max(0.8 + across * width, 7.5), top + len(panels) // across * height + 0.7)
    sheet.text(0.4, 0.42, f"{TITLES[selection.kind]} of one word, head by head", size=15, weight="bold")
    sheet.sentences(trace, 0.4, 0.83)
    for number, (layer, panel) in enumerate(zip(selection.layers, panels, strict=True)):
        line, column = divmod(number, across)
        panel.draw(sheet, 0.4 + column * width, top + line * height + _NAMES, f"layer {layer + 1}")
    word = f"“{chosen.span.text}”"
    question = f"What looks at {word}." if chosen.is_looked_at else f"What {word} looks at."
    notes = (f"{question} The wider and darker, the more.", "A box a head, numbered above. A leading _ begins a word.")
    for line, note in enumerate(notes):
        sheet.text(0.4, sheet.height - 0.5 + 0.21 * line, note, size=9.5, color=MUTED)
    return sheet


class _Panel:
    """One layer: those that look at the left, those that are looked at at the right."""

    STEP, SIZE, BOX = 0.25, 11.0, 0.15  # inches from word to word; points; inches of a box

    def __init__(
        self,
        trace: AttentionTrace,
        selection: Selection,
        chosen: ChosenWord,
        weights: NDArray[np.float32],
        colors: Sequence[str],
    ) -> None:
        self.rows, self.columns = (picture_labels(pieces) for pieces in pieces_of(trace, selection.kind))
        self.chosen, self.weights, self.colors, self.heads = chosen, weights, colors, selection.heads
        boxes = len(colors) * self.BOX + 0.2
        self.left = text_width(self.rows, self.SIZE) + 0.15 + (boxes if chosen.is_looked_at else 0)
        right = text_width(self.columns, self.SIZE) + 0.15 + (0 if chosen.is_looked_at else boxes)
        self.width = self.left + _REACH + right
        self.height = self.STEP * max(len(self.rows), len(self.columns))

    def draw(self, sheet: Sheet, x: float, y: float, name: str) -> None:
        """Put the panel on the sheet."""
        axes = sheet.axes(x, y - _NAMES, self.width, self.height + _NAMES)
        axes.set(xlim=(0, self.width), ylim=(self.height, -_NAMES))  # inches, downwards
        axes.axis("off")
        at_left, at_right = self.left, self.left + _REACH
        axes.text(at_left + _REACH / 2, -0.3, name, size=11, color=INK, ha="center", va="center")
        start, end = self.chosen.span.start, self.chosen.span.end
        for labels, edge, ha, is_chosen_side in (
            (self.rows, at_left, "right", not self.chosen.is_looked_at),
            (self.columns, at_right, "left", self.chosen.is_looked_at),
        ):
            for place, label in enumerate(labels):
                is_chosen = is_chosen_side and start <= place < end
                self._write(axes, label, edge, place, ha, is_chosen, is_quiet=is_chosen_side and not is_chosen)
        for head, color in enumerate(self.colors):
            self._draw_arcs(axes, head, color)
        self._draw_boxes(axes)

    def _write(self, axes: Axes, label: str, edge: float, place: int, ha: str, is_chosen: bool, is_quiet: bool) -> None:
        away, y = (-0.07 if ha == "right" else 0.07), self._y(place)
        if is_chosen:
            width = text_width([label], self.SIZE) + 0.08
            x = edge - width - 0.03 if ha == "right" else edge + 0.03
            style = "round,pad=0,rounding_size=0.04"
            axes.add_patch(FancyBboxPatch((x, y - 0.11), width, 0.22, style, facecolor=_CHOSEN, edgecolor="none"))
        axes.text(
            edge + away, y, label, size=self.SIZE, color=MUTED if is_quiet else INK, ha=ha, va="center",
            family=font_families(), parse_math=False,
        )  # fmt: skip

    def _draw_arcs(self, axes: Axes, head: int, color: str) -> None:
        """From every piece of the word; the heads leave side by side, so that none hides another."""
        shift = (head - (len(self.colors) - 1) / 2) * 0.6 * self.STEP / len(self.colors)
        at_left, middle, at_right = self.left, self.left + _REACH / 2, self.left + _REACH
        span = slice(self.chosen.span.start, self.chosen.span.end)
        weights = np.zeros_like(self.weights[head])
        here = (slice(None), span) if self.chosen.is_looked_at else (span, slice(None))
        weights[here] = self.weights[head][here]
        curves, colors, widths = [], [], []
        for row, column in zip(*(weights >= _FAINTEST).nonzero(), strict=True):
            weight, y1, y2 = float(weights[row, column]), self._y(row) + shift, self._y(column) + shift
            curves.append(Curve([(at_left, y1), (middle, y1), (middle, y2), (at_right, y2)], _BEND))
            colors.append(to_rgba(color, clamp(0.15, weight**0.6, 1)))
            widths.append(0.5 + 2.7 * weight)
        lines = PathCollection(curves, facecolors="none", edgecolors=colors, linewidths=widths, capstyle="round")
        axes.add_collection(lines, autolim=False)

    def _draw_boxes(self, axes: Axes) -> None:
        """A box a head beside each word at the other side: the sum over the pieces of the word, in the mean."""
        span = slice(self.chosen.span.start, self.chosen.span.end)
        if self.chosen.is_looked_at:
            shares, x = self.weights[:, :, span].sum(axis=2), 0.0
        else:
            shares = self.weights[:, span].mean(axis=1)
            x = self.width - len(self.colors) * self.BOX
        corners: list[tuple[float, float]] = []
        fills: list[tuple[float, ...]] = []
        for head, color in enumerate(self.colors):
            left = x + head * self.BOX
            axes.text(
                left + self.BOX / 2, -0.08, str(self.heads[head] + 1), size=7, color=color, ha="center", va="center"
            )
            corners += [(left + 0.01, self._y(place) - self.BOX / 2 + 0.01) for place in range(shares.shape[1])]
            fills += [to_rgba(color, clamp(0, float(share), 1) ** 0.7) for share in shares[head]]
        side = self.BOX - 0.02
        boxes = np.array(corners)[:, None] + np.array([(0, 0), (side, 0), (side, side), (0, side)])  # (boxes, 4, 2)
        for look in ({"facecolors": _EMPTY, "edgecolors": FRAME, "linewidths": 0.3}, {"facecolors": fills}):
            axes.add_collection(PolyCollection(boxes, **look), autolim=False)

    def _y(self, place: int) -> float:
        return self.STEP * (place + 0.5)
