"""Attention as pictures: every head of every layer, or the one figure that explains it to a newcomer.

Drawn with matplotlib's objects, never with pyplot: no window, no global figure. The same trace gives the same bytes.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LinearSegmentedColormap, PowerNorm
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from numpy.typing import NDArray

from jumok.errors import UsageError
from jumok.inspection.fonts import drawable, font_families
from jumok.inspection.labels import join_pieces, label_pieces
from jumok.inspection.trace import AttentionTrace, Weights
from jumok.storage.files import replace_durably

Kind = Literal["encoder", "decoder", "cross"]

_PAPER, _INK, _MUTED, _FRAME = "#ffffff", "#1c2033", "#5b6177", "#c9cede"
_COLORS = LinearSegmentedColormap.from_list(
    "jumok", ["#f6f7fc", "#d5dbf4", "#9fafe6", "#5f74cf", "#3443a0", "#161d57"]
)
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
    step = _clamp(0.17, 1.7 / max(len(rows), len(columns)), 6 / max(len(rows), len(columns)))  # inches a piece
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
        page.text(0.3, y + map_height / 2, f"layer {layer + 1}", rotation=90, ha="center", color=_MUTED, size=10)
        for head in range(num_heads):
            x = left + head * (map_width + gap)
            axes = page.axes(x, y, map_width, map_height)
            _draw_map(axes, weights[layer][head])
            if layer == 0:
                page.text(x + map_width / 2, top - 0.14, f"head {head + 1}", ha="center", color=_MUTED, size=10)
            if head == 0:
                _label_side(axes, rows, font_size)
            if layer == num_layers - 1:
                _label_bottom(axes, columns, font_size)
    page.save(path)


def draw_attention(trace: AttentionTrace, path: Path) -> None:
    """The figure for a newcomer: which source pieces each target piece was made from, and every head beside it."""
    rows, columns = (_labels(pieces) for pieces in pieces_of(trace, "cross"))
    num_layers, num_heads = len(trace.cross), trace.cross[0].shape[0]
    step = _clamp(0.16, 4.6 / max(len(rows), len(columns)), 0.48)
    map_width, map_height = step * len(columns), step * len(rows)
    font_size = _clamp(5, 28 * step + 1, 12)
    left = 0.45 + _text_width(rows, font_size)
    top = 1.5 + _text_width(columns, font_size)

    small_left = left + map_width + 1.25
    small_width = _clamp(0.4, 7.6 / num_heads, 1.05)
    small_height = _clamp(0.4, min(small_width * len(rows) / len(columns), map_height / num_layers - 0.1), 1.6)
    gap = 0.1
    width = small_left + num_heads * (small_width + gap) + 0.35
    height = max(top + map_height + 0.95, top + num_layers * (small_height + gap) + 0.95)

    page = _Page(width, height)
    page.text(0.4, 0.42, "Where the translator looks while it writes", size=17, weight="bold")
    room = width - 0.8
    page.text(0.4, 0.83, _shorten(join_pieces(trace.src_pieces), room / 2), size=12.5, color=_MUTED)
    page.text(0.4, 1.1, "→ " + _shorten(join_pieces(trace.tgt_out_pieces), room / 2), size=12.5, color=_MUTED)

    axes = page.axes(left, top, map_width, map_height)
    image = _draw_map(axes, trace.cross[-1].mean(axis=0), highest=None, has_grid=True)
    _label_side(axes, rows, font_size)
    _label_top(axes, columns, font_size)
    below = top + map_height
    page.text(left, below + 0.24, f"Mean of the {num_heads} heads of the last layer.", size=9.5, color=_MUTED)
    page.text(left, below + 0.44, "Row: the piece being written. Column: a source piece.", size=9.5, color=_MUTED)
    page.text(left, below + 0.64, "▁ marks the beginning of a word.", size=9.5, color=_MUTED)
    bar = page.axes(left + map_width + 0.16, top, 0.1, map_height)
    page.figure.colorbar(image, cax=bar)
    bar.tick_params(labelsize=8, length=2, color=_FRAME, labelcolor=_MUTED)
    bar.spines["outline"].set_visible(False)

    page.text(small_left, top - 0.5, "Every head by itself", size=11, weight="bold")
    for layer in range(num_layers):
        y = top + layer * (small_height + gap)
        middle = y + small_height / 2
        page.text(small_left - 0.14, middle, f"layer {layer + 1}", rotation=90, ha="center", color=_MUTED, size=8.5)
        for head in range(num_heads):
            x = small_left + head * (small_width + gap)
            _draw_map(page.axes(x, y, small_width, small_height), trace.cross[layer][head])
            if layer == 0:
                name = f"head {head + 1}" if small_width > 0.6 else str(head + 1)
                page.text(x + small_width / 2, top - 0.12, name, ha="center", color=_MUTED, size=8.5)
    page.save(path)


def weights_of(trace: AttentionTrace, kind: Kind) -> Weights:
    """The weights of one of the three attentions."""
    return {"encoder": trace.encoder, "decoder": trace.decoder, "cross": trace.cross}[kind]


def pieces_of(trace: AttentionTrace, kind: Kind) -> tuple[list[str], list[str]]:
    """The pieces that look (rows) and those that are looked at (columns)."""
    return {
        "encoder": (trace.src_pieces, trace.src_pieces),
        "decoder": (trace.tgt_in_pieces, trace.tgt_in_pieces),
        "cross": (trace.tgt_out_pieces, trace.src_pieces),
    }[kind]


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
        """Text whose vertical middle is at y."""
        self.figure.text(
            x / self.width, 1 - y / self.height, drawable(text), size=size, color=color, ha=ha, va="center",
            rotation=rotation, weight=weight, family=font_families(), parse_math=False,
        )  # fmt: skip

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
    _style_labels(axes.set_xticklabels, labels, size, rotation=50, ha="left", va="bottom", rotation_mode="anchor")
    axes.tick_params(axis="x", length=0, pad=3)


def _style_labels(setter: Callable[..., object], labels: Sequence[str], size: float, **how: object) -> None:
    setter(labels, size=size, color=_INK, family=font_families(), parse_math=False, **how)


def _labels(pieces: Sequence[str]) -> list[str]:
    return [drawable(label) for label in label_pieces(pieces)]


def _text_width(labels: Sequence[str], size: float) -> float:
    """Inches that the longest label takes, about: Hangul, Kana and Han are as wide as high."""
    ems = max(sum(1.0 if ord(c) >= 0x1100 else 0.63 for c in label) for label in labels)
    return ems * size / 72


def _shorten(text: str, inches: float) -> str:
    longest = int(inches * 16)
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def _clamp(low: float, value: float, high: float) -> float:
    return max(low, min(value, high))
