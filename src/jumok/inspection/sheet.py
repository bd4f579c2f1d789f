"""A sheet of paper for pictures of attention: laid out in inches, whatever the script of its words.

Drawn with matplotlib's objects, never with pyplot: no window, no global figure. The same drawing gives the same bytes.
In an SVG the letters are outlines: it looks alike on a machine without a font for Hangul.
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
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
from jumok.inspection.labels import join_pieces, label_pieces
from jumok.inspection.trace import AttentionTrace
from jumok.storage.files import replace_durably

PAPER, INK, MUTED, FRAME = "#ffffff", "#1c2033", "#5b6177", "#c9cede"
_COLORS = LinearSegmentedColormap.from_list("jumok", ["#f6f7fc", "#d5dbf4", "#9fafe6", "#5f74cf", "#3443a0", "#161d57"])
_GAMMA = 0.7  # faint weights stay visible
_MAX_DPI, _MAX_PIXELS = 160, 40_000_000
_PLEASANT = 1.5  # times as wide as high
_SMALLEST_FONT = 3.5  # points; where labels would have to be smaller, some are left out


class Sheet:
    """A figure that is laid out in inches from its upper left corner."""

    def __init__(self, width: float, height: float) -> None:
        self.width, self.height = width, height
        self.figure = Figure(figsize=(width, height), facecolor=PAPER)
        FigureCanvasAgg(self.figure)

    def axes(self, x: float, y: float, width: float, height: float) -> Axes:
        """Axes whose upper left corner is at x, y."""
        box = (x / self.width, 1 - (y + height) / self.height, width / self.width, height / self.height)
        return self.figure.add_axes(box)

    def text(
        self, x: float, y: float, text: str, *, size: float, color: str = INK, ha: str = "left",
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
        self.text(x, y, text, size=9, color=MUTED, ha="center", rotation=rotation)

    def sentences(self, trace: AttentionTrace, x: float, y: float) -> None:
        """The sentence and its translation, a line each, as much as fits."""
        source, target = join_pieces(trace.src_pieces), "→ " + join_pieces(trace.tgt_out_pieces)
        for line, text in enumerate((source, target)):
            self.text(x, y + 0.27 * line, shorten(text, self.width - 2 * x, 12.5), size=12.5, color=MUTED)

    def render(self, suffix: str) -> bytes:
        """The picture as `png` or `svg`."""
        dpi = min(_MAX_DPI, math.sqrt(_MAX_PIXELS / (self.width * self.height)))
        metadata = {"Software": None} if suffix == "png" else {"Date": None, "Creator": None}
        buffer = io.BytesIO()
        with matplotlib.rc_context({"svg.hashsalt": "jumok", "svg.fonttype": "path"}):
            self.figure.savefig(buffer, format=suffix, dpi=dpi, metadata=metadata)
        return buffer.getvalue()

    def save(self, path: Path) -> None:
        """Write PNG or SVG, as the name ends, in one step."""
        suffix = path.suffix.lower()
        if suffix not in (".png", ".svg"):
            raise UsageError(f"{path}: a picture is written as .png or .svg; let the name end in one of them")
        replace_durably(path, self.render(suffix[1:]))


# --- maps of weights ----------------------------------------------------------------------------------------------


def draw_map(
    axes: Axes, weights: NDArray[np.float32], highest: float | None = 1.0, has_grid: bool = False
) -> AxesImage:
    """A cell a weight, the darker the more; `highest` is the darkest, None: the highest there is."""
    norm = PowerNorm(_GAMMA, vmin=0, vmax=highest if highest is not None else float(weights.max()))
    image = axes.imshow(weights, cmap=_COLORS, norm=norm, aspect="auto", interpolation="nearest")
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set(color=FRAME, linewidth=0.6)
    if has_grid:
        num_rows, num_columns = weights.shape
        axes.vlines(np.arange(1, num_columns) - 0.5, -0.5, num_rows - 0.5, color=PAPER, linewidth=1)
        axes.hlines(np.arange(1, num_rows) - 0.5, -0.5, num_columns - 0.5, color=PAPER, linewidth=1)
        for spine in axes.spines.values():
            spine.set_visible(False)
    return image


def draw_scale(sheet: Sheet, image: AxesImage, x: float, y: float, height: float) -> None:
    """Which colour is which weight."""
    bar = sheet.axes(x, y, 0.1, height)
    sheet.figure.colorbar(image, cax=bar)
    bar.tick_params(labelsize=8, length=2, color=FRAME, labelcolor=MUTED)
    bar.spines["outline"].set_visible(False)


def label_side(axes: Axes, labels: Sequence[str], size: float, every: int = 1) -> None:
    """Names of the rows, or of each `every`-th of them."""
    axes.set_yticks(range(0, len(labels), every), labels[::every])
    axes.tick_params(axis="y", length=0, pad=4)
    _style_labels(axes.get_yticklabels(), size)


def label_bottom(axes: Axes, labels: Sequence[str], size: float, every: int = 1) -> None:
    """Names of the columns, upright below them."""
    axes.set_xticks(range(0, len(labels), every), labels[::every], rotation=90)
    axes.tick_params(axis="x", length=0, pad=4)
    _style_labels(axes.get_xticklabels(), size)


def label_top(axes: Axes, labels: Sequence[str], size: float, every: int = 1) -> None:
    """Names of the columns, leaning above them."""
    axes.xaxis.tick_top()
    axes.set_xticks(range(0, len(labels), every), labels[::every])
    axes.tick_params(axis="x", length=0, pad=3)
    leaning = {"rotation": 50, "rotation_mode": "anchor", "ha": "left", "va": "bottom"}
    _style_labels(axes.get_xticklabels(), size, **leaning)


def _style_labels(labels: Sequence[matplotlib.text.Text], size: float, **how: object) -> None:
    for label in labels:
        label.set(size=size, color=INK, family=font_families(), parse_math=False, **how)


# --- words and how wide they are ----------------------------------------------------------------------------------


def picture_labels(pieces: Sequence[str]) -> list[str]:
    """Pieces as they are written in a picture."""
    return [drawable(label.replace("▁", "_")) for label in label_pieces(pieces)]  # DejaVu's ▁ is a heavy bar


def label_size(step: float, largest: float) -> tuple[float, int]:
    """Points of labels that stand `step` inches apart, and how many steps from one to the next."""
    fitting = 52 * step
    return clamp(_SMALLEST_FONT, fitting, largest), math.ceil(_SMALLEST_FONT / fitting)


def text_width(labels: Sequence[str], size: float) -> float:
    """Inches that the longest label takes, about."""
    return max(_ems(label) for label in labels) * size / 72


def shorten(text: str, inches: float, size: float) -> str:
    """As much of a text as fits."""
    while len(text) > 1 and _ems(text) * size / 72 > inches:
        text = text[: -max(2, len(text) // 20)].rstrip() + "…"
    return text


def _ems(text: str) -> float:
    """Hangul, Kana and Han are as wide as high."""
    return sum(1.0 if ord(c) >= 0x1100 else 0.63 for c in text)


def pleasant_columns(count: int, width: float, height: float) -> int:
    """How many of equally large parts to set side by side, no line half empty."""

    def unpleasantness(across: int) -> float:
        return abs(math.log(across * width / (count / across * height) / _PLEASANT))

    return min((n for n in range(1, count + 1) if count % n == 0), key=unpleasantness)


def clamp(low: float, value: float, high: float) -> float:
    """The value, or the limit that it is beyond."""
    return max(low, min(value, high))
