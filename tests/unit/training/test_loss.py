from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F

from jumok.training import loss as loss_module
from jumok.training.loss import label_smoothed_cross_entropy, projected_cross_entropy


def test_smoothing_by_hand():
    # Four pieces with p = 1/2, 1/4, 1/8, 1/8; the target has 1/4. ε = 0.2: 0.8·2 bits + 0.2·(1 + 2 + 3 + 3)/4 bits.
    logits = torch.tensor([[0.5, 0.25, 0.125, 0.125]]).log() + 3.0
    loss = label_smoothed_cross_entropy(logits, torch.tensor([1]), 0.2)
    assert loss.item() == pytest.approx((0.8 * 2 + 0.2 * 9 / 4) * math.log(2), rel=1e-6)


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.5])
def test_the_loss_is_torchs_summed_cross_entropy(smoothing):
    torch.manual_seed(0)
    logits, targets = torch.randn(50, 13) * 3, torch.randint(13, (50,))
    expected = F.cross_entropy(logits, targets, label_smoothing=smoothing, reduction="sum")
    torch.testing.assert_close(label_smoothed_cross_entropy(logits, targets, smoothing), expected)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("num_rows", [1, 3, 16, 17, 40])
@pytest.mark.parametrize("chunk", [1, 7, 16, 512])
def test_the_fused_loss_is_the_plain_one_in_value_and_gradients(monkeypatch, smoothing, num_rows, chunk):
    if hasattr(loss_module, "_CHUNK_ROWS"):
        monkeypatch.setattr(loss_module, "_CHUNK_ROWS", chunk)
    torch.manual_seed(num_rows)
    hidden = torch.randn(num_rows, 8, requires_grad=True)
    weight = torch.randn(11, 8, requires_grad=True)
    targets = torch.randint(11, (num_rows,))
    before = hidden.detach().clone(), weight.detach().clone(), targets.clone()

    plain = label_smoothed_cross_entropy(F.linear(hidden, weight), targets, smoothing)
    expected = torch.autograd.grad(plain / 5, (hidden, weight))
    fused = projected_cross_entropy(hidden, weight, None, targets, smoothing)
    assert "ProjectedCrossEntropy" in type(fused.grad_fn).__name__  # or this test would compare plain with plain
    torch.testing.assert_close(fused, plain)
    torch.testing.assert_close(torch.autograd.grad(fused / 5, (hidden, weight)), expected, atol=1e-5, rtol=1e-4)
    assert torch.equal(before[0], hidden) and torch.equal(before[1], weight) and torch.equal(before[2], targets)


def test_more_rows_than_one_chunk_as_it_ships():
    torch.manual_seed(0)
    hidden, weight = torch.randn(1300, 4, requires_grad=True), torch.randn(9, 4, requires_grad=True)
    targets = torch.randint(9, (1300,))
    plain = label_smoothed_cross_entropy(F.linear(hidden, weight), targets, 0.1)
    fused = projected_cross_entropy(hidden, weight, None, targets, 0.1)
    torch.testing.assert_close(fused, plain, rtol=1e-5, atol=0)
    torch.testing.assert_close(
        torch.autograd.grad(fused, (hidden, weight)), torch.autograd.grad(plain, (hidden, weight)), atol=1e-4, rtol=1e-4
    )


def test_large_logits_neither_overflow_nor_lose_the_gradient():
    hidden, weight = torch.tensor([[200.0, 0.0]], requires_grad=True), torch.eye(2) * 2
    loss = projected_cross_entropy(hidden, weight.requires_grad_(), None, torch.tensor([1]), 0.0)
    assert loss.item() == pytest.approx(400.0)
    loss.backward()
    torch.testing.assert_close(hidden.grad, torch.tensor([[2.0, -2.0]]))


def test_no_rows_are_no_loss():
    hidden, weight = torch.zeros(0, 4, requires_grad=True), torch.randn(5, 4, requires_grad=True)
    loss = projected_cross_entropy(hidden, weight, None, torch.zeros(0, dtype=torch.long), 0.1)
    loss.backward()
    assert loss.item() == 0
    assert not weight.grad.any()


def test_going_back_twice_gives_the_same_gradient_or_an_error_never_another_gradient():
    hidden, weight = torch.randn(3, 4, requires_grad=True), torch.randn(5, 4, requires_grad=True)
    loss = 3 * projected_cross_entropy(hidden, weight, None, torch.tensor([0, 1, 2]), 0.1)
    (first,) = (g.clone() for g in torch.autograd.grad(loss, (hidden,), retain_graph=True))
    try:
        (second,) = torch.autograd.grad(loss, (hidden,))
    except RuntimeError as error:
        assert "modified by an inplace operation" in str(error)
    else:
        torch.testing.assert_close(second, first)


def test_under_bfloat16_autocast_the_loss_and_its_gradients_stay_close():
    torch.manual_seed(0)
    hidden, weight = torch.randn(20, 8, requires_grad=True), torch.randn(11, 8, requires_grad=True)
    targets = torch.randint(11, (20,))
    exact = projected_cross_entropy(hidden, weight, None, targets, 0.1)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        rough = projected_cross_entropy(hidden, weight, None, targets, 0.1)
    assert rough.item() == pytest.approx(exact.item(), rel=0.01)
    for a, b in zip(*(torch.autograd.grad(x, (hidden, weight)) for x in (rough, exact)), strict=True):
        assert a.dtype == torch.float32
        torch.testing.assert_close(a, b, atol=0.05, rtol=0.05)


def test_a_weight_used_elsewhere_too_gets_both_gradients():
    torch.manual_seed(0)
    weight, targets = torch.randn(7, 4, requires_grad=True), torch.tensor([1, 2])

    def total(loss_of) -> torch.Tensor:
        hidden = weight[:2] * 2  # as an embedding that shares the output's weights
        return loss_of(hidden)

    plain = total(lambda h: label_smoothed_cross_entropy(h @ weight.t(), targets, 0.1))
    fused = total(lambda h: projected_cross_entropy(h, weight, None, targets, 0.1))
    torch.testing.assert_close(torch.autograd.grad(fused, weight), torch.autograd.grad(plain, weight))


def test_without_gradients_and_with_a_bias_the_plain_loss_is_used():
    torch.manual_seed(0)
    hidden, weight, bias, targets = torch.randn(5, 4), torch.randn(7, 4), torch.randn(7), torch.randint(7, (5,))
    expected = F.cross_entropy(F.linear(hidden, weight, bias), targets, label_smoothing=0.1, reduction="sum")
    torch.testing.assert_close(projected_cross_entropy(hidden, weight, bias, targets, 0.1), expected)
    with torch.no_grad():
        expected = F.cross_entropy(F.linear(hidden, weight), targets, label_smoothing=0.1, reduction="sum")
        torch.testing.assert_close(projected_cross_entropy(hidden, weight, None, targets, 0.1), expected)
