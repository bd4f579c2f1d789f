from __future__ import annotations

import pytest
import torch
from torch import nn

from jumok.architectures.seq2seq import Seq2SeqConfig
from jumok.config import parse_config
from jumok.errors import ConfigError, UsageError
from jumok.models import build_model
from jumok.models.seq2seq import Seq2Seq
from jumok.text.tokenizer import BOS_ID, EOS_ID, PAD_ID

SRC = torch.tensor([[5, 6, 7, 8, EOS_ID], [9, 10, EOS_ID, PAD_ID, PAD_ID]])
TGT = torch.tensor([[BOS_ID, 11, 12, 13], [BOS_ID, 14, 15, 16]])


def _model(**changes) -> Seq2Seq:
    torch.manual_seed(1)
    numbers = {"d_model": 6, "encoder_layers": 2, "decoder_layers": 2, "dropout": 0.0, **changes}
    return Seq2Seq(Seq2SeqConfig(**numbers), 20, 20, PAD_ID).eval()


def _preset(name: str, **changes):
    data = {"source": "ko", "target": "en", "train": "t", "valid": "v"}
    return parse_config({"name": "x", "data": data, "model": {"architecture": "seq2seq", "preset": name, **changes}})


def _load(theirs: nn.LSTM, stack) -> None:
    with torch.no_grad():
        for i, layer in enumerate(stack):
            getattr(theirs, f"weight_ih_l{i}").copy_(layer.input_weight)
            getattr(theirs, f"weight_hh_l{i}").copy_(layer.state_weight)
            getattr(theirs, f"bias_ih_l{i}").copy_(layer.input_bias)
            getattr(theirs, f"bias_hh_l{i}").zero_()


@torch.no_grad()
def test_is_two_of_torchs_lstm_stacks_the_second_starting_where_the_first_ends():
    model = _model(reverse_source=True)
    encoder, decoder = (nn.LSTM(6, 6, num_layers=2, batch_first=True) for _ in range(2))
    _load(encoder, model.encoder)
    _load(decoder, model.decoder)
    for row, length in enumerate((5, 3)):
        backwards = SRC[row : row + 1, :length].flip(1)
        _, states = encoder(model.src_embedding(backwards))
        expected, _ = decoder(model.tgt_embedding(TGT[row : row + 1]), states)
        torch.testing.assert_close(model(SRC, TGT)[row], expected[0])


@torch.no_grad()
def test_the_source_read_backwards_is_the_reversed_source():
    backwards, forwards = _model(reverse_source=True), _model(reverse_source=False)
    src = SRC[:1]
    torch.testing.assert_close(backwards(src, TGT[:1]), forwards(src.flip(1), TGT[:1]))
    assert not torch.allclose(backwards(src, TGT[:1]), forwards(src, TGT[:1]))


@torch.no_grad()
@pytest.mark.parametrize("feed_context", [True, False])
def test_the_context_reaches_every_step_only_where_it_is_fed(feed_context):
    model = _model(cell="rnn", feed_context=feed_context)
    for layer in model.decoder:
        layer.state_weight.zero_()  # no step hears of the one before, nor the first of the encoder
    one, other = model(SRC, TGT), model(SRC.flip(0), TGT)
    has_changed = (one != other).any(dim=-1)
    assert has_changed.all() if feed_context else not has_changed.any()


def test_layers_that_would_not_fit_are_refused():
    with pytest.raises(ConfigError) as refused:
        _preset("tiny", encoder_layers=3)
    assert str(refused.value) == (
        "config: [model] encoder_layers = 3 and decoder_layers = 1 differ, but each decoder layer starts from the last "
        "state of an encoder layer; use as many of both"
    )


def test_there_is_no_attention_to_show():
    with pytest.raises(UsageError, match="Seq2Seq has no attention to the source"):
        _model().forward_with_weights(SRC, TGT)
    assert not Seq2Seq.has_attention


def test_presets_grow():
    with torch.device("meta"):
        configs = [_preset(name).model for name in ("tiny", "small", "base", "big")]
        sizes = [build_model(config, 8000, 8000, PAD_ID).num_parameters() for config in configs]
    assert sizes == sorted(set(sizes))


def test_each_tying_saves_one_matrix():
    none, two, three = (_model(tie_embeddings=t).num_parameters() for t in ("none", "two-way", "three-way"))
    assert none - two == two - three == 20 * 6


def test_an_lstm_counted_by_hand():
    # d = 6, four gates, two matrices and one bias a layer, four layers, one vocabulary of 20.
    assert _model().num_parameters() == 4 * (2 * 24 * 6 + 24) + 20 * 6


def test_dropout_is_between_layers_and_never_from_step_to_step():
    torch.manual_seed(3)
    model = _model(dropout=0.5).train()
    x = torch.randn(1, 4, 6)
    (once, states), (again, _) = model.encoder(x), model.encoder(x)
    assert not torch.equal(once, again)
    torch.testing.assert_close(states[0], next(iter(model.encoder))(x)[1])  # the first layer's own recurrence is whole
