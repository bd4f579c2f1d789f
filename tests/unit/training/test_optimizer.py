from __future__ import annotations

import torch

from jumok.config import TrainingConfig
from jumok.training.optimizer import build_optimizer


def test_adam_has_the_papers_numbers_and_no_decay(tiny_transformer):
    model = tiny_transformer()
    optimizer = build_optimizer(model, TrainingConfig())
    assert type(optimizer) is torch.optim.Adam
    (group,) = optimizer.param_groups
    assert (group["betas"], group["eps"], group["weight_decay"]) == ((0.9, 0.98), 1e-9, 0)
    assert sum(p.numel() for p in group["params"]) == model.num_parameters()


def test_adamw_decays_matrices_and_spares_biases_and_gains(tiny_transformer):
    model = tiny_transformer(attention_bias=True, position="learned", max_length=16)
    optimizer = build_optimizer(model, TrainingConfig(optimizer="adamw", weight_decay=0.01, adam_betas=(0.8, 0.9)))
    assert type(optimizer) is torch.optim.AdamW
    matrices, vectors = optimizer.param_groups
    assert (matrices["weight_decay"], vectors["weight_decay"]) == (0.01, 0.0)
    assert matrices["betas"] == vectors["betas"] == (0.8, 0.9)
    assert all(p.dim() == 2 for p in matrices["params"])
    assert all(p.dim() == 1 for p in vectors["params"])
    assert sum(p.numel() for p in matrices["params"] + vectors["params"]) == model.num_parameters()


def test_the_first_update_of_adam_by_hand():
    # After one step the two means are corrected to g and g², so that the update is the rate times the sign of g.
    model = torch.nn.Linear(2, 1, bias=False)
    before = model.weight.detach().clone()
    optimizer = build_optimizer(model, TrainingConfig())
    for group in optimizer.param_groups:
        group["lr"] = 0.1
    model.weight.grad = torch.tensor([[3.0, -0.01]])
    optimizer.step()
    torch.testing.assert_close(before - model.weight, torch.tensor([[0.1, -0.1]]))


def test_nothing_moves_before_the_schedule_sets_a_rate():
    model = torch.nn.Linear(2, 1)
    before = model.weight.detach().clone()
    optimizer = build_optimizer(model, TrainingConfig(optimizer="adamw", weight_decay=0.5))
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    assert torch.equal(model.weight, before)
