"""Charts of a comparison as inline SVG: their colours are the page's, their text can be selected."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from jumok.comparison.label_placement import Box, place_labels, spread, text_width
from jumok.inspection.curves import nice_ticks

_WIDTH, _HEIGHT = 480, 360
_NARROW, _LOW = 360, 210  # of charts that stand three in a row
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 14, 16, 46
_SIZE = 11  # of text
_COLOURS = ("#5468d8", "#d07a1f", "#2c9a6c", "#b74a9e", "#2797bd", "#8b8a2e")  # readable on light and on dark
_THIN = 'stroke="currentColor" opacity=".4"'
Point = tuple[float, float]


@dataclass(frozen=True)
class Mark:
    """A point with a name, half of its interval upwards and downwards."""

    title: str
    x: float
    y: float
    interval: float | None = None


@dataclass(frozen=True)
class Line:
    """A line with a name at its end."""

    title: str
    points: Sequence[Point]
    is_quiet: bool = False  # in the background, for comparison


class _Axes:
    """From figures to places; a logarithmic axis where asked for."""

    def __init__(
        self, xs: Sequence[float], ys: Sequence[float], log_x: bool, log_y: bool, right: float = _RIGHT,
        width: float = _WIDTH, height: float = _HEIGHT,
    ) -> None:  # fmt: skip
        self.log_x, self.log_y = log_x, log_y
        self.right, self.bottom = width - right, height - _BOTTOM
        self.x_range, self.y_range = axis_range(xs, log_x, 0.06), axis_range(ys, log_y, 0.04)
        self.x_ticks = log_ticks(*self.x_range) if log_x else nice_ticks(min(xs), max(xs), 5)
        self.y_ticks = log_ticks(*self.y_range) if log_y else nice_ticks(min(ys), max(ys), 5)
        if not log_y:
            self.y_range = (self.y_ticks[0], self.y_ticks[-1])

    def x(self, value: float) -> float:
        return round(_LEFT + _share(value, self.x_range, self.log_x) * (self.right - _LEFT), 1)

    def y(self, value: float) -> float:
        return round(self.bottom - _share(value, self.y_range, self.log_y) * (self.bottom - _TOP), 1)

    def draw(self, x_name: str, show_x: Callable[[float], str], show_y: Callable[[float], str]) -> list[str]:
        """Grid, ticks and the name of the x axis."""
        parts = []
        for tick in self.y_ticks:
            if self.y_range[0] <= tick <= self.y_range[1]:
                y = self.y(tick)
                parts.append(f'<line class="grid" x1="{_LEFT}" y1="{y}" x2="{self.right}" y2="{y}"/>')
                parts.append(_text(_LEFT - 6, y, show_y(tick), "end"))
        for tick in self.x_ticks:
            if self.x_range[0] <= tick <= self.x_range[1]:
                parts.append(_text(self.x(tick), self.bottom + 14, show_x(tick), "middle"))
        parts.append(_text((_LEFT + self.right) / 2, self.bottom + 34, x_name, "middle"))
        return parts


def draw_marks(about: str, marks: Sequence[Mark], x_name: str, show_x: Callable[[float], str]) -> str:
    """Named points over a logarithmic axis, with their intervals."""
    lows = [mark.y - (mark.interval or 0) for mark in marks]
    highs = [mark.y + (mark.interval or 0) for mark in marks]
    axes = _Axes([mark.x for mark in marks], lows + highs, log_x=True, log_y=False)
    parts = axes.draw(x_name, show_x, lambda value: f"{value:g}")
    places = [(axes.x(mark.x), axes.y(mark.y)) for mark in marks]
    bars = []
    for mark, (x, _) in zip(marks, places, strict=True):
        if mark.interval:
            top, bottom = axes.y(mark.y + mark.interval), axes.y(mark.y - mark.interval)
            bars.append(Box(x - 2, top, x + 2, bottom))
            parts.append(f'<line {_THIN} x1="{x}" y1="{top}" x2="{x}" y2="{bottom}"/>')
    frame = Box(_LEFT + 2, 4, _WIDTH - 4, axes.bottom - 2)
    labels = place_labels(places, [mark.title for mark in marks], frame, _SIZE, bars)
    for mark, (x, y), label in zip(marks, places, labels, strict=True):
        if label.is_far:
            parts.append(f'<line {_THIN} x1="{x}" y1="{y}" x2="{label.x:.1f}" y2="{label.y:.1f}"/>')
        tip = escape(f"{mark.title}: {mark.y:.1f} at {show_x(mark.x)}")
        parts.append(f'<circle class="dot" cx="{x}" cy="{y}" r="4"><title>{tip}</title></circle>')
    parts += [_text(label.x, label.y, label.text, label.anchor, is_strong=True) for label in labels]
    return _svg(about, parts)


def draw_lines(
    about: str, lines: Sequence[Line], x_name: str, show_x: Callable[[float], str], show_y: Callable[[float], str],
    log: bool = False,
) -> str:  # fmt: skip
    """Lines with their names at the right end, spread so that none covers another."""
    points = [point for line in lines for point in line.points]
    beside = 8 + max(text_width(line.title, _SIZE) for line in lines)
    axes = _Axes([x for x, _ in points], [y for _, y in points] + ([] if log else [0]), log, log, beside, _NARROW, 260)
    if log:
        axes.x_ticks = sorted({x for x, _ in points})  # lengths that were measured
    parts = axes.draw(x_name, show_x, show_y)
    wanted = [axes.y(line.points[-1][1]) for line in lines]
    names = spread(wanted, _SIZE * 1.25, _TOP, axes.bottom)
    for i, line in enumerate(lines):
        colour = _COLOURS[i % len(_COLOURS)]
        path = " ".join(f"{axes.x(x)},{axes.y(y)}" for x, y in line.points)
        parts.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{path}"/>')
        x_end = axes.x(line.points[-1][0])
        parts.append(f'<line class="grid" x1="{x_end + 4}" y1="{wanted[i]}" x2="{x_end + 16}" y2="{names[i]:.1f}"/>')
        parts += [
            f'<circle fill="{colour}" cx="{axes.x(x)}" cy="{axes.y(y)}" r="2.8">'
            f"<title>{escape(f'{line.title}: {show_y(y)} at {show_x(x)}')}</title></circle>"
            for x, y in line.points
        ]
        parts.append(_text(x_end + 19, names[i], line.title, "start", is_strong=True))
    return _svg(about, parts, _NARROW, 260)


def draw_profile(about: str, lines: Sequence[Line], names: Sequence[str], high: float, x_name: str) -> str:
    """Small: values over ranges that have names, all charts of a page to the same height."""
    axes = _Axes([0, max(1, len(names) - 1)], [0, high], False, False, _RIGHT, _NARROW, _LOW)
    axes.x_ticks = []
    parts = axes.draw(x_name, str, lambda value: f"{value:g}")
    for i, name in enumerate(names):
        parts.append(_text(axes.x(i), axes.bottom + 14, name, "middle"))
    for line in lines:
        path = " ".join(f"{axes.x(x)},{axes.y(y)}" for x, y in line.points)
        parts.append(f'<polyline class="line" points="{path}"{_faint(line)}/>')
        for x, y in () if line.is_quiet else line.points:
            tip = escape(f"{line.title}: {y:.1f} at {names[int(x)]}")
            parts.append(f'<circle class="dot" cx="{axes.x(x)}" cy="{axes.y(y)}" r="3"><title>{tip}</title></circle>')
    return _svg(about, parts, _NARROW, _LOW)


def power_of_ten(value: float) -> str:
    """10¹⁵ for a tick; 2·10¹⁵ between."""
    power = math.floor(math.log10(value) + 1e-9)
    factor = round(value / 10**power, 6)
    digits = str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"10{digits}" if factor == 1 else f"{factor:g}·10{digits}"


def log_ticks(low: float, high: float) -> list[float]:
    """Powers of ten in a range; where there are few of them, round numbers between them as well."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks: list[float] = []
    for factors in ((1.0,), (1.0, 2.0, 5.0), (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0)):
        every = [float(f"{factor * 10.0**power:.6g}") for power in powers for factor in factors]
        ticks = [tick for tick in every if low <= tick <= high]
        if len(ticks) >= 3:
            break
    return ticks


def axis_range(values: Sequence[float], log: bool, margin: float) -> tuple[float, float]:
    """From a little below the least to a little above the largest value."""
    low, high = min(values), max(values)
    if log:
        room = max((high / low) ** margin, 1.4)
        return low / room, high * room
    room = (high - low) * margin or 1.0
    return low - room, high + room


def _share(value: float, between: tuple[float, float], log: bool) -> float:
    low, high = between
    return math.log(value / low) / math.log(high / low) if log else (value - low) / (high - low)


def _text(x: float, y: float, text: str, anchor: str, is_strong: bool = False) -> str:
    colour = 'fill="currentColor" font-size="11"' if is_strong else 'class="tick"'
    return f'<text {colour} x="{x:.1f}" y="{y + 3.8:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _faint(line: Line) -> str:
    return ' opacity=".28"' if line.is_quiet else ""


def _svg(about: str, parts: Sequence[str], width: int = _WIDTH, height: int = _HEIGHT) -> str:
    opening = f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(about)}">'
    return opening + "".join(parts) + "</svg>"
