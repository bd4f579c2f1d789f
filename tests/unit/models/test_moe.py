"""What is special about the recurrent model with experts; what holds for every architecture is in tests/properties."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch

from jumok.architectures import TransformerConfig
from jumok.architectures.moe import MoeConfig
from jumok.config import parse_config
from jumok.data.batching import collate
from jumok.errors import JumokError
from jumok.models import build_model
from jumok.models.moe import Moe
from jumok.models.transformer import Transformer
from jumok.nn.mixture import MixtureOfExperts
from jumok.text.tokenizer import PAD_ID
from jumok.training.objective import TranslationObjective

SRC, TGT = torch.tensor([[5, 6, 7, 8, 3], [9, 3, 0, 0, 0]]), torch.tensor([[2, 8, 9, 7], [2, 6, 0, 0]])


def _moe(**changes: Any) -> Moe:
    torch.manual_seed(0)
    numbers: dict[str, Any] = {"d_model": 16, "d_expert": 12, "experts": 4, "dropout": 0.0}
    model = build_model(MoeConfig(**{**numbers, **changes}), 23, 23, PAD_ID)
    assert isinstance(model, Moe)
    return model


def _transformer(**changes: Any) -> Transformer:
    torch.manual_seed(0)
    numbers = {"d_model": 16, "d_ff": 12, "num_heads": 2, "encoder_layers": 2, "decoder_layers": 1, "dropout": 0.0}
    model = build_model(TransformerConfig(**{**numbers, "experts": 4, **changes}), 23, 23, PAD_ID)
    assert isinstance(model, Transformer)
    return model


def _penalties_of_mixtures(model: torch.nn.Module) -> tuple[list[torch.Tensor], list[int]]:
    """Filled by every pass that follows: what each mixture returned, and how many tokens its experts got."""
    penalties: list[torch.Tensor] = []
    counts: list[int] = []
    for mixture in model.modules():
        if isinstance(mixture, MixtureOfExperts):
            mixture.register_forward_hook(lambda _, __, result: penalties.append(result[1]))
            for expert in mixture.experts:
                expert.register_forward_hook(lambda _, inputs, __: counts.append(len(inputs[0])))
    return penalties, counts


@pytest.mark.parametrize("layers", [1, 2, 3, 4])
def test_the_mixtures_stand_before_the_last_encoder_layer_and_behind_the_first_decoder_layer(layers):
    model = _moe(encoder_layers=layers, decoder_layers=layers).eval()
    order: list[str] = []
    for name, module in model.named_modules():
        if re.fullmatch(r"(en|de)coder\.(first|join|mixture|layers\.\d)", name):
            module.register_forward_hook(lambda *_, name=name: order.append(name))
    with torch.no_grad():
        model(SRC, TGT)
    upper = [f"encoder.layers.{i}" for i in range(layers - 1)]
    bottom = ["encoder.first", "encoder.join"]
    decoder = ["decoder.first", "decoder.mixture", *(f"decoder.layers.{i}" for i in range(layers - 1))]
    assert order == [*bottom, *upper[:-1], "encoder.mixture", *upper[-1:], *decoder]


@pytest.mark.parametrize(("build", "num_mixtures"), [(_moe, 2), (_transformer, 3)], ids=["moe", "transformer"])
def test_penalties_are_summed_and_padding_is_sent_to_no_expert(build, num_mixtures):
    model = build()
    penalties, counts = _penalties_of_mixtures(model)
    _, penalty = model.forward_with_penalty(SRC, TGT)
    assert len(penalties) == num_mixtures
    torch.testing.assert_close(penalty, sum(penalties))
    assert penalty > 0
    src_words, tgt_words, used = 7, 6, 2
    in_encoder = num_mixtures - 1
    assert sum(counts) == used * (in_encoder * src_words + tgt_words)


@pytest.mark.parametrize("build", [_moe, _transformer], ids=["moe", "transformer"])
def test_the_penalty_is_part_of_the_training_loss_only(build):
    model = build(importance_weight=0.5, load_weight=0.5)
    objective = TranslationObjective(model, label_smoothing=0.0)
    batch = collate([[5, 6, 7], [8]], [[9], [6, 5, 4, 7]])
    torch.manual_seed(1)
    _, penalty = model.forward_with_penalty(batch.src, batch.tgt_in)
    torch.manual_seed(1)
    with_penalty, num_tokens = objective(batch)
    for mixture in model.modules():
        if isinstance(mixture, MixtureOfExperts):
            mixture.importance_weight = mixture.load_weight = 0.0
    torch.manual_seed(1)
    without, _ = objective(batch)
    torch.testing.assert_close(with_penalty - without, penalty * num_tokens, atol=1e-4, rtol=1e-4)
    model.eval()
    assert model.forward_with_penalty(batch.src, batch.tgt_in)[1] == 0


def test_gates_start_at_zero_in_both_models_and_experts_do_not():
    for model in (_moe(), _transformer()):
        for name, parameter in model.named_parameters():
            if name.endswith((".gate", ".noise")):
                assert not parameter.any(), name
            elif ".experts." in name and name.endswith("weight"):
                assert parameter.abs().mean() > 0.1, name


def test_a_transformer_without_experts_has_no_penalty_and_its_old_weights(tiny_transformer):
    model = tiny_transformer()
    hidden, penalty = model.forward_with_penalty(SRC, TGT)
    assert penalty is None
    assert torch.equal(hidden, model(SRC, TGT))
    assert not any(name.endswith((".gate", ".noise")) for name in model.state_dict())
    assert "encoder.layers.0.feed_forward.expand.weight" in model.state_dict()


def test_one_expert_is_the_plain_transformer(tiny_transformer):
    """With a single expert its gate is always 1."""
    plain = tiny_transformer(decoder_layers=1)
    single = _transformer(d_ff=32, experts=1, experts_used=1).eval()
    renamed = {name.replace(".feed_forward.", ".feed_forward.experts.0."): t for name, t in plain.state_dict().items()}
    missing, unexpected = single.load_state_dict(renamed, strict=False)
    assert not unexpected and all(name.endswith((".gate", ".noise")) for name in missing)
    is_word = TGT != PAD_ID
    torch.testing.assert_close(single(SRC, TGT)[is_word], plain(SRC, TGT)[is_word])


def test_other_software_does_not_know_experts():
    assert _transformer().config.unusual() == "experts = 4"
    assert TransformerConfig().unusual() is None


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ({"architecture": "moe", "experts": 1}, "experts"),
        (
            {"architecture": "moe", "experts": 4, "experts_used": 5},
            "experts_used = 5 is more than there are: experts = 4",
        ),
        ({"experts": 2, "experts_used": 3}, "experts_used = 3 is more than there are: experts = 2"),
        ({"architecture": "moe", "d_expert": 0}, "d_expert"),
    ],
)
def test_impossible_numbers_are_refused(model, message):
    data = {"source": "de", "target": "en", "train": "t", "valid": "v"}
    with pytest.raises(JumokError, match=message):
        parse_config({"name": "x", "data": data, "model": model})
