"""Arrays on their way to the page: float16, little-endian, in base64."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray

Packed = dict[str, Any]


def pack(values: NDArray[Any]) -> Packed:
    """{"shape": …, "f16": …}: a third of what the digits would take; numbers beyond 65504 are cut, ±∞ is not."""
    halves = np.asarray(values, dtype=np.float64)
    limit = float(np.finfo(np.float16).max)
    halves = np.where(np.isfinite(halves), halves.clip(-limit, limit), halves)
    data = np.ascontiguousarray(halves, dtype="<f2").tobytes()
    return {"shape": list(values.shape), "f16": base64.b64encode(data).decode("ascii")}
