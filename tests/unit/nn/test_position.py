from __future__ import annotations

import math

import pytest
import torch

from jumok.errors import DataError
from jumok.nn.position import LearnedPositions, SinusoidalPositions, sinusoids


@pytest.mark.parametrize(("position", "i"), [(0, 0), (1, 0), (3, 1), (17, 5), (511, 7)])
def test_values_follow_the_papers_formula(position, i):
    angle = position / 10000 ** (2 * i / 16)
    table = sinusoids(512, 16)
    assert table[position, 2 * i].item() == pytest.approx(math.sin(angle), abs=1e-6)
    assert table[position, 2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-6)


@pytest.mark.parametrize("k", [0, 1, 5, 100, -3])
def test_moving_on_by_k_is_a_rotation_that_depends_on_k_alone(k):
    d_model = 32
    rotations = []
    for i in range(d_model // 2):
        angle = k / 10000 ** (2 * i / d_model)
        c, s = math.cos(angle), math.sin(angle)
        rotations.append(torch.tensor([[c, s], [-s, c]], dtype=torch.float64))
    m_k = torch.block_diag(*rotations)
    table = sinusoids(1000, d_model).double()
    for t in (3, 4, 50, 777):
        torch.testing.assert_close(table[t + k], m_k @ table[t], atol=1e-6, rtol=0)


def test_wavelengths_go_from_2_pi_towards_10000_times_2_pi():
    d_model = 512
    table = sinusoids(62833, d_model)
    # The first pair turns once in 2π positions, the last in 2π·10000^(510/512), just under 10000·2π.
    longest = 2 * math.pi * 10000 ** ((d_model - 2) / d_model)
    assert 0.96 * 10000 * 2 * math.pi < longest < 10000 * 2 * math.pi
    first, last = table[:, :2].double(), table[:, -2:].double()
    crossings = int(((first[1:, 0] >= 0) & (first[:-1, 0] < 0)).sum())  # one a turn
    assert 62832 / crossings == pytest.approx(2 * math.pi, rel=1e-3)
    assert last[round(longest / 4)].tolist() == pytest.approx([1, 0], abs=1e-4)
    assert last[round(longest / 2)].tolist() == pytest.approx([0, -1], abs=1e-4)
    assert last[round(longest)].tolist() == pytest.approx([0, 1], abs=1e-3)


def test_positions_are_added_and_start_moves_them():
    positions, x = SinusoidalPositions(8), torch.randn(2, 5, 8)
    table = sinusoids(20, 8)
    torch.testing.assert_close(positions(x), x + table[:5])
    torch.testing.assert_close(positions(x, start=7), x + table[7:12])


def test_the_table_grows_beyond_512_and_early_rows_stay_as_they_were():
    positions = SinusoidalPositions(8)
    before = positions.table.clone()
    assert before.size(0) == 512
    longer = positions(torch.zeros(1, 700, 8))[0]
    torch.testing.assert_close(longer, sinusoids(700, 8))
    assert torch.equal(positions.table[:512], before)


def test_a_table_that_grew_in_inference_mode_can_be_trained_with():
    positions = SinusoidalPositions(8)
    with torch.inference_mode():
        positions(torch.zeros(1, 1, 8), start=600)
    x = torch.randn(1, 4, 8, requires_grad=True)
    (positions(x) * 2).sum().backward()
    assert torch.equal(x.grad, torch.full_like(x, 2))


def test_sinusoids_are_no_part_of_what_is_saved_or_learned():
    positions = SinusoidalPositions(8)
    assert not list(positions.parameters())
    assert not positions.state_dict()


def test_learned_positions_add_their_rows():
    positions, x = LearnedPositions(8, 10), torch.randn(2, 4, 8)
    torch.testing.assert_close(positions(x, start=6), x + positions.embedding.weight[6:10])


def test_learned_positions_refuse_what_lies_beyond_them():
    message = (
        r"^a sentence of 11 pieces is longer than the 10 learned positions; raise model\.max_length and train again"
    )
    with pytest.raises(DataError, match=message):
        LearnedPositions(8, 10)(torch.zeros(1, 5, 8), start=6)
