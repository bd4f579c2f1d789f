"""How a training looks in the terminal: a bar where it is one, plain lines where it is not."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

_SECONDS_BETWEEN_LINES = 10.0


class TrainingProgress:
    """Listens to a training and shows it on standard error."""

    def __init__(self, max_steps: int) -> None:
        self._max_steps = max_steps
        self._console = Console(stderr=True)
        self._bar: Progress | None = None
        self._last_line = 0.0
        if self._console.is_terminal:
            self._bar = Progress(
                TextColumn("training"),
                BarColumn(bar_width=None),
                MofNCompleteColumn(),
                TextColumn("{task.fields[figures]}"),
                TimeRemainingColumn(),
                console=self._console,
                transient=True,
            )
            self._task = self._bar.add_task("training", total=max_steps, figures="")

    def __enter__(self) -> TrainingProgress:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, event: dict[str, Any]) -> None:
        """Show an event."""
        match event["event"]:
            case "train":
                self._show_step(event)
            case "validate":
                bleu = f", BLEU {event['bleu']:.1f}" if "bleu" in event else ""
                self._say(f"step {event['step']:,}: validation loss {event['loss']:.3f}{bleu}")
            case "note":
                self._say(event["text"])
            case "skip":
                self._say(f"step {event['step']:,}: no update, loss {event['loss']}, gradient {event['grad_norm']}")
            case "model":
                self._say(f"model to use: {event['chosen']} (validation loss {event['loss']:.3f})")

    def _show_step(self, event: dict[str, Any]) -> None:
        figures = (
            f"loss {event['loss']:.3f}  rate {event['learning_rate']:.1e}  {event['tokens_per_second']:,.0f} tokens/s"
        )
        if self._bar is not None:
            self._bar.update(self._task, completed=event["step"], figures=figures)
        elif time.monotonic() - self._last_line > _SECONDS_BETWEEN_LINES:
            self._last_line = time.monotonic()
            remaining = event["seconds"] / event["step"] * (self._max_steps - event["step"])
            self._say(f"step {event['step']:,}/{self._max_steps:,}  {figures}  {remaining / 60:.1f} min to go")

    def _say(self, text: str) -> None:
        if self._bar is not None:
            self._bar.console.print(text, highlight=False, markup=False)
        else:
            print(text, file=sys.stderr, flush=True)


def say(text: str) -> None:
    """A line for the person, beside what a program reads."""
    print(text, file=sys.stderr, flush=True)
