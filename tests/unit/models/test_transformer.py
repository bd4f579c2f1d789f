from __future__ import annotations

import itertools

import pytest
import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from jumok.config import parse_config
from jumok.models import build_model
from jumok.models.interface import BatchShape
from jumok.models.transformer import Transformer
from jumok.nn import attention
from jumok.nn.normalization import LayerNorm


def _preset(name: str, **changes):
    values = {
        "name": "x",
        "data": {"source": "ko", "target": "en", "train": "t", "valid": "v"},
        "tokenizer": {"joint": changes.get("tie_embeddings", "three-way") == "three-way"},
    }
    return parse_config({**values, "model": {"preset": name, **changes}}).model


def _size(name: str, vocab_size: int = 37_000, **changes) -> int:
    with torch.device("meta"):
        return build_model(_preset(name, **changes), vocab_size, vocab_size, 0).num_parameters()


@pytest.mark.parametrize(("preset", "millions"), [("base", 63.1), ("big", 213.0)])
def test_the_papers_models_have_the_papers_sizes_at_37000_shared_pieces(preset, millions):
    assert _size(preset) / 1e6 == pytest.approx(millions, rel=0.02)


def test_the_base_model_counted_by_hand():
    d, f, v = 512, 2048, 37_000
    feed_forward, norm = d * f + f + f * d + d, 2 * d
    encoder = 6 * (4 * d * d + feed_forward + 2 * norm)
    decoder = 6 * (8 * d * d + feed_forward + 3 * norm)
    assert _size("base") == v * d + encoder + decoder


def test_presets_grow():
    sizes = [_size(name) for name in ("tiny", "small", "base", "big")]
    assert sizes == sorted(sizes)
    assert len(set(sizes)) == 4


def test_pre_norm_adds_one_norm_a_stack():
    assert _size("base", norm="pre") - _size("base") == 2 * 2 * 512


def test_each_tying_saves_one_matrix():
    none, two, three = (_size("base", tie_embeddings=t) for t in ("none", "two-way", "three-way"))
    assert none - two == two - three == 37_000 * 512


def test_three_way_tying_is_one_matrix_in_three_places(tiny_transformer):
    model = tiny_transformer(tie_embeddings="three-way")
    places = {w.data_ptr() for w in (model.src_embedding.weight, model.tgt_embedding.weight, model.output_weight)}
    assert len(places) == 1


def test_two_way_tying_shares_target_and_output_only(tiny_transformer):
    model = tiny_transformer(tie_embeddings="two-way")
    assert model.tgt_embedding.weight.data_ptr() == model.output_weight.data_ptr()
    assert model.src_embedding.weight.data_ptr() != model.output_weight.data_ptr()


def test_no_tying_shares_nothing(tiny_transformer):
    model = tiny_transformer(tie_embeddings="none")
    places = {w.data_ptr() for w in (model.src_embedding.weight, model.tgt_embedding.weight, model.output_weight)}
    assert len(places) == 3


def test_tied_weights_stay_tied_through_moving_and_loading(tiny_transformer):
    model = tiny_transformer(tie_embeddings="three-way").to(torch.float64)
    model.load_state_dict(tiny_transformer(seed=1, tie_embeddings="three-way").state_dict())
    assert model.src_embedding.weight is model.tgt_embedding.weight
    assert model.output_weight is model.src_embedding.weight


def test_an_output_bias_is_added_to_the_logits_of_training_and_of_prediction(tiny_transformer):
    model = tiny_transformer(output_bias=True)
    src, tgt = torch.tensor([[5, 6, 7, 3]]), torch.tensor([[2]])
    assert model.output_bias.shape == (23,)
    hidden = model(src, tgt)
    logits = hidden @ model.output_weight.T + model.output_bias
    torch.testing.assert_close(model.project(hidden), logits)
    log_probs, _ = model.step(tgt[:, 0], model.start(src))
    torch.testing.assert_close(log_probs, logits[:, 0].log_softmax(dim=-1))


def test_an_output_bias_is_there_on_request_only_and_begins_at_zero(tiny_config):
    assert build_model(tiny_config(), 20, 20, 0).output_bias is None
    assert "piece_bias" not in dict(build_model(tiny_config(), 20, 20, 0).named_parameters())
    assert not build_model(tiny_config(output_bias=True), 20, 20, 0).output_bias.any()


