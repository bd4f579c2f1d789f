from __future__ import annotations

import math
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from jumok.architectures.convs2s import ConvS2SConfig
from jumok.config import parse_config
from jumok.errors import ConfigError, DataError
from jumok.models import build_model
from jumok.models.convs2s import ConvS2S

SRC, TGT = torch.tensor([[5, 6, 7, 8, 3]]), torch.tensor([[2, 9, 10, 11]])


def _model(**changes: Any) -> ConvS2S:
    numbers = {"d_model": 16, "encoder_layers": 2, "decoder_layers": 3, "dropout": 0.0, "max_length": 64}
    torch.manual_seed(0)
    model = ConvS2S(ConvS2SConfig(**{**numbers, **changes}), 23, 23, 0)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.1)
    return model.eval()


def _parse(**model: Any) -> Any:
    data = {"source": "de", "target": "en", "train": "t", "valid": "v"}
    return parse_config({"name": "x", "data": data, "model": {"architecture": "convs2s", **model}}).model


def test_a_pass_of_one_layer_is_section_3_written_out():
    model = _model(encoder_layers=1, decoder_layers=1)
    read, write = model.encoder[0].gated.convolution.mapping, model.decoder[0].gated.convolution.mapping
    half = math.sqrt(0.5)

    e = model.src_embedding.weight[SRC[0]] + model.src_position.embedding.weight[:5]
    x = e @ model.enter_encoder.weight.T + model.enter_encoder.bias
    zero = torch.zeros(1, 16)
    before, after = torch.cat((zero, x[:-1])), torch.cat((x[1:], zero))
    a, b = (torch.cat((before, x, after), dim=1) @ read.weight.T + read.bias).chunk(2, dim=1)
    x = (a * b.sigmoid() + x) * half
    z = x @ model.leave_encoder.weight.T + model.leave_encoder.bias

    g = model.tgt_embedding.weight[TGT[0]] + model.tgt_position.embedding.weight[:4]
    y = g @ model.enter_decoder.weight.T + model.enter_decoder.bias
    one_back, two_back = torch.cat((zero, y[:-1])), torch.cat((zero, zero, y[:-2]))
    a, b = (torch.cat((two_back, one_back, y), dim=1) @ write.weight.T + write.bias).chunk(2, dim=1)
    h = a * b.sigmoid()
    query = model.decoder[0].map_query
    d = (h @ query.weight.T + query.bias + g) * half
    attn_weights = (d @ z.T).softmax(dim=1)
    context = attn_weights @ ((z + e) * half) * (5 * math.sqrt(1 / 5))
    y = ((h + context) * half + y) * half
    y = y @ model.leave_decoder.weight.T + model.leave_decoder.bias

    hidden, weights = model.forward_with_weights(SRC, TGT)
    torch.testing.assert_close(hidden[0], y)
    torch.testing.assert_close(weights.cross[0][0, 0], attn_weights)
    torch.testing.assert_close(model.project(hidden)[0], y @ model.tgt_embedding.weight.T + model.piece_bias)


def test_every_layer_of_the_decoder_looks_at_the_source_with_one_head():
    _, weights = _model().forward_with_weights(SRC, TGT)
    assert [w.shape for w in weights.cross] == [(1, 1, 4, 5)] * 3
    assert weights.encoder == weights.decoder == []


@pytest.mark.parametrize(("kernel", "num_layers", "reach"), [(3, 1, 1), (3, 4, 4), (5, 2, 4)])
def test_the_encoder_sees_as_far_as_its_layers_reach(kernel, num_layers, reach):
    model = _model(kernel=kernel, encoder_layers=num_layers)
    src = torch.arange(21)[None] % 19 + 4
    embedded: list[torch.Tensor] = []
    model.src_position.register_forward_hook(lambda _module, _inputs, y: (y.retain_grad(), embedded.append(y))[0])
    model._encode(src).keys[0, 10].sum().backward()
    seen = embedded[0].grad[0].abs().sum(dim=1).nonzero().flatten().tolist()
    assert seen == list(range(10 - reach, 10 + reach + 1))


def test_a_gate_that_is_open_lets_half_the_convolution_through_and_a_closed_one_nothing():
    layer = _model().encoder[0].gated
    x = torch.randn(1, 5, 16)
    with torch.no_grad():
        layer.convolution.mapping.bias[16:] = 1e4
        torch.testing.assert_close(layer(x), layer.convolution(x)[..., :16])
        layer.convolution.mapping.bias[16:] = -1e4
        assert not layer(x).any()
    torch.testing.assert_close(F.glu(torch.ones(1, 2)), torch.full((1, 1), 1 / (1 + math.exp(-1))))


