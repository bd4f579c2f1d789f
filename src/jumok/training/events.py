"""What a training tells the outside, and two who listen: metrics.jsonl and TensorBoard."""

from __future__ import annotations

import json
import os
import socket
import time
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
    """The figures as TensorBoard's curves, in the run directory.

    Written at once and in this thread: TensorBoard's own writer has a thread of its own, where a full disk would end in
    a traceback instead of one line.
    """

    def __init__(self, folder: Path, log_every: int) -> None:
        from tensorboard.compat.proto.event_pb2 import Event as Record

        self._log_every = log_every
        name = f"events.out.tfevents.{time.time_ns()}.{socket.gethostname()}.{os.getpid()}"
        self._path = folder / name
        self._write(Record(wall_time=time.time(), file_version="brain.Event:2"))

    def __call__(self, event: Event) -> None:
        """Every figure of a training or validation event becomes a point of a curve."""
        from tensorboard.compat.proto.event_pb2 import Event as Record
        from tensorboard.compat.proto.summary_pb2 import Summary

        kind, step = event["event"], event.get("step")
        if kind == "validate" or (kind == "train" and event["step"] % self._log_every == 0):
            figures = {
                name: value for name, value in event.items() if isinstance(value, int | float) and name != "step"
            }
            values = [Summary.Value(tag=f"{kind}/{name}", simple_value=value) for name, value in figures.items()]
            self._write(Record(wall_time=time.time(), step=step, summary=Summary(value=values)))

    def _write(self, record: Any) -> None:
        from tensorboard.summary.writer.record_writer import RecordWriter

        with explain_full_disk(self._path):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab") as file:
                RecordWriter(file).write(record.SerializeToString())
