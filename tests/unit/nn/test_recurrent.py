from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from jumok.nn.recurrent import RecurrentLayer

CELLS = ["rnn", "lstm", "gru"]
IN_TORCH = {"rnn": nn.RNN, "lstm": nn.LSTM, "gru": nn.GRU}


def _layer(cell: str, d_in: int = 3, d_out: int = 4) -> RecurrentLayer:
    torch.manual_seed(1)
    layer = RecurrentLayer(cell, d_in, d_out).double()
    for parameter in layer.parameters():
        nn.init.normal_(parameter, std=0.7)
    return layer


def _state(layer: RecurrentLayer, num_rows: int):
    return tuple(torch.randn_like(part) for part in layer.start(num_rows))


@pytest.mark.parametrize("cell", CELLS)
def test_is_torchs_layer_with_the_same_weights_and_gradients(cell):
    layer = _layer(cell)
    theirs = IN_TORCH[cell](3, 4, batch_first=True).double()
    with torch.no_grad():
        theirs.weight_ih_l0.copy_(layer.input_weight)
        theirs.weight_hh_l0.copy_(layer.state_weight)
        theirs.bias_ih_l0.copy_(layer.input_bias)
        theirs.bias_hh_l0.copy_(torch.zeros(()) if layer.state_bias is None else layer.state_bias)
    x = torch.randn(2, 5, 3, dtype=torch.float64)
    state = _state(layer, 2)
    ours, last = layer(x, state)
    expected, their_last = theirs(x, tuple(h[None] for h in state) if cell == "lstm" else state[0][None])
    torch.testing.assert_close(ours, expected)
    for h, their_h in zip(last, their_last if cell == "lstm" else (their_last,), strict=True):
        torch.testing.assert_close(h, their_h[0])
    weighing = torch.randn_like(ours)
    (ours * weighing).sum().backward()
    (expected * weighing).sum().backward()
    torch.testing.assert_close(layer.input_weight.grad, theirs.weight_ih_l0.grad)
    torch.testing.assert_close(layer.state_weight.grad, theirs.weight_hh_l0.grad)
    torch.testing.assert_close(layer.input_bias.grad, theirs.bias_ih_l0.grad)
    if layer.state_bias is not None:
        torch.testing.assert_close(layer.state_bias.grad, theirs.bias_hh_l0.grad)


def test_two_steps_of_a_plain_layer_by_hand():
    layer = RecurrentLayer("rnn", 1, 1)
    with torch.no_grad():
        for parameter, value in ((layer.input_weight, 0.5), (layer.state_weight, 2.0), (layer.input_bias, 0.1)):
            parameter.fill_(value)
    outputs, _ = layer(torch.tensor([[[1.0], [-3.0]]]))
    first = math.tanh(0.5 * 1 + 0.1)
    assert outputs.flatten().tolist() == pytest.approx([first, math.tanh(0.5 * -3 + 2 * first + 0.1)])


@pytest.mark.parametrize("cell", CELLS)
def test_backwards_is_forwards_over_the_reversed_sentence(cell):
    layer = _layer(cell)
    x = torch.randn(2, 5, 3, dtype=torch.float64)
    outputs, last = layer(x, is_backward=True)
    reversed_outputs, reversed_last = layer(x.flip(1))
    torch.testing.assert_close(outputs, reversed_outputs.flip(1))
    torch.testing.assert_close(last, reversed_last)


@pytest.mark.parametrize("is_backward", [False, True])
@pytest.mark.parametrize("cell", CELLS)
def test_padding_leaves_the_state_as_it_was(cell, is_backward):
    layer = _layer(cell)
    x = torch.randn(3, 5, 3, dtype=torch.float64)
    lengths = [5, 3, 1]
    is_word = torch.arange(5) < torch.tensor(lengths)[:, None]
    outputs, last = layer(x, is_word=is_word, is_backward=is_backward)
    for row, length in enumerate(lengths):
        alone, alone_last = layer(x[row : row + 1, :length], is_backward=is_backward)
        torch.testing.assert_close(outputs[row, :length], alone[0])
        for part, alone_part in zip(last, alone_last, strict=True):
            torch.testing.assert_close(part[row], alone_part[0])


@pytest.mark.parametrize("cell", CELLS)
def test_one_step_after_another_is_all_steps_at_once(cell):
    layer = _layer(cell)
    x = torch.randn(2, 4, 3, dtype=torch.float64)
    state = start = _state(layer, 2)
    said = []
    for t in range(4):
        state = layer.step(x[:, t], state)
        said.append(state[0])
    outputs, last = layer(x, start)
    torch.testing.assert_close(outputs, torch.stack(said, dim=1))
    torch.testing.assert_close(last, state)


@pytest.mark.parametrize("cell", CELLS)
def test_gradients_are_those_of_finite_differences_with_padding_too(cell):
    layer = _layer(cell, 2, 3)
    is_word = torch.tensor([[True, True, True], [True, False, False]])
    x = torch.randn(2, 3, 2, dtype=torch.float64, requires_grad=True)
    state = tuple(part.requires_grad_() for part in _state(layer, 2))

    def run(x, *state):
        outputs, last = layer(x, state, is_word)
        return outputs, *last

    assert torch.autograd.gradcheck(run, (x, *state))


@pytest.mark.parametrize("cell", CELLS)
def test_half_precision_by_autocast_keeps_the_state_whole(cell):
    layer = _layer(cell).float()
    x = torch.randn(2, 4, 3)
    whole, _ = layer(x)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        outputs, last = layer(x, is_word=torch.ones(2, 4, dtype=torch.bool))
    assert {part.dtype for part in last} == {torch.float32}
    torch.testing.assert_close(outputs, whole, rtol=0, atol=0.05)


def test_an_lstm_remembers_at_first():
    layer = RecurrentLayer("lstm", 3, 2)
    assert layer.input_bias.tolist() == [0, 0, 1, 1, 0, 0, 0, 0]  # i, f, g, o


def test_a_plain_layer_neither_shrinks_nor_grows_its_state_at_first():
    weight = RecurrentLayer("rnn", 3, 5).state_weight
    torch.testing.assert_close(weight @ weight.t(), torch.eye(5))


def test_products_are_counted_gate_by_gate():
    assert [RecurrentLayer(cell, 3, 5).multiply_adds(7) for cell in CELLS] == [
        7 * gates * 5 * (3 + 5) for gates in (1, 4, 3)
    ]
