"""`jumok train` without scores and report, for tests of the training itself: `torchrun … train_only.py CONFIG RUN`.

With DIES="RANK STEP" that rank kills itself at that step, once.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

from jumok import pipeline
from jumok.config import load_config
from jumok.training.interruption import Interrupted
from jumok.training.trainer import Trainer


def finish(directory: Any, result: dict[str, Any], say: Any) -> None:
    directory.write_result(result)
    directory.report_file.write_text("a report")


def die(rank: str, step: str) -> None:
    """Send SIGKILL to this process in its update of that step, unless an earlier one did."""
    update = Trainer._update
    marker = Path("died")

    def update_or_die(self: Trainer, batches: Any) -> None:
        if os.environ["RANK"] == rank and self.progress.step == int(step) and not marker.exists():
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        update(self, batches)

    Trainer._update = update_or_die  # type: ignore[method-assign]


pipeline._score_and_report = finish
if "DIES" in os.environ:
    die(*os.environ["DIES"].split())
try:
    pipeline.train(load_config(sys.argv[1], sys.argv[3:]), sys.argv[2], say=lambda text: None)
except Interrupted as interruption:
    sys.exit(interruption.exit_code)
