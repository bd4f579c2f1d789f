"""The pictures of a comparison as PNG files, for a README or a paper.

Drawn with matplotlib's objects, never with pyplot: no window, no global figure. The same figures give the same bytes.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from jumok.comparison.charts import axis_range, log_ticks, power_of_ten
from jumok.comparison.label_placement import Box, place_labels, spread
from jumok.comparison.layers import LayerMeasure
from jumok.comparison.results import Comparison, SystemResult
from jumok.inspection.fonts import drawable, font_families
from jumok.storage.files import replace_durably
from jumok.text.languages import language

_PAPER, _INK, _MUTED, _GRID = "#ffffff", "#1c2033", "#5b6177", "#e3e6ef"
_ACCENT = "#3443a0"
_COLOURS = ("#3443a0", "#d07a1f", "#2c9a6c", "#b74a9e", "#2797bd", "#8b8a2e", "#8a3b3b", "#6c6f85")
_WIDTH, _HEIGHT, _DPI = 9.0, 5.6, 150
_SIZE = 9.5  # of the names of systems


def write_plots(comparison: Comparison, folder: Path, measures: Sequence[LayerMeasure] = ()) -> list[Path]:
    """bleu-flops.png, bleu-length.png and table1.png, as far as there are figures for them."""
    written = []
    if any(system.bleu is not None and system.train_flops for system in comparison.done):
        written.append(folder / "bleu-flops.png")
        draw_bleu_flops(comparison, written[-1])
    if any(system.bleu_by_length for system in comparison.done):
        written.append(folder / "bleu-length.png")
        draw_bleu_length(comparison, written[-1])
    if measures:
        written.append(folder / "table1.png")
        draw_table_one(measures, written[-1])
    return written


def draw_bleu_flops(comparison: Comparison, path: Path) -> None:
    """BLEU against counted training FLOPs: named points with 95 % intervals."""
    systems = [s for s in comparison.done if s.bleu is not None and s.train_flops]
    figure, axes = _figure("BLEU against training cost", _about(comparison), 0.9)
    costs, scores = [s.train_flops or 0.0 for s in systems], [s.bleu or 0.0 for s in systems]
    intervals = [s.bleu_interval or 0.0 for s in systems]
    axes.set_xscale("log")
    axes.set_xlim(*axis_range(costs, log=True, margin=0.08))
    _set_ticks(axes.xaxis, log_ticks(*axes.get_xlim()), power_of_ten)
    axes.errorbar(costs, scores, yerr=intervals, fmt="none", ecolor=_MUTED, elinewidth=1, capsize=2.5, alpha=0.6)
    for system, x, y in zip(systems, costs, scores, strict=True):
        is_baseline = system.name == comparison.baseline
        axes.plot([x], [y], "o", color=_COLOURS[1] if is_baseline else _ACCENT, markersize=7, zorder=3)
    axes.set_xlabel("training FLOPs (matrix products, counted)", color=_MUTED)
    axes.set_ylabel("BLEU, 95 % interval", color=_MUTED)
    ends = [y + way * interval for y, interval in zip(scores, intervals, strict=True) for way in (-1, 1)]
    axes.set_ylim(*axis_range(ends, log=False, margin=0.08))
    _name_points(figure, axes, systems, costs, scores, intervals)
    _save(figure, path)


def draw_bleu_length(comparison: Comparison, path: Path) -> None:
    """BLEU by the words of the source, a line a system, named at its end."""
    systems = [system for system in comparison.done if system.bleu_by_length]
    figure, axes = _figure("BLEU by the length of the source", _about(comparison), 0.64)
    ranges = systems[0].bleu_by_length
    for i, system in enumerate(systems):
        scores = [part.bleu for part in system.bleu_by_length]
        style = "-" if i < len(_COLOURS) else "--"
        axes.plot(range(len(scores)), scores, style, marker="o", markersize=4, color=_COLOURS[i % len(_COLOURS)])
    axes.set_xticks(range(len(ranges)), [part.words for part in ranges])
    axes.set_xlabel(f"{language(comparison.source).unit_of_length} of the source sentence", color=_MUTED)
    axes.set_ylabel("BLEU", color=_MUTED)
    axes.set_ylim(bottom=0)
    _name_lines(figure, axes, len(ranges) - 1, [s.title for s in systems], [s.bleu_by_length[-1].bleu for s in systems])
    _save(figure, path)


def draw_table_one(measures: Sequence[LayerMeasure], path: Path) -> None:
    """Time of one layer against length, for every kind of layer."""
    kinds = list(dict.fromkeys(measure.layer for measure in measures))
    about = (
        f"forward and backward of one layer, d = {measures[0].d_model}, {measures[0].num_rows} sentences side by side"
    )
    figure, axes = _figure("The paper’s Table 1, measured: time of a layer", about, 0.64)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    ends, names = [], []
    for i, kind in enumerate(kinds):
        own = [measure for measure in measures if measure.layer == kind]
        times = [measure.seconds * 1000 for measure in own]
        axes.plot([m.length for m in own], times, "o-", markersize=5, color=_COLOURS[i % len(_COLOURS)])
        ends.append(times[-1])
        names.append(f"{kind}   {own[0].complexity_formula}")
    lengths = sorted({measure.length for measure in measures})
    _set_ticks(axes.xaxis, lengths, lambda value: f"{value:g}")
    _set_ticks(axes.yaxis, log_ticks(*axes.get_ylim()), lambda value: f"{value:,g}")
    axes.set_xlabel("length of the sentence", color=_MUTED)
    axes.set_ylabel("milliseconds", color=_MUTED)
    _name_lines(figure, axes, lengths[-1], names, ends)
    _save(figure, path)


# --- names that do not overlap -----------------------------------------------------------------------------------


def _name_points(
    figure: Figure, axes: Axes, systems: Sequence[SystemResult], xs: Sequence[float], ys: Sequence[float],
    intervals: Sequence[float],
) -> None:  # fmt: skip
    """In points of 1/72 inch from the upper left corner, where names are as large as they are drawn."""
    scale, height = 72 / figure.dpi, _HEIGHT * 72

    def place(x: float, y: float) -> tuple[float, float]:
        across, up = axes.transData.transform((x, y)) * scale
        return float(across), height - float(up)

    places = [place(x, y) for x, y in zip(xs, ys, strict=True)]
    bars = []
    for x, y, interval in zip(xs, ys, intervals, strict=True):
        (across, top), (_, bottom) = place(x, y + interval), place(x, y - interval)
        bars.append(Box(across - 3, top, across + 3, bottom))
    corners = axes.get_window_extent().get_points() * scale
    frame = Box(corners[0][0] + 2, height - corners[1][1], corners[1][0] - 2, height - corners[0][1] - 2)
    for (x, y), label in zip(places, place_labels(places, [s.title for s in systems], frame, _SIZE, bars), strict=True):
        alignment, side = {"start": ("left", 0.0), "middle": ("center", 0.5), "end": ("right", 1.0)}[label.anchor]
        line = {"arrowstyle": "-", "color": _MUTED, "linewidth": 0.6, "alpha": 0.6, "relpos": (side, 0.5)}
        axes.annotate(
            drawable(label.text), (x / 72, (height - y) / 72), (label.x / 72, (height - label.y) / 72),
            xycoords=figure.dpi_scale_trans, textcoords=figure.dpi_scale_trans, ha=alignment, va="center",
            size=_SIZE, color=_INK, family=font_families(), parse_math=False, zorder=4,
            arrowprops=line if label.is_far else None,
        )  # fmt: skip


def _name_lines(figure: Figure, axes: Axes, last: float, names: Sequence[str], ends: Sequence[float]) -> None:
    """To the right of the axes, each with a thin line to where its own ends, at x = `last`."""
    figure.canvas.draw()
    right = axes.get_xlim()[1]
    places = [float(axes.transData.transform((right, end))[1]) for end in ends]
    corners = axes.get_window_extent().get_points()
    spaced = spread(places, _SIZE * 1.35 * figure.dpi / 72, float(corners[0][1]), float(corners[1][1]))
    for i, (name, end, y) in enumerate(zip(names, ends, spaced, strict=True)):
        height = float(axes.transAxes.inverted().transform((0, y))[1])
        line = {"arrowstyle": "-", "color": _COLOURS[i % len(_COLOURS)], "linewidth": 0.8, "alpha": 0.7, "shrinkB": 4}
        axes.annotate(
            drawable(name), (last, end), (1.025, height), xycoords="data", textcoords="axes fraction", va="center",
            size=_SIZE, color=_INK, family=font_families(), parse_math=False, annotation_clip=False,
            arrowprops={**line, "relpos": (0, 0.5)},
        )  # fmt: skip


# --- the sheet ---------------------------------------------------------------------------------------------------


def _figure(title: str, about: str, width: float) -> tuple[Figure, Axes]:
    """A sheet with its heading, and axes of that share of its width: beside them stand names."""
    figure = Figure(figsize=(_WIDTH, _HEIGHT), facecolor=_PAPER, dpi=_DPI)
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0.08, 0.115, width, 0.73))
    figure.text(0.025, 0.94, title, size=15, weight="bold", color=_INK, va="center")
    figure.text(
        0.025, 0.888, drawable(about), size=9.5, color=_MUTED, va="center", family=font_families(), parse_math=False
    )
    axes.grid(True, which="major", color=_GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(length=0, labelsize=9.5, labelcolor=_MUTED)
    for spine in axes.spines.values():
        spine.set_visible(False)
    return figure, axes


def _set_ticks(axis: Axis, ticks: Sequence[float], show: Callable[[float], str]) -> None:
    axis.set_major_locator(FixedLocator(list(ticks)))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: show(value)))


def _about(comparison: Comparison) -> str:
    languages = f"{comparison.source} → {comparison.target}"
    return f"{comparison.name}: {languages}, {comparison.budget} each, {comparison.test_set}"


def _save(figure: Figure, path: Path) -> None:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=_DPI, metadata={"Software": None})
    replace_durably(path, buffer.getvalue())
