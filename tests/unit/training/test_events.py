"""What is told is written at once, and TensorBoard reads it."""

from __future__ import annotations

from pathlib import Path

import pytest

from jumok.training.events import TensorBoard

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of TensorBoard's reader


def test_tensorboard_reads_every_figure_of_the_logged_steps(tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    board = TensorBoard(tmp_path / "tensorboard", log_every=2)
    for step in (1, 2, 3, 4):
        board({"event": "train", "step": step, "loss": 1 / step})
    board({"event": "validate", "step": 4, "bleu": 12.5, "example": ["a", "b", "c"]})
    board({"event": "note", "step": 4, "text": "hello"})
    found = EventAccumulator(str(tmp_path / "tensorboard"))
    found.Reload()
    assert found.Tags()["scalars"] == ["train/loss", "validate/bleu"]
    assert [(point.step, point.value) for point in found.Scalars("train/loss")] == [(2, 0.5), (4, 0.25)]
    assert [(point.step, point.value) for point in found.Scalars("validate/bleu")] == [(4, 12.5)]
