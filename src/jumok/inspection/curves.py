"""Curves of a training as inline SVG: axes, grid, line, last value; its colours are the page's."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

Point = tuple[float, float]

_WIDTH, _HEIGHT = 360, 210
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 14, 12, 30
_MAX_POINTS = 300
_MAX_DOTS = 40  # as long as there are so few points, each is shown


def points_of(events: Sequence[dict[str, Any]], kind: str, figure: str) -> list[Point]:
    """A figure over the steps. After a resume a step can occur twice: what was told last counts."""
    values: dict[int, float] = {}
    for event in events:
        value = event.get(figure)
        if event.get("event") == kind and isinstance(value, int | float) and math.isfinite(value):
            values[int(event["step"])] = float(value)
    return [(float(step), values[step]) for step in sorted(values)]


def draw_curve(title: str, points: Sequence[Point], show: Callable[[float], str]) -> str:
    """One curve; `show` writes a value the way a person reads it."""
    assert points, "a curve needs a point"
    points = thin_out(points, _MAX_POINTS)
    high_x = max(points[-1][0], 1.0)  # from step 0, so that all curves of a run stand above each other
    values = [value for _, value in points]
    ticks_y = nice_ticks(min(0.0, *values), max(values), 4)
    ticks_x = [tick for tick in nice_ticks(0, high_x, 4) if tick <= high_x and tick == int(tick)]
    low_y, high_y = ticks_y[0], ticks_y[-1]

    def x_of(value: float) -> float:
        return round(_LEFT + value / high_x * (_WIDTH - _LEFT - _RIGHT), 1)

    def y_of(value: float) -> float:
        return round(_HEIGHT - _BOTTOM - (value - low_y) / (high_y - low_y) * (_HEIGHT - _TOP - _BOTTOM), 1)

    parts = []
    for tick in ticks_y:
        y = y_of(tick)
        parts.append(f'<line class="grid" x1="{_LEFT}" y1="{y}" x2="{_WIDTH - _RIGHT}" y2="{y}"/>')
        parts.append(_tick(_LEFT - 6, y + 3.5, "end", show(tick)))
    for tick in ticks_x:
        parts.append(_tick(x_of(tick), _HEIGHT - _BOTTOM + 16, "middle", _short(tick)))
    path = " ".join(f"{x_of(x)},{y_of(y)}" for x, y in points)
    parts.append(f'<polyline class="line" points="{path}"/>')
    for x, y in points if len(points) <= _MAX_DOTS else points[-1:]:
        about = f"<title>{escape(f'step {x:,.0f}: {show(y)}')}</title>"
        parts.append(f'<circle class="dot" cx="{x_of(x)}" cy="{y_of(y)}" r="2.6">{about}</circle>')
    first, last = points[0], points[-1]
    described = f"{title}: {show(first[1])} at step {first[0]:,.0f}, {show(last[1])} at step {last[0]:,.0f}"
    opening = f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(described)}">'
    return opening + "".join(parts) + "</svg>"


def thin_out(points: Sequence[Point], max_points: int) -> list[Point]:
    """Evenly chosen points, the first and the last among them."""
    if len(points) <= max_points:
        return list(points)
    last = len(points) - 1
    return [points[round(i * last / (max_points - 1))] for i in range(max_points)]


def nice_ticks(low: float, high: float, about: int) -> list[float]:
    """Round numbers from below `low` to above `high`, about so many apart from the first."""
    if high <= low:
        high = low + (abs(low) or 1.0)
    raw = (high - low) / about
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= raw * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [float(f"{i * step:.10g}") for i in range(first, last + 1)]


def _tick(x: float, y: float, anchor: str, text: str) -> str:
    return f'<text class="tick" x="{x}" y="{y}" text-anchor="{anchor}">{escape(text)}</text>'


def _short(value: float) -> str:
    if value >= 1_000_000:
        return f"{value / 1_000_000:g}M"
    return f"{value / 1000:g}k" if value >= 10_000 else f"{value:,.0f}"
