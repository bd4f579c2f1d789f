"""Where to write the names of points so that they cover neither each other nor a point."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

Anchor = Literal["start", "middle", "end"]


class Box(NamedTuple):
    """A rectangle; y grows downwards."""

    left: float
    top: float
    right: float
    bottom: float

    def overlap(self, other: Box) -> float:
        """The area that both cover."""
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.bottom, other.bottom) - max(self.top, other.top)
        return max(0.0, width) * max(0.0, height)

    def outside(self, frame: Box) -> float:
        """The area that is not inside of a frame."""
        return (self.right - self.left) * (self.bottom - self.top) - self.overlap(frame)


@dataclass(frozen=True)
class Label:
    """A name, the middle of its line at `y`; far from its point it gets a thin line to it."""

    text: str
    x: float
    y: float
    anchor: Anchor
    is_far: bool


def place_labels(
    points: Sequence[tuple[float, float]],
    texts: Sequence[str],
    frame: Box,
    size: float,
    obstacles: Sequence[Box] = (),
) -> list[Label]:
    """A place for every name, near its point; the crowded points choose first."""
    taken = [*obstacles, *(Box(x - 5, y - 5, x + 5, y + 5) for x, y in points)]
    order = sorted(range(len(points)), key=lambda i: -_num_neighbours(points, i, 6 * size))
    labels: dict[int, Label] = {}
    for i in order:
        width = text_width(texts[i], size)
        best: tuple[float, Label, Box] | None = None
        for effort, label in _candidates(points[i], texts[i], size):
            box = _box_of(label, width, size)
            cost = effort + sum(box.overlap(other) for other in taken) + 50 * box.outside(frame)
            if best is None or cost < best[0]:
                best = (cost, label, box)
        assert best is not None
        labels[i] = best[1]
        taken.append(best[2])
    return [labels[i] for i in range(len(points))]


def text_width(text: str, size: float) -> float:
    """About; Hangul, Kana and Han are as wide as high."""
    return sum(1.0 if ord(c) >= 0x1100 else 0.56 for c in text) * size


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Positions near the wanted ones that keep a gap: for names at the ends of lines."""
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    gap = min(gap, (high - low) / max(1, len(wanted) - 1))
    placed = [wanted[i] for i in order]
    for _ in range(200):  # neighbours push each other apart until all have room
        for k in range(len(placed) - 1):
            lack = gap - (placed[k + 1] - placed[k])
            if lack > 0:
                placed[k] -= lack / 2
                placed[k + 1] += lack / 2
        placed = [min(max(y, low + k * gap), high - (len(placed) - 1 - k) * gap) for k, y in enumerate(placed)]
    result = [0.0] * len(wanted)
    for k, i in enumerate(order):
        result[i] = placed[k]
    return result


def _candidates(point: tuple[float, float], text: str, size: float) -> Iterator[tuple[float, Label]]:
    """Places around a point, and how little each is liked."""
    x, y = point
    for ring in range(9):
        reach = ring * size * 0.9
        is_far = ring > 0
        sides: list[tuple[float, float, Anchor]] = [(9, 0, "start"), (-9, 0, "end")] if not ring else []
        sides += [(9, -reach, "start"), (9, reach, "start"), (-9, -reach, "end"), (-9, reach, "end")] if ring else []
        sides += [(0, -size - 3 - reach, "middle"), (0, size + 3 + reach, "middle")]
        if ring:
            sides += [(9 + 2 * reach, way * reach, "start") for way in (-1, 0, 1)]
            sides += [(-9 - 2 * reach, way * reach, "end") for way in (-1, 0, 1)]
        for rank, (dx, dy, anchor) in enumerate(sides):
            yield 14 * ring + 1.5 * rank, Label(text, x + dx, y + dy, anchor, is_far)


def _box_of(label: Label, width: float, size: float) -> Box:
    left = label.x - {"start": 0.0, "middle": width / 2, "end": width}[label.anchor]
    return Box(left - 1, label.y - size * 0.62, left + width + 1, label.y + size * 0.62)


def _num_neighbours(points: Sequence[tuple[float, float]], i: int, radius: float) -> int:
    x, y = points[i]
    return sum(abs(x - other_x) < radius and abs(y - other_y) < radius for other_x, other_y in points)
