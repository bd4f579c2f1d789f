"""Attention as pictures: every head of every layer, or the one figure that explains it to a newcomer.

Drawn with matplotlib's objects, never with pyplot: no window, no global figure. The same trace gives the same
bytes.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LinearSegmentedColormap, PowerNorm
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from numpy.typing import NDArray

from jumok.errors import UsageError
from jumok.inspection.fonts import LATIN, drawable, font_families
from jumok.inspection.kinds import Kind, pieces_of, weights_of
from jumok.inspection.labels import join_pieces, label_pieces
from jumok.inspection.trace import AttentionTrace, Weights
from jumok.storage.files import replace_durably

_PAPER, _INK, _MUTED, _FRAME = "#ffffff", "#1c2033", "#5b6177", "#c9cede"
_COLORS = LinearSegmentedColormap.from_list("jumok", ["#f6f7fc", "#d5dbf4", "#9fafe6", "#5f74cf", "#3443a0", "#161d57"])
_GAMMA = 0.7  # faint weights stay visible
_MAX_DPI, _MAX_PIXELS = 160, 40_000_000
_TITLES = {
    "encoder": "Encoder self-attention: each source piece (row) looks at the source",
    "decoder": "Decoder self-attention: each target piece (row) looks back at the target so far",
    "cross": "Cross-attention: each target piece (row), when it is written, looks at the source",
}


def draw_attention_grid(trace: AttentionTrace, kind: Kind, path: Path) -> None:
    """All heads of all layers: a row a layer, a column a head."""
    weights = weights_of(trace, kind)
    rows, columns = (_labels(pieces) for pieces in pieces_of(trace, kind))
    num_layers, num_heads = len(weights), weights[0].shape[0]
    longest = max(len(rows), len(columns))
    step = min(max(0.17, 1.7 / longest), 6 / longest)  # inches a piece
    map_width, map_height = step * len(columns), step * len(rows)
    font_size = _clamp(3, 60 * step, 9)
    left = 0.75 + _text_width(rows, font_size)
    bottom, top, gap = 0.35 + _text_width(columns, font_size), 0.95, 0.14
    width = left + num_heads * (map_width + gap) + 0.25
    height = top + num_layers * (map_height + gap) + bottom
    page = _Page(max(width, 7.5), height)
    page.text(0.3, 0.32, _TITLES[kind], size=13, weight="bold")
    for layer in range(num_layers):
        y = top + layer * (map_height + gap)
        page.name(0.3, y + map_height / 2, f"layer {layer + 1}", rotation=90)
        for head in range(num_heads):
            x = left + head * (map_width + gap)
            axes = page.axes(x, y, map_width, map_height)
            _draw_map(axes, weights[layer][head])
            if layer == 0:
                page.name(x + map_width / 2, top - 0.14, f"head {head + 1}")
            if head == 0:
                _label_side(axes, rows, font_size)
            if layer == num_layers - 1:
                _label_bottom(axes, columns, font_size)
    page.save(path)


def draw_attention(trace: AttentionTrace, path: Path) -> None:
    """The figure for a newcomer: what each target piece was made from, and every head beside it."""
    rows, columns = (_labels(pieces) for pieces in pieces_of(trace, "cross"))
    longest = max(len(rows), len(columns))
    step = min(_clamp(0.22, 4.6 / longest, 0.48), 10 / longest)  # inches a piece
    map_width, map_height = step * len(columns), step * len(rows)
    font_size = _clamp(4, 28 * step + 1, 12)
    left = 0.45 + _text_width(rows, font_size)
    top = 1.6 + _text_width(columns, font_size) * 0.85  # the labels lean
    room = max(map_height, 0.95 * len(trace.cross))  # many layers may reach further down than the sentence
    heads = _HeadGrid.fitting(trace.cross, left + map_width + 1.3, top, room)
    page = _Page(max(heads.left + heads.width + 0.35, 7.5), top + max(map_height, heads.height) + 0.95)

    page.text(0.4, 0.42, "Where the translator looks while it writes", size=17, weight="bold")
    for y, text in (
        (0.83, join_pieces(trace.src_pieces)),
        (1.1, "→ " + join_pieces(trace.tgt_out_pieces)),
    ):
        page.text(0.4, y, _shorten(text, page.width - 0.8, 12.5), size=12.5, color=_MUTED)

    axes = page.axes(left, top, map_width, map_height)
    image = _draw_map(axes, trace.cross[-1].mean(axis=0), highest=None, has_grid=True)
    _label_side(axes, rows, font_size)
    _label_top(axes, columns, font_size)
    bar = page.axes(left + map_width + 0.16, top, 0.1, map_height)
    page.figure.colorbar(image, cax=bar)
    bar.tick_params(labelsize=8, length=2, color=_FRAME, labelcolor=_MUTED)
    bar.spines["outline"].set_visible(False)
    for line, text in enumerate(
        (
            "Row: the piece being written. Column: a source piece it looks at.",
            f"Mean of the {heads.num_heads} heads of the last layer. A leading _ begins a word.",
        )
    ):
        page.text(left, top + map_height + 0.26 + 0.21 * line, text, size=9.5, color=_MUTED)
    heads.draw(page)
    page.save(path)


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
        proportion = _clamp(0.6, num_rows / num_columns, 1.6)
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

    def draw(self, page: _Page) -> None:
        """Put the maps on the page."""
        page.text(self.left, self.top - 0.36, "Every head of every layer by itself", size=11, weight="bold")
        for layer, of_heads in enumerate(self.weights):
            block = self.top + layer * (self._block_height + self.BLOCK_GAP)
            middle = block + (self._block_height + self.NAME) / 2
            page.name(self.left - 0.17, middle, f"layer {layer + 1}", rotation=90)
            for head, weights in enumerate(of_heads):
                line, column = divmod(head, self.num_columns)
                x = self.left + column * (self.map_width + self.GAP)
                y = block + line * (self.map_height + self.NAME) + self.NAME
                _draw_map(page.axes(x, y, self.map_width, self.map_height), weights)
                name = f"head {head + 1}" if self.map_width > 0.6 else str(head + 1)
                page.name(x + self.map_width / 2, y - 0.1, name)


class _Page:
    """A figure that is laid out in inches from its upper left corner."""

    def __init__(self, width: float, height: float) -> None:
        self.width, self.height = width, height
        self.figure = Figure(figsize=(width, height), facecolor=_PAPER)
        FigureCanvasAgg(self.figure)

    def axes(self, x: float, y: float, width: float, height: float) -> Axes:
        """Axes whose upper left corner is at x, y."""
        box = (x / self.width, 1 - (y + height) / self.height, width / self.width, height / self.height)
        return self.figure.add_axes(box)

    def text(
        self, x: float, y: float, text: str, *, size: float, color: str = _INK, ha: str = "left",
        rotation: float = 0, weight: str = "normal",
    ) -> None:  # fmt: skip
        """Text whose vertical middle is at y; bold is for our own English headings."""
        family = LATIN if weight == "bold" else font_families()
        self.figure.text(
            x / self.width, 1 - y / self.height, drawable(text), size=size, color=color, ha=ha, va="center",
            rotation=rotation, weight=weight, family=family, parse_math=False,
        )  # fmt: skip

    def name(self, x: float, y: float, text: str, rotation: float = 0) -> None:
        """The name of a layer or a head, centred."""
        self.text(x, y, text, size=9, color=_MUTED, ha="center", rotation=rotation)

    def save(self, path: Path) -> None:
        """Write PNG or SVG, as the name ends, in one step."""
        suffix = path.suffix.lower()
        if suffix not in (".png", ".svg"):
            raise UsageError(f"{path}: a picture is written as .png or .svg; let the name end in one of them")
        dpi = min(_MAX_DPI, math.sqrt(_MAX_PIXELS / (self.width * self.height)))
        metadata = {"Software": None} if suffix == ".png" else {"Date": None, "Creator": None}
        buffer = io.BytesIO()
        with matplotlib.rc_context({"svg.hashsalt": "jumok", "svg.fonttype": "path"}):
            self.figure.savefig(buffer, format=suffix[1:], dpi=dpi, metadata=metadata)
        replace_durably(path, buffer.getvalue())


def _draw_map(
    axes: Axes, weights: NDArray[np.float32], highest: float | None = 1.0, has_grid: bool = False
) -> AxesImage:
    norm = PowerNorm(_GAMMA, vmin=0, vmax=highest if highest is not None else float(weights.max()))
    image = axes.imshow(weights, cmap=_COLORS, norm=norm, aspect="auto", interpolation="nearest")
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set(color=_FRAME, linewidth=0.6)
    if has_grid:
        num_rows, num_columns = weights.shape
        axes.vlines(np.arange(1, num_columns) - 0.5, -0.5, num_rows - 0.5, color=_PAPER, linewidth=1)
        axes.hlines(np.arange(1, num_rows) - 0.5, -0.5, num_columns - 0.5, color=_PAPER, linewidth=1)
        for spine in axes.spines.values():
            spine.set_visible(False)
    return image


def _label_side(axes: Axes, labels: Sequence[str], size: float) -> None:
    axes.set_yticks(range(len(labels)))
    _style_labels(axes.set_yticklabels, labels, size)
    axes.tick_params(axis="y", length=0, pad=4)


def _label_bottom(axes: Axes, labels: Sequence[str], size: float) -> None:
    axes.set_xticks(range(len(labels)))
    _style_labels(axes.set_xticklabels, labels, size, rotation=90)
    axes.tick_params(axis="x", length=0, pad=4)


def _label_top(axes: Axes, labels: Sequence[str], size: float) -> None:
    axes.xaxis.tick_top()
    axes.set_xticks(range(len(labels)))
    leaning = {"rotation": 50, "rotation_mode": "anchor", "ha": "left", "va": "bottom"}
    _style_labels(axes.set_xticklabels, labels, size, **leaning)
    axes.tick_params(axis="x", length=0, pad=3)


def _style_labels(setter: Callable[..., object], labels: Sequence[str], size: float, **how: object) -> None:
    setter(labels, size=size, color=_INK, family=font_families(), parse_math=False, **how)


def _labels(pieces: Sequence[str]) -> list[str]:
    return [drawable(label.replace("▁", "_")) for label in label_pieces(pieces)]  # DejaVu's ▁ is a heavy bar


def _text_width(labels: Sequence[str], size: float) -> float:
    """Inches that the longest label takes, about."""
    return max(_ems(label) for label in labels) * size / 72


def _shorten(text: str, inches: float, size: float) -> str:
    while _ems(text) * size / 72 > inches:
        text = text[: -max(2, len(text) // 20)].rstrip() + "…"
    return text


def _ems(text: str) -> float:
    """Hangul, Kana and Han are as wide as high."""
    return sum(1.0 if ord(c) >= 0x1100 else 0.63 for c in text)


def _clamp(low: float, value: float, high: float) -> float:
    return max(low, min(value, high))
