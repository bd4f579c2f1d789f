"""Ctrl-C and SIGTERM: noted when they come, obeyed when the update is done and saved."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


class Interrupted(Exception):
    """A signal asked the training to stop; it has been saved."""

    def __init__(self, signal_number: int, step: int) -> None:
        super().__init__(f"stopped at step {step:,} and saved; the same command goes on from there")
        self.exit_code = 128 + signal_number


@contextmanager
def signals_noted() -> Iterator[list[int]]:
    """Ctrl-C and SIGTERM are noted and obeyed after the update; a second Ctrl-C stops at once.

    Under torchrun a second one means nothing: the terminal or the scheduler sends one, and torchrun passes its own on.
    """
    received: list[int] = []
    previous: dict[signal.Signals, Callable[[int, FrameType | None], Any] | int | None] = {}

    def note(number: int, frame: FrameType | None) -> None:
        is_second_ctrl_c = number == signal.SIGINT and signal.SIGINT in received
        if is_second_ctrl_c and "WORLD_SIZE" not in os.environ:
            raise KeyboardInterrupt
        received.append(number)
        print("jumok: stopping after this update …", file=sys.stderr, flush=True)

    try:
        for watched in (signal.SIGINT, signal.SIGTERM):
            previous[watched] = signal.signal(watched, note)
    except ValueError:  # not in the main thread: whoever runs us handles signals
        pass
    try:
        yield received
    finally:
        for watched, handler in previous.items():
            signal.signal(watched, handler)
