from __future__ import annotations

import pytest
import torch

from jumok.nn.dropout import Dropout, random_keep_mask


def test_evaluation_is_the_identity():
    x = torch.randn(3, 5)
    dropout = Dropout(0.5).eval()
    assert torch.equal(dropout(x), x)
    assert torch.equal(dropout.add(x, x), 2 * x)


def test_p_zero_is_the_identity_in_training_too():
    x = torch.randn(3, 5)
    dropout = Dropout(0.0).train()
    assert torch.equal(dropout(x), x)
    assert torch.equal(dropout.add(x, 2 * x), 3 * x)


@pytest.mark.parametrize("p", [0.1, 0.2, 0.3, 0.5, 0.9])
def test_p_is_rounded_to_256ths_and_the_scale_is_exact_for_it(p):
    torch.manual_seed(0)
    y = Dropout(p).train()(torch.ones(200_000))
    rounded = round(p * 256) / 256
    kept = y[y != 0]
    assert torch.equal(kept.unique(), torch.tensor([1 / (1 - rounded)]))
    assert (y == 0).float().mean().item() == pytest.approx(rounded, abs=5 * (rounded * (1 - rounded) / 200_000) ** 0.5)
    assert y.mean().item() == pytest.approx(1, abs=5 * (rounded / (1 - rounded) / 200_000) ** 0.5)


@pytest.mark.parametrize("p", [0.001, 0.0019, 0.998, 0.9999])
def test_very_small_and_very_large_p_give_finite_numbers(p):
    y = Dropout(p).train()(torch.ones(1000))
    assert y.isfinite().all()


def test_every_byte_of_a_word_decides_equally_often():
    torch.manual_seed(0)
    keep = random_keep_mask(80_000, 64).view(-1, 8).float()
    assert (keep.mean(dim=0) - 0.75).abs().max() < 5 * (0.25 * 0.75 / 10_000) ** 0.5
    correlations = torch.corrcoef(keep.t()) - torch.eye(8)
    assert correlations.abs().max() < 0.05


@pytest.mark.parametrize("shape", [(1,), (7,), (8,), (9,), (3, 5), (2, 3, 4), (0, 4)])
def test_any_number_of_elements(shape):
    x = torch.ones(shape)
    y = Dropout(0.5).train()(x)
    assert y.shape == x.shape
    assert set(y.flatten().tolist()) <= {0.0, 2.0}


def test_the_seed_decides_and_another_seed_decides_otherwise():
    x, dropout = torch.ones(1000), Dropout(0.3).train()

    def run(seed: int) -> torch.Tensor:
        torch.manual_seed(seed)
        return dropout(x)

    assert torch.equal(run(1), run(1))
    assert not torch.equal(run(1), run(2))


def test_two_calls_drop_different_elements():
    x, dropout = torch.ones(1000), Dropout(0.3).train()
    torch.manual_seed(1)
    assert not torch.equal(dropout(x), dropout(x))


@pytest.mark.parametrize("is_contiguous", [True, False])
def test_add_is_the_residual_plus_forward_under_the_same_seed(is_contiguous):
    x, residual = torch.randn(6, 7), torch.randn(6, 7)
    if not is_contiguous:
        x, residual = torch.randn(7, 6).t(), torch.randn(6, 14)[:, ::2]
    dropout = Dropout(0.4).train()
    torch.manual_seed(3)
    together = dropout.add(x, residual)
    torch.manual_seed(3)
    torch.testing.assert_close(together, residual + dropout(x))


@pytest.mark.parametrize("is_contiguous", [True, False])
def test_output_and_gradient_are_mask_times_scale(is_contiguous):
    p = 77 / 256
    x = (torch.randn(5, 6) if is_contiguous else torch.randn(6, 5).t()).requires_grad_()
    residual = torch.randn(5, 6, requires_grad=True)
    upstream = torch.randn(6, 5).t()  # not contiguous either
    dropout = Dropout(p).train()
    torch.manual_seed(4)
    factor = random_keep_mask(30, 77).view(5, 6).float() / (1 - p)
    for with_residual in (False, True):
        x.grad = residual.grad = None
        torch.manual_seed(4)
        y = dropout.add(x, residual) if with_residual else dropout(x)
        torch.testing.assert_close(y, factor * x + (residual if with_residual else 0))
        y.backward(upstream)
        torch.testing.assert_close(x.grad, factor * upstream)
        if with_residual:
            torch.testing.assert_close(residual.grad, upstream)


def test_x_as_its_own_residual_gets_both_gradients():
    x = torch.randn(50, requires_grad=True)
    torch.manual_seed(5)
    keep = random_keep_mask(50, 128).float()
    torch.manual_seed(5)
    Dropout(0.5).train().add(x, x).sum().backward()
    torch.testing.assert_close(x.grad, 1 + 2 * keep)


def test_the_input_is_left_as_it_was():
    x, residual = torch.ones(100), torch.ones(100)
    dropout = Dropout(0.5).train()
    dropout(x)
    dropout.add(x, residual)
    assert torch.equal(x, torch.ones(100))
    assert torch.equal(residual, torch.ones(100))


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_other_floating_point_types_keep_their_type(dtype):
    x = torch.ones(100, dtype=dtype)
    dropout = Dropout(0.5).train()
    assert dropout(x).dtype == dropout.add(x, x).dtype == dtype
