from __future__ import annotations

import pytest
import torch

from jumok.architectures.luong import LuongConfig
from jumok.config import parse_config
from jumok.errors import ConfigError
from jumok.models.luong import Luong
from jumok.models.state import RowState
from jumok.text.tokenizer import BOS_ID, EOS_ID, PAD_ID

SRC = torch.tensor([[5, 6, 7, 8, EOS_ID], [9, 10, EOS_ID, PAD_ID, PAD_ID]])
TGT = torch.tensor([[BOS_ID, 11, 12, 13], [BOS_ID, 14, 15, 16]])
D = 6


def _model(**changes) -> Luong:
    torch.manual_seed(1)
    numbers = {"d_model": D, "encoder_layers": 2, "decoder_layers": 2, "dropout": 0.0, **changes}
    return Luong(LuongConfig(**numbers), 20, 20, PAD_ID).eval()


@torch.no_grad()
@pytest.mark.parametrize("input_feeding", [True, False])
@pytest.mark.parametrize("score", ["dot", "general", "concat"])
def test_the_papers_equations_one_sentence_and_one_step_at_a_time(score, input_feeding):
    model = _model(score=score, input_feeding=input_feeding)
    a = model.attention
    hidden, weights = model.forward_with_weights(SRC, TGT)
    for row, length in enumerate((5, 3)):
        source, states = model.encoder(model.src_embedding(SRC[row : row + 1, :length]))
        attentional = torch.zeros(1, D)
        for t, e in enumerate(model.tgt_embedding(TGT[row])):
            projected = model.decoder.bottom.project(e[None])
            if input_feeding:
                projected = projected + attentional @ model.from_last.weight.t()
            states = model.decoder.advance(projected, states)
            h = states[-1][0][0]
            if score == "dot":
                scores = source[0] @ h
            elif score == "general":
                scores = source[0] @ a.project_memory.weight.t() @ h
            else:
                scores = torch.tanh(a.project_query(h) + a.project_memory(source[0])) @ a.weigh
            context = scores.softmax(0) @ source[0]
            attentional = torch.tanh(model.join(torch.cat([context, h])))[None]
            torch.testing.assert_close(hidden[row, t], attentional[0])
            torch.testing.assert_close(weights.cross[0][row, 0, t, :length], scores.softmax(0))


@torch.no_grad()
def test_input_feeding_that_adds_nothing_is_no_input_feeding():
    fed, unfed = _model(input_feeding=True), _model(input_feeding=False)
    unfed.load_state_dict(fed.state_dict(), strict=False)
    assert not torch.allclose(fed(SRC, TGT), unfed(SRC, TGT))
    fed.from_last.weight.zero_()
    torch.testing.assert_close(fed(SRC, TGT), unfed(SRC, TGT))


@torch.no_grad()
@pytest.mark.parametrize("input_feeding", [True, False])
def test_what_was_found_reaches_the_next_step_only_where_it_is_fed(input_feeding):
    model = _model(input_feeding=input_feeding)
    start = model.start(SRC)
    nothing_to_find = torch.zeros_like(start.memory[0]), *start.memory[1:]
    said = []
    for memory in (start.memory, nothing_to_find):
        _, state = model.step(TGT[:, 0], RowState.begin(start.rows, memory))
        said.append(model.step(TGT[:, 1], RowState.begin(state.rows, start.memory))[0])
    assert torch.allclose(*said) is not input_feeding


@torch.no_grad()
def test_weights_stay_at_the_words_they_are_of_when_the_source_is_read_backwards():
    backwards, forwards = _model(reverse_source=True), _model(reverse_source=False)
    src = SRC[:1]
    hidden, weights = backwards.forward_with_weights(src, TGT[:1])
    reversed_hidden, reversed_weights = forwards.forward_with_weights(src.flip(1), TGT[:1])
    torch.testing.assert_close(hidden, reversed_hidden)
    torch.testing.assert_close(weights.cross[0], reversed_weights.cross[0].flip(-1))


@torch.no_grad()
def test_weights_sum_to_one_and_leave_padding_out():
    (cross,) = _model().forward_with_weights(SRC, TGT)[1].cross
    assert cross.shape == (2, 1, 4, 5)
    torch.testing.assert_close(cross.sum(-1), torch.ones(2, 1, 4))
    assert (cross[1, :, :, 3:] == 0).all()


def test_weights_have_one_name_each():
    model = _model()
    assert len(model.state_dict()) == len(list(model.parameters())) + 1  # the embedding that source and target share


def test_layers_that_would_not_fit_are_refused():
    values = {"name": "x", "data": {"source": "ko", "target": "en", "train": "t", "valid": "v"}}
    with pytest.raises(ConfigError, match=r"\[model\] encoder_layers = 2 and decoder_layers = 1 differ, but each"):
        parse_config({**values, "model": {"architecture": "luong", "decoder_layers": 1}})
