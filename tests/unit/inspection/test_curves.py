"""Curves: which points, which ticks."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest

from jumok.inspection.curves import draw_curve, nice_ticks, points_of, thin_out


def test_last_figure_of_a_step_counts() -> None:
    events = [
        {"event": "train", "step": 10, "loss": 5.0},
        {"event": "train", "step": 20, "loss": 4.0},
        {"event": "validate", "step": 20, "loss": 9.0},
        {"event": "train", "step": 10, "loss": 3.0},  # resumed from step 0
    ]
    assert points_of(events, "train", "loss") == [(10.0, 3.0), (20.0, 4.0)]
    assert points_of(events, "validate", "bleu") == []


def test_what_is_no_number_is_passed_over() -> None:
    events = [
        {"event": "train", "step": i, "loss": loss} for i, loss in enumerate([float("nan"), float("inf"), None, 2])
    ]
    assert points_of(events, "train", "loss") == [(3.0, 2.0)]


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0, 8, [0, 2, 4, 6, 8]),
        (0, 92.8, [0, 25, 50, 75, 100]),
        (0, 0.0025, [0, 0.001, 0.002, 0.003]),
        (0, 0, [0, 0.25, 0.5, 0.75, 1]),
    ],
)
def test_ticks_are_round(low: float, high: float, ticks: list[float]) -> None:
    assert nice_ticks(low, high, 4) == ticks


def test_thinning_keeps_the_ends() -> None:
    points = [(float(i), float(i)) for i in range(10_001)]
    thin = thin_out(points, 300)
    assert len(thin) == 300
    assert (thin[0], thin[-1]) == (points[0], points[-1])


@pytest.mark.parametrize(
    "points", [[(10.0, 2.0)], [(0.0, 0.0), (5.0, 0.0)], [(float(i), -float(i)) for i in range(999)]]
)
def test_curve_is_wellformed_and_described(points: list[tuple[float, float]]) -> None:
    root = ElementTree.fromstring(draw_curve("Loss <a>", points, str))
    assert "Loss <a>" in root.attrib["aria-label"]
    assert "nan" not in ElementTree.tostring(root, encoding="unicode")
