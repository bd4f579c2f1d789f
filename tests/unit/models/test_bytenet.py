from __future__ import annotations

from typing import Any

import pytest
import torch

from jumok.architectures.bytenet import ByteNetConfig
from jumok.config import parse_config
from jumok.errors import ConfigError, UsageError
from jumok.models import build_model
from jumok.models.bytenet import ByteNet, ResidualBlock, dilations


def _model(**changes: Any) -> ByteNet:
    numbers = {"d_model": 16, "encoder_layers": 3, "decoder_layers": 3, "dropout": 0.0}
    torch.manual_seed(0)
    model = ByteNet(ByteNetConfig(**{**numbers, **changes}), 23, 23, 0)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.1)
    return model.eval()


def _parse(**model: Any) -> Any:
    data = {"source": "de", "target": "en", "train": "t", "valid": "v"}
    return parse_config({"name": "x", "data": data, "model": {"architecture": "bytenet", **model}}).model


def _positions_that_reach(model: ByteNet, position: int, length: int) -> list[int]:
    """Target positions whose embedding has a gradient from one hidden vector."""
    embedded: list[torch.Tensor] = []
    model.join_target.register_forward_hook(lambda _module, _inputs, y: (y.retain_grad(), embedded.append(y))[0])
    tgt = torch.arange(length)[None] % 19 + 4
    model(torch.tensor([[5, 3]]), tgt)[0, position].sum().backward()
    return embedded[0].grad[0].abs().sum(dim=1).nonzero().flatten().tolist()


def test_dilation_doubles_to_its_largest_and_begins_anew():
    assert dilations(7, 16) == [1, 2, 4, 8, 16, 1, 2]
    assert dilations(4, 1) == [1, 1, 1, 1]
    assert dilations(5, 12) == [1, 2, 4, 8, 1]


def test_the_blocks_have_these_dilations():
    model = _model(encoder_layers=6, decoder_layers=4, max_dilation=8)
    assert [block.convolution.dilation for block in model.encoder] == [1, 2, 4, 8, 1, 2]
    assert [block.convolution.dilation for block in model.decoder] == [1, 2, 4, 8]
    assert {block.convolution.is_causal for block in model.encoder} == {False}
    assert {block.convolution.is_causal for block in model.decoder} == {True}


@pytest.mark.parametrize(("num_blocks", "reach"), [(1, 2), (2, 6), (3, 14)])
def test_the_field_of_view_of_the_decoder_doubles_with_every_block(num_blocks, reach):
    model = _model(decoder_layers=num_blocks)
    assert _positions_that_reach(model, 17, 20) == list(range(17 - reach, 18))


def test_a_larger_kernel_sees_further():
    assert _positions_that_reach(_model(decoder_layers=2, kernel=4), 17, 20) == list(range(17 - 9, 18))


def test_a_block_is_figure_3_written_out():
    config = ByteNetConfig(d_model=8, dropout=0.0)
    torch.manual_seed(0)
    block = ResidualBlock(config, dilation=2, is_causal=True)
    x = torch.randn(1, 6, 8)
    y = block.narrow(torch.relu(block.enter_norm(x)))
    y = torch.relu(block.inner_norm(y))
    assert y.shape == (1, 6, 4)
    zeros = torch.zeros(1, 4, 4)
    neighbours = torch.cat((torch.cat((zeros, y[:, :2]), 1), torch.cat((zeros[:, :2], y[:, :4]), 1), y), dim=2)
    y = block.convolution.mapping(neighbours)
    y = block.widen(torch.relu(block.leave_norm(y)))
    torch.testing.assert_close(block(x), x + y)


