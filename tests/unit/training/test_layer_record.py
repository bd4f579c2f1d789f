"""What is recorded of every layer, and that recording changes nothing."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from jumok.data.batching import Batch, collate
from jumok.models import TranslationModel
from jumok.training.layer_record import record_layers, stack_layers
from jumok.training.objective import TranslationObjective


def _batch() -> Batch:
    ids = torch.randint(4, 23, (12, 7), generator=torch.Generator().manual_seed(1)).tolist()
    return collate([row[: 3 + i % 5] for i, row in enumerate(ids)], [row[: 7 - i % 5] for i, row in enumerate(ids)])


def _objective(model: TranslationModel) -> TranslationObjective:
    return TranslationObjective(model, label_smoothing=0.1).train()


def test_every_layer_has_the_size_of_its_output_and_the_length_of_its_gradient(tiny_transformer):
    objective, batch = _objective(tiny_transformer()), _batch()
    sizes = record_layers(objective, batch)["layers"]
    assert list(sizes) == ["encoder.layers.0", "encoder.layers.1", "decoder.layers.0", "decoder.layers.1"]
    model = objective.model
    x = model.encoder.layers[0](model._embed_src(batch.src), (batch.src != 0)[:, None, None])[0]
    assert sizes["encoder.layers.0"]["output_rms"] == pytest.approx(x.square().mean().sqrt().item(), rel=1e-5)
    loss, num_tokens = objective(batch)
    (loss / num_tokens).backward()
    for name, figures in sizes.items():
        gradients = [p.grad.flatten() for p in model.get_submodule(name).parameters()]
        assert figures["gradient_norm"] == pytest.approx(torch.cat(gradients).norm().item(), rel=1e-4)


def test_entropy_of_attention_is_the_logarithm_of_the_keys_where_all_get_the_same(tiny_transformer):
    model = tiny_transformer()
    with torch.no_grad():
        for layer in (*model.encoder.layers, *model.decoder.layers):
            layer.self_attention.project_in.weight.zero_()
        model.decoder.layers[0].cross_attention.project_in.weight.zero_()
        model.decoder.layers[1].cross_attention.project_in.weight.mul_(100)
    entropy = record_layers(_objective(model), collate([[5, 6, 7, 8, 9, 10]], [[6] * 3]))["attention_entropy"]
    assert entropy["encoder"] == pytest.approx([math.log(7)] * 2)  # six pieces and the end
    assert entropy["decoder"] == pytest.approx([sum(math.log(n) for n in (1, 2, 3, 4)) / 4] * 2, rel=1e-5)
    assert entropy["cross"] == pytest.approx([math.log(7), 0], abs=0.1)


@pytest.mark.parametrize("changes", [{"norm_kind": "batch", "dropout": 0.3}, {"norm": "pre", "dropout": 0.3}])
def test_no_trace_is_left(tiny_transformer, changes):
    objective = _objective(tiny_transformer(**changes))
    before = {name: tensor.clone() for name, tensor in objective.state_dict().items()}
    state = torch.get_rng_state()
    record_layers(objective, _batch())
    assert torch.equal(torch.get_rng_state(), state)
    assert all(torch.equal(tensor, before[name]) for name, tensor in objective.state_dict().items())
    assert all(parameter.grad is None for parameter in objective.parameters())
    assert all(module.training and not module._forward_hooks for module in objective.modules())


def test_a_figure_that_is_no_number_is_none(tiny_transformer):
    model = tiny_transformer()
    with torch.no_grad():
        model.decoder.layers[1].feed_forward.contract.bias.fill_(math.inf)
    sizes = record_layers(_objective(model), _batch())["layers"]
    assert sizes["decoder.layers.1"] == {"output_rms": None, "gradient_norm": None}
    assert sizes["encoder.layers.0"]["output_rms"] > 0


def test_lists_inside_of_layers_are_not_stacks():
    layer = nn.Module()
    layer.experts = nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2)])
    model = nn.Module()
    model.layers = nn.ModuleList([layer, nn.Linear(2, 2)])
    assert list(stack_layers(model)) == ["layers.0", "layers.1"]


def test_a_model_without_attention_has_sizes_only(tiny_transformer, monkeypatch):
    objective = _objective(tiny_transformer())
    monkeypatch.setattr(type(objective.model), "has_attention", False)
    record = record_layers(objective, _batch())
    assert len(record["layers"]) == 4 and record["attention_entropy"] == {}
