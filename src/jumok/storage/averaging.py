"""The mean of several models as a new run.

Paper: Vaswani et al. 2017, section 6.1, for checkpoints of one training; Wortsman et al. 2022, "Model soups", for
trainings that started from one model.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jumok.errors import RunError, UsageError
from jumok.storage.checkpoints import Tensors, load_tensors, mean
from jumok.storage.compatibility import require_same_model, require_same_vocabulary
from jumok.storage.folders import new_folder, refuse_what_exists
from jumok.storage.run_directory import RunDirectory


def average_checkpoints(run: RunDirectory, new: Path, last: int | None = None, steps: Sequence[int] = ()) -> list[int]:
    """Write the mean of a run's last checkpoints, of those of certain steps, or of all; returns their steps."""
    refuse_what_exists(new)
    run.require()
    known = run.checkpoints.steps()
    if not known:
        raise RunError(f"{run.path}: has no checkpoints; name several runs to average their models")
    listed = ", ".join(map(str, known))
    if last is not None and not 0 < last <= len(known):
        raise UsageError(f"--last {last}: {run.path} has {len(known)} checkpoints, of steps {listed}")
    for step in steps:
        if step not in known:
            raise UsageError(f"--steps: {run.path} has no checkpoint of step {step}; it has those of steps {listed}")
    chosen = sorted(set(steps)) or known[-(last or len(known)) :]
    _write(new, run, run.checkpoints.average(chosen))
    return chosen


def average_models(runs: Sequence[RunDirectory], new: Path) -> None:
    """Write the mean of the models of several runs, which have the same shape and vocabulary."""
    refuse_what_exists(new)
    for run in runs:
        run.require_model()
    require_same_vocabulary(runs)
    require_same_model(runs)
    _write(new, runs[0], mean(load_tensors(run.model_file) for run in runs))


def _write(new: Path, like: RunDirectory, tensors: Tensors) -> None:
    """A run with the configuration and vocabulary of another one and these weights."""
    with new_folder(new) as unfinished:
        run = RunDirectory(unfinished)
        run.create(like.config(), like.path)
        run.save_model(tensors)
        usual_length = (like.result() or {}).get("usual_length")
        if usual_length is not None:  # how long texts are split; scores and cost are not those of the mean
            run.write_result({"name": new.name, "usual_length": usual_length})
        run.load_model()  # weights that do not fit the configuration are found now
