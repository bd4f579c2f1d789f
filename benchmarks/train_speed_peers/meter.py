"""How every system of this benchmark is timed and what it reports.

A target token is a subword of a target sentence or the end-of-sentence mark that follows it; padding is
never counted. The clock starts when the warm-up is over (so many seconds and at least five steps) and stops
at the first step that ends past the asked-for seconds, so whole steps are counted and nothing else.

Only the standard library: this file is imported inside every peer's own environment.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from dataclasses import dataclass
from pathlib import Path

MIN_WARMUP_STEPS = 5


@dataclass(frozen=True)
class Mark:
    """How far training had come at one moment: all three count from the start of the run."""

    step: int
    tgt_tokens: int
    seconds: float


class Meter:
    """Turns the progress of a run into its steady-state speed."""

    def __init__(self, warmup: float, seconds: float) -> None:
        self.warmup, self.seconds = warmup, seconds
        self.started = time.perf_counter()
        self.first: Mark | None = None
        self.last = Mark(0, 0, 0.0)

    def step(self, tgt_tokens: int) -> bool:
        """Count one finished training step, timed here; True when enough was measured."""
        passed = time.perf_counter() - self.started
        return self.add(Mark(self.last.step + 1, self.last.tgt_tokens + tgt_tokens, passed))

    def add(self, mark: Mark) -> bool:
        """Take a mark that the system itself wrote; True when enough was measured."""
        self.last = mark
        if self.first is None:
            if mark.step >= MIN_WARMUP_STEPS and mark.seconds >= self.warmup:
                self.first = mark
            return False
        return mark.seconds - self.first.seconds >= self.seconds

    def report(self, system: str, *, of_child: bool = False, **more: object) -> None:
        """Print the one JSON line that the benchmark reads."""
        if self.first is None or self.last.step == self.first.step:
            raise SystemExit(f"{system}: stopped after {self.last.step} steps, before anything was measured")
        steps = self.last.step - self.first.step
        tgt_tokens = self.last.tgt_tokens - self.first.tgt_tokens
        seconds = self.last.seconds - self.first.seconds
        who = resource.RUSAGE_CHILDREN if of_child else resource.RUSAGE_SELF
        result = {
            "system": system,
            "target_tokens_per_second": round(tgt_tokens / seconds, 1),
            "steps": steps,
            "target_tokens": tgt_tokens,
            "seconds": round(seconds, 2),
            "tokens_per_batch": round(tgt_tokens / steps),
            "peak_rss_mb": round(resource.getrusage(who).ru_maxrss / 1024),
        }
        print(json.dumps(result | more), flush=True)


def arguments(description: str | None) -> argparse.ArgumentParser:
    """The options that every system's script takes."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--data", type=Path, required=True, help="folder of the corpus as text")
    parser.add_argument("--pieces", type=Path, required=True, help="folder that pieces.py wrote")
    parser.add_argument("--scratch", type=Path, required=True, help="empty folder for this run's files")
    parser.add_argument("--batch-tokens", type=int, default=4096)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--warmup", type=float, default=15.0, help="seconds that are not counted")
    parser.add_argument("--seconds", type=float, default=60.0, help="seconds that are")
    return parser
