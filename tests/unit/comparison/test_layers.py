"""Table 1 measured: what is counted follows from how the layers are built."""

from __future__ import annotations

import math

import pytest
import torch

from jumok.comparison.layers import (
    KINDS,
    RADIUS,
    Convolution,
    DilatedConvolution,
    Recurrent,
    RestrictedAttention,
    SelfAttention,
    from_json,
    longest_chain,
    measure_layers,
    to_json,
)
from jumok.errors import UsageError
from jumok.nn.attention import MultiHeadAttention


@pytest.fixture(scope="module")
def measures():
    return measure_layers(d_model=32, lengths=(12, 24, 48), num_heads=2)


def figures(measures, kind, name):
    return [getattr(measure, name) for measure in measures if measure.layer == kind.name]


def test_only_the_recurrent_layer_has_steps_that_wait_for_each_other(measures):
    assert figures(measures, Recurrent, "sequential_steps") == [13, 25, 49]  # the input's product, then one a word
    assert figures(measures, SelfAttention, "sequential_steps") == [4, 4, 4]  # q and k, scores, context, W^O
    assert figures(measures, RestrictedAttention, "sequential_steps") == [4, 4, 4]
    assert figures(measures, Convolution, "sequential_steps") == [1, 1, 1]
    assert figures(measures, DilatedConvolution, "sequential_steps") == [1, 1, 1]


def test_paths_grow_as_the_paper_says(measures):
    lengths = (12, 24, 48)
    assert figures(measures, SelfAttention, "path_length") == [1, 1, 1]
    assert figures(measures, Recurrent, "path_length") == list(lengths)
    assert figures(measures, Convolution, "path_length") == [n - 1 for n in lengths]  # one neighbour a layer
    assert figures(measures, DilatedConvolution, "path_length") == [math.ceil(math.log2(n)) for n in lengths]
    assert figures(measures, RestrictedAttention, "path_length") == [math.ceil((n - 1) / RADIUS) for n in lengths]


def test_time_is_taken_and_all_of_it_survives_json(measures):
    assert all(measure.seconds > 0 for measure in measures)
    assert from_json(to_json(measures)) == measures


def test_depth_does_not_make_a_path_vanish():
    assert Convolution(16, 2).double().path_length(300) == 299


@pytest.mark.parametrize("kind", [SelfAttention, Recurrent, RestrictedAttention], ids=lambda kind: kind.name)
def test_the_fast_path_and_the_written_one_agree(kind):
    torch.manual_seed(0)
    layer = kind(16, 2)
    x = torch.randn(2, 21, 16)
    torch.testing.assert_close(layer(x), layer.as_written(x), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("length", [5, 8, 21, 32])
def test_restricted_attention_is_attention_with_a_banded_mask(length):
    torch.manual_seed(0)
    layer = RestrictedAttention(16, 2)
    whole = MultiHeadAttention(16, 2)
    whole.load_state_dict(layer.attention.state_dict())
    x = torch.randn(2, length, 16)
    positions = torch.arange(length)
    band = (positions[:, None] - positions).abs() <= RADIUS
    expected, _ = whole(x, mask=band)
    torch.testing.assert_close(layer.as_written(x), expected, rtol=1e-4, atol=1e-5)


def test_the_chain_counts_products_behind_each_other_once():
    a = torch.randn(3, 3, requires_grad=True)
    assert longest_chain(a @ a + a @ a) == 1  # side by side
    assert longest_chain((a @ a) @ (a @ a)) == 2
    assert longest_chain(a * 2) == 0


def test_every_kind_has_its_formulas():
    assert [kind.formulas.path for kind in KINDS] == ["O(1)", "O(n)", "O(n/k)", "O(log_k(n))", "O(n/r)"]


def test_measuring_leaves_the_random_numbers_of_a_training_alone():
    torch.manual_seed(3)
    expected = torch.rand(1)
    torch.manual_seed(3)
    measure_layers(d_model=8, lengths=(4,), num_heads=2)
    assert torch.equal(torch.rand(1), expected)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"d_model": 30, "num_heads": 8}, "d_model = 30 is not a multiple of num_heads = 8; use 256 and 8, say"),
        ({"lengths": ()}, r"lengths = \[\]: a path needs two positions; use 16, 32, 64, say"),
        ({"lengths": (1, 8)}, r"lengths = \[1, 8\]: a path needs two positions"),
    ],
)
def test_what_cannot_be_measured_is_said(arguments, message):
    with pytest.raises(UsageError, match=message):
        measure_layers(**arguments)
