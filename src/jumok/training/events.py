"""What a training tells the outside, and two who listen: metrics.jsonl and TensorBoard."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Protocol

from jumok.storage.files import explain_full_disk

Event = dict[str, Any]  # {"event": "train" | "validate" | "save" | "note", "step": …, figures …}


class Listener(Protocol):
    """Hears every event of a training."""

    def __call__(self, event: Event) -> None:
        """Take note of an event."""
        ...


class MetricsFile:
    """One JSON object a line, written at once, so that an interrupted run keeps what it had."""

    def __init__(self, path: Path, log_every: int) -> None:
        self._path = path
        self._log_every = log_every

    def __call__(self, event: Event) -> None:
        """Write every event but most of the training steps."""
        if event["event"] != "train" or event["step"] % self._log_every == 0:
            with explain_full_disk(self._path), self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(event, ensure_ascii=False) + "\n")


class TensorBoard:
    """The figures as TensorBoard's curves, in the run directory."""

    def __init__(self, folder: Path, log_every: int) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self._folder = folder
        with explain_full_disk(folder):
            self._writer = SummaryWriter(str(folder))
        self._log_every = log_every

    def __call__(self, event: Event) -> None:
        """Every figure of a training or validation event becomes a point of a curve."""
        kind, step = event["event"], event.get("step")
        if kind == "validate" or (kind == "train" and event["step"] % self._log_every == 0):
            with explain_full_disk(self._folder):
                for name, value in event.items():
                    if isinstance(value, int | float) and name != "step":
                        self._writer.add_scalar(f"{kind}/{name}", value, step)
                self._writer.flush()
