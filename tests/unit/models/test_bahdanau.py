from __future__ import annotations

import pytest
import torch
from torch import nn

from jumok.architectures.bahdanau import BahdanauConfig
from jumok.models.bahdanau import Bahdanau
from jumok.text.tokenizer import BOS_ID, EOS_ID, PAD_ID

SRC = torch.tensor([[5, 6, 7, 8, EOS_ID], [9, 10, EOS_ID, PAD_ID, PAD_ID]])
TGT = torch.tensor([[BOS_ID, 11, 12, 13], [BOS_ID, 14, 15, 16]])
D = 6


def _model(**changes) -> Bahdanau:
    torch.manual_seed(1)
    return Bahdanau(BahdanauConfig(d_model=D, **{"dropout": 0.0, **changes}), 20, 20, PAD_ID).eval()


def _load(theirs: nn.GRU | nn.GRUCell, layer, suffix: str) -> None:
    theirs_by_ours = {"weight_ih": "input_weight", "weight_hh": "state_weight"}
    theirs_by_ours |= {"bias_ih": "input_bias", "bias_hh": "state_bias"}
    for their_name, our_name in theirs_by_ours.items():
        getattr(theirs, their_name + suffix).copy_(getattr(layer, our_name))


@torch.no_grad()
def test_the_papers_equations_one_sentence_and_one_step_at_a_time():
    model = _model()
    encoder = nn.GRU(D, D, batch_first=True, bidirectional=True)
    _load(encoder, model.encoder[0].forwards, "_l0")
    _load(encoder, model.encoder[0].backwards, "_l0_reverse")
    cell = nn.GRUCell(3 * D, D)  # reads [E·y_(i−1); c_i]
    bottom = model.bottom.recurrent
    cell.weight_ih.copy_(bottom.input_weight)
    cell.weight_hh.copy_(bottom.state_weight)
    cell.bias_ih.copy_(bottom.input_bias)
    cell.bias_hh.copy_(bottom.state_bias)
    a = model.bottom.attention
    hidden, weights = model.forward_with_weights(SRC, TGT)
    for row, length in enumerate((5, 3)):
        h, last = encoder(model.src_embedding(SRC[row, None, :length]))  # (1, S, 2·D)
        s = torch.tanh(model.first_states(last[1]))  # the backward direction ends at the first word
        for i, e in enumerate(model.tgt_embedding(TGT[row])):
            scores = torch.tanh(a.project_query(s) + a.project_memory(h[0])) @ a.weigh
            context = scores.softmax(0) @ h[0]
            s = cell(torch.cat([e, context])[None], s)
            both = model.deep_output(torch.cat([s[0], e, context]))
            torch.testing.assert_close(hidden[row, i], torch.maximum(both[:D], both[D:]))
            torch.testing.assert_close(weights.cross[0][row, 0, i, :length], scores.softmax(0))


@torch.no_grad()
@pytest.mark.parametrize("cell", ["rnn", "lstm", "gru"])
def test_every_decoder_layer_starts_from_the_backward_state_at_the_first_word(cell):
    model = _model(cell=cell, decoder_layers=2)
    state = model.start(SRC)
    at_first_word = state.memory[0][:, 0, D:]
    first = torch.tanh(model.first_states(at_first_word)).split(D, dim=1)
    if cell == "lstm":
        zeros = torch.zeros(2, D)
        torch.testing.assert_close(state.rows, (first[0], zeros, first[1], zeros))
    else:
        torch.testing.assert_close(state.rows, first)


@torch.no_grad()
def test_weights_are_of_one_layer_and_one_head_sum_to_one_and_leave_padding_out():
    hidden, weights = _model(encoder_layers=2, decoder_layers=2).forward_with_weights(SRC, TGT)
    assert not weights.encoder and not weights.decoder
    (cross,) = weights.cross
    assert cross.shape == (2, 1, 4, 5)
    torch.testing.assert_close(cross.sum(-1), torch.ones(2, 1, 4))
    assert (cross[1, :, :, 3:] == 0).all()
    assert hidden.shape == (2, 4, D)


@torch.no_grad()
def test_a_step_looks_before_it_has_heard_the_last_piece():
    # s_(i−1) asks: the first two pieces decide where step 2 looks, piece 2 itself does not.
    model = _model()
    changed = TGT.clone()
    changed[:, 2] = 17
    before, after = (model.forward_with_weights(SRC, tgt)[1].cross[0] for tgt in (TGT, changed))
    torch.testing.assert_close(before[:, :, :3], after[:, :, :3])
    assert not torch.allclose(before[:, :, 3], after[:, :, 3])
