"""The formula against a counter that watches torch's own operations."""

from __future__ import annotations

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from jumok.data.batching import collate
from jumok.evaluation.cost import flops_by_time, forward_flops, shape_of, sustained_flops, training_flops
from jumok.models.interface import BatchShape
from jumok.nn import attention
from jumok.text.tokenizer import PAD_ID
from jumok.training.loss import label_smoothed_cross_entropy


def _counted(model, batch) -> tuple[int, int]:
    """Operations of forward, and of forward and backward.

    Two paths are closed off, because the counter knows nothing of them: the fused loss (an autograd function that
    multiplies inside), and torch's flash kernel on CPU. The mathematical kernel does equation 1 in two products
    forward and four backward, which is what the formula counts; a flash kernel computes the scores once more in
    backward and is not charged for that.
    """
    with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):
        hidden = model(batch.src, batch.tgt_in)
        is_word = batch.tgt_out != PAD_ID
        loss = label_smoothed_cross_entropy(model.project(hidden[is_word]), batch.tgt_out[is_word], 0.1)
        forward = counter.get_total_flops()
        loss.backward()
        return forward, counter.get_total_flops()


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"norm": "pre", "tie_embeddings": "none"},
        {"encoder_layers": 3, "decoder_layers": 1, "d_ff": 64, "num_heads": 4},
    ],
    ids=["plain", "untied", "unequal stacks"],
)
def test_training_flops_are_what_a_counter_counts(tiny_transformer, changes, monkeypatch):
    monkeypatch.setattr(attention, "MAX_LENGTH", 0)  # the path for short sentences fills keys up to 16
    model = tiny_transformer(vocab_size=50, **changes)
    batch = collate([[5] * n for n in (9, 12, 7)], [[6] * n for n in (4, 10, 8)])
    forward, total = _counted(model, batch)
    assert forward_flops(model, shape_of(batch)) == pytest.approx(forward, rel=0.02)
    assert training_flops(model, batch) == pytest.approx(total, rel=0.02)


def test_one_layer_of_width_two_by_hand(tiny_transformer):
    # d = 2, d_ff = 3, one source and one target token, four pieces; multiply-adds first.
    # Encoder: 4·d² = 16, feed-forward 2·d·d_ff = 12, scores and context 2·d = 4. Decoder: the same 32, cross-attention
    # 4·d² + 2·d = 20. Output: d·V = 8. Together 92, two operations each.
    model = tiny_transformer(vocab_size=4, d_model=2, d_ff=3, num_heads=1, encoder_layers=1, decoder_layers=1)
    assert forward_flops(model, BatchShape(1, 1, 1, 1, 1)) == 2 * 92


def test_a_training_step_costs_three_forward_passes_and_doubles_with_the_rows(tiny_transformer):
    one, two = (collate([[5, 6]] * n, [[7, 8, 9]] * n) for n in (1, 2))
    model = tiny_transformer(vocab_size=50)
    assert training_flops(model, one) == 3 * forward_flops(model, BatchShape(1, 3, 4, 3, 4))
    assert training_flops(model, two) == 2 * training_flops(model, one)


def test_padding_of_the_target_is_not_projected_to_the_vocabulary(tiny_transformer):
    model = tiny_transformer(vocab_size=50)
    padded = collate([[5, 6]] * 2, [[7, 8, 9], [7]])
    full = collate([[5, 6]] * 2, [[7, 8, 9], [7, 8, 9]])
    assert training_flops(model, full) - training_flops(model, padded) == 3 * 2 * 2 * model.config.d_model * 50


def test_nothing_else_is_left_for_the_counter_at_the_output(tiny_transformer):
    model = tiny_transformer(vocab_size=50)
    with FlopCounterMode(display=False) as counter:
        model.project(torch.randn(7, 16))
    assert counter.get_total_flops() == 2 * 7 * 16 * 50


def test_cost_by_time_gives_the_figures_of_the_paper():
    # Section 5.2: the base model took 12 hours on 8 P100, the big one 3.5 days; 9.5 TFLOPS each (footnote 5).
    assert flops_by_time(12 * 3600, 9.5e12, num_devices=8) == pytest.approx(3.3e18, rel=0.01)
    assert flops_by_time(3.5 * 24 * 3600, 9.5e12, num_devices=8) == pytest.approx(2.3e19, rel=0.01)


def test_what_a_device_sustains_is_what_its_products_take():
    sustained = sustained_flops(torch.device("cpu"), num_tokens=256, d_model=64, seconds=0.02)
    assert 1e7 < sustained < 1e15  # a slow processor that is shared, a GPU that is not there
