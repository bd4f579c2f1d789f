"""Where tables lie: paths, and URIs of anything that pyarrow opens."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
from pyarrow import fs

from jumok.errors import UsageError


def absolute(place: str | Path) -> str:
    """The same place for a process that works elsewhere."""
    return str(place) if "://" in str(place) else os.path.abspath(place)  # noqa: PTH100 (links stay)


def locate(place: str | Path) -> tuple[fs.FileSystem, str]:
    """A path, or a URI of anything that pyarrow opens."""
    try:
        filesystem, path = fs.FileSystem.from_uri(absolute(place))
    except (pa.ArrowException, OSError, ValueError) as error:
        raise UsageError(f"{place}: cannot be opened: {first_line(error)}") from None
    return filesystem, path.rstrip("/")


def first_line(error: BaseException) -> str:
    """What an error of a library says, short enough for a line of ours."""
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
