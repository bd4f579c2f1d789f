from __future__ import annotations

import torch

from jumok.nn.normalization import BatchNorm
from jumok.nn.residual import Residual


def _run(residual: Residual, x: torch.Tensor) -> torch.Tensor:
    return residual.leave(x, 3 * residual.enter(x))  # the sub-layer multiplies by three


def test_post_norm_normalises_the_sum():
    residual, x = Residual(4, 0.0, is_pre_norm=False), torch.randn(2, 3, 4)
    torch.testing.assert_close(_run(residual, x), residual.norm(x + 3 * x))


def test_pre_norm_normalises_what_the_sublayer_reads_and_leaves_the_path_alone():
    residual, x = Residual(4, 0.0, is_pre_norm=True), torch.randn(2, 3, 4)
    torch.testing.assert_close(_run(residual, x), x + 3 * residual.norm(x))


def test_dropout_is_on_the_sublayers_output_never_on_the_path():
    torch.manual_seed(0)
    residual = Residual(64, 0.5, is_pre_norm=True).train()
    x, y = torch.randn(4, 16, 64), torch.ones(4, 16, 64)
    difference = residual.leave(x, y) - x
    is_zero, is_two = difference.abs() < 1e-5, (difference - 2).abs() < 1e-5
    assert (is_zero | is_two).all()
    assert 0.4 < is_zero.float().mean() < 0.6


def test_without_the_connection_only_the_sublayers_output_is_left():
    x = torch.randn(2, 3, 4)
    post, pre = (Residual(4, 0.0, is_pre_norm, use_residual=False) for is_pre_norm in (False, True))
    torch.testing.assert_close(_run(post, x), post.norm(3 * x))
    torch.testing.assert_close(_run(pre, x), 3 * pre.norm(x))


def test_the_norm_may_be_another_one():
    assert isinstance(Residual(4, 0.0, is_pre_norm=True, norm=BatchNorm).norm, BatchNorm)
