"""What can go wrong, as one tree.

    JumokError                 anything we can explain in one line
    ├── UsageError             the user can mend it: exit code 2
    │   ├── ConfigError        a key, a type or a value in the TOML file or in --set
    │   ├── DataError          a corpus file: missing, empty, unequal, not UTF-8 ...
    │   ├── TokenizerError     a vocabulary that the data does not allow, a damaged model file
    │   └── RunError           a run directory that is missing, incomplete or in use
    └── FailureError           the machine or the training gave way: exit code 1
        ├── CheckpointError    a checkpoint that is damaged or could not be written
        ├── ResourceError      out of memory, disk full
        └── DivergenceError    the loss stopped being a number

A message says what was expected, what was found, where, and what to do.
"""

from __future__ import annotations

import difflib
import errno
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path


class JumokError(Exception):
    """Base of every error that is shown to a user as one line."""

    exit_code = 1


class UsageError(JumokError):
    """Something the user can mend in the command, the configuration or the data."""

    exit_code = 2


class ConfigError(UsageError):
    """A wrong key, type or value in the configuration."""


class DataError(UsageError):
    """A corpus file that cannot be used as it is."""


class TokenizerError(UsageError):
    """A subword model that cannot be learned or read."""

    limit = 0  # the largest vocabulary that works, or minus the smallest


class RunError(UsageError):
    """A run directory that cannot be used as it is."""


class FailureError(JumokError):
    """The machine or the training gave way; what was saved before is kept."""


class CheckpointError(FailureError):
    """A checkpoint that is damaged or could not be written."""


class ResourceError(FailureError):
    """Out of memory or out of disk."""


class DivergenceError(FailureError):
    """The loss stopped being a number."""


@contextmanager
def explained_memory_errors(advice: str) -> Iterator[None]:
    """Say what to lower where memory runs out, on whichever device."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        text = str(error).lower()
        if isinstance(error, MemoryError) or "out of memory" in text or "can't allocate memory" in text:
            raise ResourceError(f"out of memory; {advice}") from error
        raise


@contextmanager
def explained_disk_errors(path: Path, goes_on_from: str | None = None) -> Iterator[None]:
    """Turn an error of the disk into one line that says what to do."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            hope = "" if goes_on_from is None else f", it goes on from {goes_on_from}"
            raise ResourceError(
                f"{path}: the disk is full; free some space and give the same command again{hope}"
            ) from error
        raise ResourceError(f"{path}: could not be written: {error.strerror or error}") from error


def nearest(name: str, known: Iterable[str], title: str = "known") -> str:
    """What may have been meant by a name that nobody knows, as the end of a message."""
    known = list(known)
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    return f"did you mean {near[0]}?" if near else f"{title}: {', '.join(known)}"
