"""What lies in the folder of a comparison, and whether it is what the configuration asks for.

A row shows what its configuration gives. A run that was trained otherwise, or began with weights that were trained anew
since, is neither shown as this one nor gone on with.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jumok.comparison.config import LIMITS, ComparisonConfig, System
from jumok.config import Config
from jumok.errors import JumokError, RunError
from jumok.storage.files import replace_durably, sha256
from jumok.storage.run_directory import RunDirectory
from jumok.training.starting_point import starting_point

_START_FILE = "start.sha256"  # of the weights that a run began with
_FREE_TRAINING_KEYS = {"device", "threads", "log_every", "keep_last", "max_skipped"}  # they change no result


class TrainedRuns:
    """The runs of one comparison, by system."""

    def __init__(self, config: ComparisonConfig) -> None:
        self._config = config

    def directory(self, system: System) -> RunDirectory:
        """Where a system is."""
        return RunDirectory(self._config.folder / system.name)

    def is_finished(self, system: System) -> bool:
        """Whether a system was trained with this very configuration, or an ensemble after its members."""
        directory = self.directory(system)
        if system.members:
            members = [self._config.system(name) for name in system.members]
            files = [self.directory(member).result_file for member in members]
            is_same = (directory.result() or {}).get("members") == list(system.members)
            return is_same and all(map(self.is_finished, members)) and is_newer(directory.result_file, files)
        try:
            assert system.config is not None
            if self._has_other_start(system):
                return False
            config, _ = starting_point(system.config, directory, _say_nothing)  # completed, as the run has it
            has_ended = directory.result() is not None and directory.report_file.exists()
            return has_ended and _is_same(directory.config(), config)
        except (JumokError, FileNotFoundError):  # as where the run that it began with is gone
            return False

    def begin(self, system: System) -> None:
        """Refuse to go on with another training, and write down which weights this one begins with."""
        directory = self.directory(system)
        assert system.config is not None
        if directory.checkpoints.steps():
            _refuse_other_training(directory, system.config)
            if self._has_other_start(system):
                raise RunError(
                    f"{directory.path}: began with the weights of an earlier {system.start_from}, which was trained "
                    f"anew since; remove {directory.path} to train it anew, too"
                )
        if system.start_from:
            directory.path.mkdir(parents=True, exist_ok=True)
            replace_durably(directory.path / _START_FILE, self._weights_of(system.start_from).encode())

    def _has_other_start(self, system: System) -> bool:
        file = self.directory(system).path / _START_FILE
        if system.start_from is None or not file.exists():
            return False
        return file.read_text(encoding="utf-8") != self._weights_of(system.start_from)

    def _weights_of(self, name: str) -> str:
        return sha256(self.directory(self._config.system(name)).model_file)


def is_newer(file: Path, others: Sequence[Path]) -> bool:
    """Whether a file was written after all of these."""
    return file.exists() and all(file.stat().st_mtime >= other.stat().st_mtime for other in others if other.exists())


def _is_same(one: Config, other: Config) -> bool:
    """Whether two configurations give the same figures."""
    free = {"training": _FREE_TRAINING_KEYS}
    return one.model_dump(exclude=free) == other.model_dump(exclude=free)


def _refuse_other_training(directory: RunDirectory, config: Config) -> None:
    """A budget may grow where the learning rate does not depend on it."""
    old, new = (one.training.model_dump(exclude=_FREE_TRAINING_KEYS) for one in (directory.config(), config))
    for key, value in new.items():
        may_grow = key in LIMITS.values() and config.training.schedule in ("inverse_sqrt", "constant")
        if old[key] != value and not (may_grow and old[key] is not None and value is not None and value > old[key]):
            raise RunError(
                f"{directory.path}: training.{key} was {old[key]} and is {value} now, and the figures would be those "
                f"of the old training; remove {directory.path} to train it anew, or put it back"
            )


def _say_nothing(text: str) -> None:
    """What the training will say again."""