def test_weights_begin_with_the_spread_of_section_3_5_and_biases_with_zero():
    torch.manual_seed(0)
    model = ConvS2S(ConvS2SConfig(d_model=128, encoder_layers=1, decoder_layers=1, dropout=0.2), 500, 500, 0)
    expected = {
        "src_embedding.weight": 0.1,
        "src_position.embedding.weight": 0.1,
        "enter_encoder.direction": math.sqrt(0.8 / 128),  # its input is dropped out
        "leave_encoder.direction": math.sqrt(1 / 128),
        "encoder.0.gated.convolution.mapping.direction": math.sqrt(4 * 0.8 / (3 * 128)),
        "decoder.0.gated.convolution.mapping.direction": math.sqrt(4 * 0.8 / (3 * 128)),
        "decoder.0.map_query.direction": math.sqrt(1 / 128),
    }
    parameters = dict(model.named_parameters())
    for name, std in expected.items():
        assert parameters[name].std().item() == pytest.approx(std, rel=0.05), name
    assert not any(p.any() for name, p in parameters.items() if name.endswith("bias"))


def test_activations_keep_their_size_through_a_deep_stack_at_first():
    torch.manual_seed(0)
    model = ConvS2S(ConvS2SConfig(d_model=64, encoder_layers=12, decoder_layers=12, dropout=0.0), 100, 100, 0)
    hidden = model(torch.randint(4, 100, (8, 20)), torch.randint(4, 100, (8, 20)))
    embedding_std = math.sqrt(2 * 0.1**2)
    assert embedding_std / 4 < hidden.std().item() < embedding_std * 4


def test_gradients_of_the_encoder_are_divided_by_the_number_of_attentions():
    model = _model(decoder_layers=3, encoder_layers=1)

    def gradients() -> tuple[torch.Tensor, torch.Tensor]:
        model.zero_grad()
        model(SRC, TGT).square().sum().backward()
        return model.leave_encoder.bias.grad.clone(), model.leave_decoder.bias.grad.clone()

    scaled = gradients()
    model._encode = lambda src, encode=model._encode: _without_hooks(encode, src)
    plain = gradients()
    torch.testing.assert_close(scaled[0] * 3, plain[0])
    torch.testing.assert_close(scaled[1], plain[1])


def _without_hooks(encode: Any, src: torch.Tensor) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.Tensor, "register_hook", lambda *_: None)
        return encode(src)


def test_every_weight_but_the_embeddings_is_learned_as_length_and_direction():
    for tying in ("three-way", "two-way", "none"):
        model = _model(tie_embeddings=tying)
        matrices = [name for name, p in model.named_parameters() if p.dim() > 1 and not name.endswith("length")]
        assert all(name.endswith("direction") or "embedding" in name for name in matrices)


def test_tying_shares_what_it_says():
    three, two, none = (_model(tie_embeddings=t) for t in ("three-way", "two-way", "none"))
    assert three.src_embedding is three.tgt_embedding and three.output_weight is three.tgt_embedding.weight
    assert two.src_embedding is not two.tgt_embedding and two.output_weight is two.tgt_embedding.weight
    assert none.output_weight.shape == (23, 16) and none.output_bias is none.output.bias
    assert none.num_parameters() - two.num_parameters() == 23 * 16 + 23  # directions and lengths
    with pytest.raises(AssertionError, match="three-way tying needs one vocabulary"):
        ConvS2S(ConvS2SConfig(d_model=16), 11, 17, 0)


def test_the_rows_of_a_sentence_share_its_memory():
    model = _model()
    state = model.start(SRC)
    several = state.select(torch.tensor([0, 0, 0]))
    assert all(a is b for a, b in zip(state.memory, several.memory, strict=True))
    assert [window.shape for window in several.rows] == [(3, 2, 16)] * 3


@pytest.mark.parametrize("by_step", [False, True], ids=["forward", "step"])
def test_a_sentence_longer_than_the_positions_is_refused(by_step):
    model = _model(max_length=8)
    message = r"^a sentence of 9 pieces is longer than the 8 learned positions; raise model\.max_length and train again"
    long = torch.full((1, 9), 5)
    assert model.max_length == 8
    with pytest.raises(DataError, match=message):
        model.start(long)
    with pytest.raises(DataError, match=message):
        if not by_step:
            model(SRC, long)
        state = model.start(SRC)
        for t in range(9):
            _, state = model.step(long[:, t], state)


def test_an_even_kernel_is_refused():
    with pytest.raises(ConfigError, match=r"\[model\] kernel = 4 is even; the encoder looks equally far to both sides"):
        _parse(kernel=4)


def test_presets_grow_and_the_small_one_stays_below_seven_million():
    sizes = []
    for preset in ("tiny", "small", "base", "big"):
        with torch.device("meta"):
            sizes.append(build_model(_parse(preset=preset), 8000, 8000, 0).num_parameters())
    assert sizes == sorted(set(sizes))
    assert sizes[1] < 7e6