@pytest.mark.parametrize("activation", ["relu", "swish", "gelu"])
def test_the_activation_is_that_of_every_layer(tiny_transformer, activation):
    model = tiny_transformer(activation=activation)
    layers = [*model.encoder.layers, *model.decoder.layers]
    assert {layer.feed_forward.activation for layer in layers} == {activation}


def test_source_and_target_vocabularies_may_differ_in_size(tiny_config):
    model = build_model(tiny_config(tie_embeddings="two-way"), 11, 17, 0).eval()
    hidden = model(torch.tensor([[10, 3]]), torch.tensor([[2, 16]]))
    assert model.project(hidden).shape == (1, 2, 17)


def test_three_way_tying_of_unequal_vocabularies_is_refused(tiny_config):
    with pytest.raises(AssertionError, match="three-way tying needs one vocabulary"):
        Transformer(tiny_config(), 11, 17, 0)


def test_layers_share_no_weights(tiny_transformer):
    model = tiny_transformer(encoder_layers=3, decoder_layers=3)
    for stack in (model.encoder, model.decoder):
        storages = [{p.data_ptr() for p in layer.parameters()} for layer in stack.layers]
        assert all(a.isdisjoint(b) for a, b in itertools.combinations(storages, 2))
        assert sum(map(len, storages)) == sum(1 for layer in stack.layers for _ in layer.parameters())


def test_every_parameter_gets_a_gradient_so_none_is_idle(tiny_transformer):
    unusual = {"norm": "pre", "tie_embeddings": "none", "position": "learned", "attention_bias": True}
    for changes in (unusual, {"activation": "swish", "output_bias": True}, {"activation": "gelu"}, {}):
        model = tiny_transformer(**changes)
        src, tgt = torch.tensor([[5, 6, 7, 3]]), torch.tensor([[2, 8, 9]])
        model.project(model(src, tgt)).square().sum().backward()
        assert [name for name, p in model.named_parameters() if p.grad is None or not p.grad.any()] == []


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_pre_norm_stack_ends_with_a_norm_and_a_post_norm_stack_does_not(tiny_transformer, norm):
    model = tiny_transformer(norm=norm)
    expected = LayerNorm if norm == "pre" else nn.Identity
    assert isinstance(model.encoder.final_norm, expected)
    assert isinstance(model.decoder.final_norm, expected)


def test_query_key_and_value_weights_start_as_three_glorot_matrices():
    torch.manual_seed(0)
    model = build_model(_preset("tiny"), 400, 400, 0)
    bound = (6 / (128 + 128)) ** 0.5
    for part in model.encoder.layers[0].self_attention.project_in.weight.chunk(3):
        assert 0.98 * bound < part.abs().max() <= bound


def test_the_seed_decides_the_weights(tiny_config):
    def build(seed: int) -> list[torch.Tensor]:
        torch.manual_seed(seed)
        return list(build_model(tiny_config(), 20, 20, 0).parameters())

    assert all(torch.equal(a, b) for a, b in zip(build(1), build(1), strict=True))
    assert not torch.equal(build(1)[0], build(2)[0])


def test_the_limit_of_length_is_that_of_learned_positions(tiny_transformer):
    assert tiny_transformer(position="sinusoidal").max_length is None
    assert tiny_transformer(position="learned", max_length=32).max_length == 32


def _dropout_of(model: Transformer, seed: int) -> torch.Tensor:
    torch.manual_seed(seed)
    return model(torch.tensor([[5, 6, 7, 3]]), torch.tensor([[2, 8, 9]]))


def test_dropout_changes_a_training_pass_and_the_seed_decides_it(tiny_transformer):
    model = tiny_transformer(dropout=0.3, attention_dropout=0.3, feed_forward_dropout=0.3)
    assert torch.equal(_dropout_of(model, 1), _dropout_of(model, 2))  # eval
    model.train()
    assert torch.equal(_dropout_of(model, 1), _dropout_of(model, 1))
    assert not torch.allclose(_dropout_of(model, 1), _dropout_of(model, 2))


