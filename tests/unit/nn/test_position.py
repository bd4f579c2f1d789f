from __future__ import annotations

import math

import pytest
import torch

from jumok.errors import DataError
from jumok.nn.position import LearnedPositions, SimplePositions, SinusoidalPositions, sinusoids


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


def test_none_adds_nothing():
    x = torch.randn(2, 5, 8)
    assert torch.equal(SimplePositions(8, "none")(x, start=3), x)


def test_counts_add_the_number_to_every_dimension():
    added = SimplePositions(4, "counts")(torch.zeros(2, 3, 4), start=7)
    assert added.tolist() == [[[7] * 4, [8] * 4, [9] * 4]] * 2


def test_scaled_counts_go_from_0_to_1_over_each_sentence_whatever_its_padding():
    positions, lengths = SimplePositions(2, "scaled_counts"), torch.tensor([5, 3, 1])
    added = positions(torch.zeros(3, 5, 2), lengths=lengths)[..., 0]
    assert added[0].tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert added[1, :3].tolist() == [0, 0.5, 1]
    assert added[2, 0] == 0  # a sentence of one token has no distance to divide by
    assert positions(torch.zeros(3, 1, 2), 2, lengths)[:, 0, 0].tolist() == [0.5, 1, 2]  # beyond what was expected


def test_bits_are_the_binary_digits_smallest_first():
    added = SimplePositions(6, "bits")(torch.zeros(1, 3, 6), start=5)[0]
    assert added.tolist() == [[1, 0, 1, 0, 0, 0], [0, 1, 1, 0, 0, 0], [1, 1, 1, 0, 0, 0]]


def test_bits_beyond_those_of_a_number_are_zero():
    added = SimplePositions(512, "bits")(torch.zeros(1, 1000, 512))[0]
    assert not added[:, 10:].any()
    assert added.unique(dim=0).size(0) == 1000
