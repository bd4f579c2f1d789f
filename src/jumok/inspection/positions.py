"""Why sinusoids: four ways to tell positions, the distances that each gives, and the rotation that shifts a sinusoid.

Paper: Vaswani et al. 2017, section 3.5.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jumok.nn.position import sinusoids

Array = NDArray[np.float64]


@dataclass(frozen=True)
class PositionTable:
    """A vector for each position (T, D), and how far apart any two of them are (T, T)."""

    vectors: Array
    distances: Array


def position_tables(num_positions: int, d_model: int) -> dict[str, PositionTable]:
    """Plain counts, counts scaled to 0…1, bits and sinusoids, side by side."""
    count = np.arange(num_positions, dtype=np.float64)[:, None]
    ways = {
        "counts": np.broadcast_to(count, (num_positions, d_model)),
        "scaled_counts": np.broadcast_to(count / max(1, num_positions - 1), (num_positions, d_model)),
        "bits": _bits(num_positions, d_model),
        "sinusoidal": sinusoids(num_positions, d_model).double().numpy(),
    }
    return {name: PositionTable(vectors, _distances(vectors)) for name, vectors in ways.items()}


def frequencies(d_model: int) -> Array:
    """Radians that each pair of sine and cosine turns from one position to the next: 1 down to 1/10000."""
    values: Array = 10000.0 ** (-np.arange(0, d_model, 2, dtype=np.float64) / d_model)
    return values


def rotation(shift: int, d_model: int) -> Array:
    """M_k with PE(t + k) = M_k · PE(t) for every t: each pair of dimensions is turned by its own angle, k·frequency.

    sin(a + b) = cos b · sin a + sin b · cos a, and cos(a + b) = cos b · cos a − sin b · sin a.
    """
    matrix = np.zeros((d_model, d_model))
    for pair, angle in enumerate(shift * frequencies(d_model)):
        sine, cosine = 2 * pair, 2 * pair + 1
        matrix[sine, sine] = matrix[cosine, cosine] = np.cos(angle)
        matrix[sine, cosine], matrix[cosine, sine] = np.sin(angle), -np.sin(angle)
    return matrix


def similarities(num_positions: int, d_model: int) -> Array:
    """The dot product of two sinusoids at each distance (0, 1, …): where they stand, and which is first, is all one."""
    distance = np.arange(num_positions)[:, None]
    values: Array = np.cos(distance * frequencies(d_model)).sum(axis=1)
    return values


def _bits(num_positions: int, d_model: int) -> Array:
    """Binary digits of the position, the fastest one first; digits beyond the largest number are 0."""
    place = np.arange(d_model, dtype=np.float64)
    digits: Array = np.floor(np.arange(num_positions)[:, None] / 2.0**place) % 2
    return digits


def _distances(vectors: Array) -> Array:
    apart: Array = np.linalg.norm(vectors[:, None] - vectors[None], axis=-1)
    return apart
