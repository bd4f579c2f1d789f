"""What the page says of positions is so."""

from __future__ import annotations

import numpy as np
import pytest

from jumok.inspection.positions import frequencies, position_tables, rotation, similarities


def test_a_rotation_shifts_every_position_by_the_same_number():
    table = position_tables(40, 16)["sinusoidal"].vectors
    for shift in (0, 1, 7, -3):
        moved = table[10:30] @ rotation(shift, 16).T
        np.testing.assert_allclose(moved, table[10 + shift : 30 + shift], atol=1e-6)
        np.testing.assert_allclose(rotation(shift, 16) @ rotation(shift, 16).T, np.eye(16), atol=1e-12)


def test_similarity_depends_on_the_distance_alone_and_is_the_same_to_both_sides():
    table, similar = position_tables(30, 32)["sinusoidal"].vectors, similarities(30, 32)
    for t, other in ((3, 9), (9, 3), (20, 26)):
        assert table[t] @ table[other] == pytest.approx(similar[6], abs=1e-5)
    assert similar[0] == 16 and (similar[1:] < 16).all()


def test_counts_have_no_bound_scaled_counts_depend_on_the_length_and_bits_jump():
    short, long = position_tables(5, 8), position_tables(9, 8)
    assert long["counts"].vectors.max() == 8
    assert short["scaled_counts"].distances[0, 1] != long["scaled_counts"].distances[0, 1]
    assert short["sinusoidal"].distances[0, 1] == pytest.approx(long["sinusoidal"].distances[0, 1])
    assert long["bits"].vectors[6].tolist() == [0, 1, 1, 0, 0, 0, 0, 0]
    neighbours = [long["bits"].distances[t, t + 1] ** 2 for t in range(8)]
    assert neighbours == pytest.approx([1, 2, 1, 3, 1, 2, 1, 4])  # digits that change; most from 7 to 8


def test_distances_of_neighbouring_sinusoids_are_all_alike():
    distances = position_tables(50, 64)["sinusoidal"].distances
    assert np.diag(distances, 1).std() < 1e-6
    assert frequencies(64)[0] == 1 and frequencies(64)[-1] == pytest.approx(10000 ** -(62 / 64))