def test_a_pass_of_one_post_norm_layer_is_figure_1_written_out(tiny_transformer):
    model = tiny_transformer(encoder_layers=1, decoder_layers=1, norm="post")
    src, tgt = torch.tensor([[5, 6, 7, 3]]), torch.tensor([[2, 8, 9]])
    encoder, decoder = model.encoder.layers[0], model.decoder.layers[0]

    x = model.src_embedding.weight[src] * 4 + model.src_position.table[:4]
    x = encoder.around_self_attention.norm(x + encoder.self_attention(x)[0])
    memory = encoder.around_feed_forward.norm(x + encoder.feed_forward(x))
    y = model.tgt_embedding.weight[tgt] * 4 + model.tgt_position.table[:3]
    y = decoder.around_self_attention.norm(y + decoder.self_attention(y, is_causal=True)[0])
    y = decoder.around_cross_attention.norm(y + decoder.cross_attention(y, memory)[0])
    y = decoder.around_feed_forward.norm(y + decoder.feed_forward(y))
    torch.testing.assert_close(model(src, tgt), y)
    torch.testing.assert_close(model.project(y), y @ model.output_weight.t())


# --- variants -----------------------------------------------------------------------------------------------------


def test_one_pre_norm_layer_without_residuals_written_out(tiny_transformer):
    model = tiny_transformer(encoder_layers=1, norm="pre", use_residual=False, position="none")
    src, layer = torch.tensor([[5, 6, 7, 3]]), model.encoder.layers[0]
    x = model.src_embedding.weight[src] * 4
    x = layer.self_attention(layer.around_self_attention.norm(x))[0]
    x = model.encoder.final_norm(layer.feed_forward(layer.around_feed_forward.norm(x)))
    memory = model.start(src).memory[0]
    torch.testing.assert_close(memory, model.decoder.layers[0].cross_attention.key_value(x))


def test_heads_need_not_divide_the_width_where_d_k_is_given(tiny_transformer):
    model = tiny_transformer(num_heads=3, d_k=7)
    assert model.encoder.layers[0].self_attention.project_in.weight.shape == (3 * 21, 16)
    assert model.decoder.layers[1].cross_attention.project_out.weight.shape == (16, 21)
    for part in build_model(model.config, 20, 20, 0).encoder.layers[0].self_attention.project_in.weight.chunk(3):
        assert 0.8 < part.abs().max() / (6 / (16 + 21)) ** 0.5 <= 1


def test_a_d_k_of_d_model_by_heads_is_the_paper(tiny_transformer, tiny_config):
    src, tgt = torch.tensor([[5, 6, 7, 3]]), torch.tensor([[2, 8, 9]])
    assert torch.equal(tiny_transformer(d_k=8)(src, tgt), tiny_transformer()(src, tgt))
    assert tiny_config(d_k=8).unusual() is None


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({}, None),
        ({"norm": "pre", "position": "learned", "activation": "gelu", "output_bias": True}, None),
        ({"d_k": 4}, "d_k = 4"),
        ({"scale_scores": False}, "scale_scores = false"),
        ({"masking": "zero_before"}, "masking = zero_before"),
        ({"use_residual": False, "norm_kind": "batch"}, "use_residual = false"),
        ({"norm_kind": "batch"}, "norm_kind = batch"),
        ({"position": "scaled_counts"}, "position = scaled_counts"),
    ],
)
def test_what_other_software_does_not_know_is_named(tiny_config, changes, named):
    assert tiny_config(**changes).unusual() == named


@pytest.mark.parametrize(
    "changes",
    [{"d_k": 3, "num_heads": 5}, {"masking": "zero_after", "scale_scores": False}, {"norm_kind": "batch", "d_k": 20}],
    ids=["narrow heads", "written out", "wide heads"],
)
def test_the_operations_of_variants_are_counted(tiny_transformer, changes, monkeypatch):
    monkeypatch.setattr(attention, "MAX_LENGTH", 0)  # the path for short sentences fills keys up to 16
    model = tiny_transformer(vocab_size=50, **changes)
    src, tgt = torch.full((3, 12), 5), torch.full((3, 10), 6)
    with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):
        model.project(model(src, tgt))
    assert 2 * model.multiply_adds(BatchShape(3, 12, 10, 36, 30)) == pytest.approx(counter.get_total_flops(), rel=0.02)