@pytest.mark.parametrize(
    ("slope", "offset", "length", "columns"),
    [(1.2, 0, 5, 6), (1.2, 0, 6, 8), (1.2, 0, 15, 18), (1.0, 0, 7, 7), (1.0, 4, 7, 11), (1.1, 2, 30, 35)],
)
def test_a_sentence_unfolds_to_a_s_plus_b_columns(slope, offset, length, columns):
    model = _model(length_slope=slope, length_offset=offset)
    assert model.num_columns(length) == columns
    assert model.start(torch.full((1, length), 5)).memory[0].shape == (1, columns, 16)


@torch.no_grad()
def test_every_sentence_of_a_batch_unfolds_by_its_own_length():
    model = _model(length_slope=1.5, length_offset=1)
    src = torch.tensor([[5, 6, 7, 8, 9, 10, 11, 3], [5, 6, 7, 3, 0, 0, 0, 0]])
    columns = model.start(src).memory[0]
    is_there = columns.abs().sum(dim=2) > 0
    assert is_there.sum(dim=1).tolist() == [13, 7]
    torch.testing.assert_close(columns[1, :7], model.start(src[1:, :4]).memory[0][0], atol=1e-6, rtol=0)


@torch.no_grad()
def test_behind_the_last_column_the_source_reaches_a_piece_only_through_those_before_it():
    model = _model(length_slope=1.0, decoder_layers=1)  # a view of two pieces back
    tgt = torch.arange(4, 16)[None]
    one, other = (model(torch.tensor([[first, 6, 3]]), tgt)[0] for first in (5, 9))
    differs = (one - other).abs().amax(dim=1) > 1e-6
    assert differs[:5].any() and not differs[5:].any()  # columns 0, 1, 2; seen as far as position 4


@torch.no_grad()
def test_a_target_may_be_shorter_or_longer_than_its_columns():
    model = _model()
    src = torch.tensor([[5, 6, 7, 3]])
    long = model(src, torch.arange(4, 16)[None])
    torch.testing.assert_close(model(src, torch.arange(4, 6)[None]), long[:, :2], atol=1e-6, rtol=1e-5)


def test_steps_remember_a_window_of_every_block_and_share_the_columns():
    model = _model()
    state = model.start(torch.tensor([[5, 6, 3]]))
    several = state.select(torch.tensor([0, 0]))
    assert [window.shape for window in several.rows] == [(2, 2, 8), (2, 4, 8), (2, 8, 8)]
    assert several.memory[0] is state.memory[0]


def test_it_has_no_attention_and_says_so():
    model = _model()
    assert not model.has_attention and model.max_length is None
    with pytest.raises(UsageError, match="^ByteNet has no attention to the source"):
        model.forward_with_weights(torch.tensor([[5, 3]]), torch.tensor([[2]]))


def test_tying_shares_what_it_says():
    three, two, none = (_model(tie_embeddings=t) for t in ("three-way", "two-way", "none"))
    assert three.src_embedding is three.tgt_embedding and three.output_weight is three.tgt_embedding.weight
    assert two.src_embedding is not two.tgt_embedding and two.output_weight is two.tgt_embedding.weight
    assert none.num_parameters() - two.num_parameters() == two.num_parameters() - three.num_parameters() == 23 * 16
    with pytest.raises(AssertionError, match="three-way tying needs one vocabulary"):
        ByteNet(ByteNetConfig(d_model=16), 11, 17, 0)


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ({"d_model": 33}, r"\[model\] d_model = 33 is odd; blocks work in half the width, use an even number"),
        ({"length_slope": 0.8}, r"\[model\] length_slope = 0\.8: input should be greater than or equal to 1"),
        ({"kernel": 1}, r"\[model\] kernel = 1: input should be greater than or equal to 2"),
    ],
)
def test_numbers_that_cannot_be_are_refused(numbers, message):
    with pytest.raises(ConfigError, match=message):
        _parse(**numbers)


def test_presets_grow():
    sizes = []
    for preset in ("tiny", "small", "base", "big"):
        with torch.device("meta"):
            sizes.append(build_model(_parse(preset=preset), 8000, 8000, 0).num_parameters())
    assert sizes == sorted(set(sizes))
