"""What holds for Transformers beside the contract of all architectures: positions, masks, residuals, every head."""

from __future__ import annotations

import pytest
import torch

from jumok.errors import DataError
from jumok.models.transformer import Transformer
from jumok.text.tokenizer import BOS_ID, EOS_ID, PAD_ID


@pytest.fixture(params=["pre", "post"])
def model(request, tiny_transformer) -> Transformer:
    return tiny_transformer(norm=request.param)


def _sentence(length: int, seed: int) -> list[int]:
    return torch.randint(4, 23, (length,), generator=torch.Generator().manual_seed(seed)).tolist()


def _pad(rows: list[list[int]], extra: int = 0) -> torch.Tensor:
    width = max(map(len, rows)) + extra
    return torch.tensor([row + [PAD_ID] * (width - len(row)) for row in rows])


SOURCES = [[*_sentence(length, length), EOS_ID] for length in (1, 4, 7, 3)]
TARGETS = [[BOS_ID, *_sentence(length, 50 + length)] for length in (6, 2, 5, 3)]


@torch.no_grad()
def _log_probs(model: Transformer, sources: list[list[int]], targets: list[list[int]], **extra: int) -> torch.Tensor:
    hidden = model(_pad(sources, extra.get("src", 0)), _pad(targets, extra.get("tgt", 0)))
    return model.project(hidden).log_softmax(dim=-1)


def test_every_source_token_reaches_every_target_position(model):
    src, tgt = _pad(SOURCES[1:2]), _pad(TARGETS[:1])
    with torch.no_grad():
        before = model(src, tgt)
        for s in range(src.size(1)):
            changed = src.clone()
            changed[0, s] = 4 + (src[0, s] - 3) % 19
            assert ((model(changed, tgt) - before).abs().amax(dim=-1) > 1e-5).all()


@torch.no_grad()
def test_a_traced_pass_and_a_plain_one_agree_and_weights_sum_to_one(model):
    src, tgt = _pad(SOURCES), _pad(TARGETS)
    hidden, weights = model.forward_with_weights(src, tgt)
    torch.testing.assert_close(hidden, model(src, tgt), atol=1e-5, rtol=0)
    S, T = src.size(1), tgt.size(1)
    for tensors, shape in ((weights.encoder, (S, S)), (weights.decoder, (T, T)), (weights.cross, (T, S))):
        assert len(tensors) == 2
        for attn_weights in tensors:
            assert attn_weights.shape == (4, 2, *shape)
            torch.testing.assert_close(attn_weights.sum(-1), torch.ones(4, 2, shape[0]))
    is_padding = src == PAD_ID
    for attn_weights in (*weights.encoder, *weights.cross):
        assert (attn_weights.transpose(1, 3)[is_padding] == 0).all()
    for attn_weights in weights.decoder:
        assert (attn_weights.triu(1) == 0).all()


def test_sinusoidal_models_go_beyond_512_positions_step_by_step_as_in_one_pass(tiny_transformer):
    model = tiny_transformer(encoder_layers=1, decoder_layers=1)
    target = [BOS_ID, *_sentence(519, 1)]
    full = _log_probs(model, SOURCES[:1], [target])[0]
    with torch.inference_mode():
        state = model.start(_pad(SOURCES[:1]))
        for piece in target:
            log_probs, state = model.step(torch.tensor([piece]), state)
    torch.testing.assert_close(log_probs[0], full[-1], atol=1e-4, rtol=0)


def test_learned_positions_end_where_they_end(tiny_transformer):
    model = tiny_transformer(position="learned", max_length=8)
    assert _log_probs(model, [_sentence(8, 1)], [_sentence(8, 2)]).shape == (1, 8, 23)
    with pytest.raises(DataError, match="a sentence of 9 pieces is longer than the 8 learned positions"):
        _log_probs(model, [_sentence(9, 1)], [_sentence(8, 2)])


def test_without_positions_the_order_of_the_source_does_not_matter(tiny_transformer):
    model = tiny_transformer(position="none")
    there, back = _log_probs(model, [[5, 6, 7, 3], [7, 3, 5, 6]], [[2, 8], [2, 8]])
    torch.testing.assert_close(there, back, atol=1e-5, rtol=0)


@pytest.mark.parametrize("norm", ["pre", "post"])
@torch.no_grad()
def test_without_residuals_a_word_hardly_reaches_its_own_position_but_steps_are_the_pass(tiny_transformer, norm):
    model = tiny_transformer(use_residual=False, norm=norm)
    full = _log_probs(model, SOURCES, TARGETS)
    tgt, state = _pad(TARGETS), model.start(_pad(SOURCES))
    for t in range(tgt.size(1)):
        log_probs, state = model.step(tgt[:, t], state)
        for row, target in enumerate(TARGETS):
            if t < len(target):
                torch.testing.assert_close(log_probs[row], full[row, t], atol=1e-5, rtol=0)
    target = TARGETS[0]
    changed = [*target[:-1], 4 + (target[-1] - 3) % 19]
    moved = {}
    for use_residual in (True, False):
        model = tiny_transformer(use_residual=use_residual, norm=norm)
        one, other = (_log_probs(model, SOURCES[:1], [ids])[0, -1] for ids in (target, changed))
        moved[use_residual] = (one - other).abs().mean()
    assert moved[False] < 0.2 * moved[True]


@pytest.mark.parametrize("position", ["counts", "scaled_counts"])
def test_a_number_on_every_dimension_is_taken_away_again_by_pre_norm(tiny_transformer, position):
    """Whatever reads the sum subtracts the mean over the dimensions first; post-norm lets the first layer see it."""
    for norm, is_seen in (("pre", False), ("post", True)):
        with_it, without = (
            _log_probs(tiny_transformer(position=kind, norm=norm), SOURCES, TARGETS) for kind in (position, "none")
        )
        assert torch.allclose(with_it, without, atol=1e-3) is not is_seen


def test_scaled_counts_do_not_depend_on_padding(tiny_transformer):
    model = tiny_transformer(position="scaled_counts")
    plain, padded = (_log_probs(model, SOURCES, TARGETS, src=n, tgt=n) for n in (0, 5))
    for row, target in enumerate(TARGETS):
        torch.testing.assert_close(padded[row, : len(target)], plain[row, : len(target)], atol=1e-5, rtol=0)


@torch.no_grad()
def test_scaled_counts_are_right_step_by_step_only_where_source_and_target_are_equally_long(tiny_transformer):
    model = tiny_transformer(position="scaled_counts")
    sources, target = [[*_sentence(n, n), EOS_ID] for n in (4, 9)], [BOS_ID, *_sentence(4, 1)]
    full = _log_probs(model, sources, [target, target])
    state = model.start(_pad(sources)).select(torch.tensor([1, 0]))  # rows find their own source's length
    steps = []
    for piece in target:
        log_probs, state = model.step(torch.tensor([piece, piece]), state)
        steps.append(log_probs)
    of_longer, of_equal = torch.stack(steps, dim=1)
    torch.testing.assert_close(of_equal, full[0], atol=1e-5, rtol=0)
    torch.testing.assert_close(of_longer[0], full[1, 0], atol=1e-5, rtol=0)  # the first position is 0 in any case
    assert not torch.allclose(of_longer[1:], full[1, 1:], atol=1e-2)


@pytest.mark.parametrize("masking", ["zero_before", "zero_after"])
@torch.no_grad()
def test_wrong_masks_let_training_see_the_words_to_predict_and_prediction_not(tiny_transformer, masking):
    model = tiny_transformer(masking=masking, decoder_layers=1)
    source, target = SOURCES[2:3], TARGETS[0]
    changed = [*target[:-1], 4 + (target[-1] - 3) % 19]
    full, after_change = (_log_probs(model, source, [ids])[0] for ids in (target, changed))
    assert not torch.allclose(full[:-1], after_change[:-1], atol=1e-3)
    state = model.start(_pad(source))
    for t, piece in enumerate(target):
        log_probs, state = model.step(torch.tensor([piece]), state)
        # A step has no future: it is the last position of a pass over what there is so far.
        so_far = _log_probs(model, source, [target[: t + 1]])[0, -1]
        torch.testing.assert_close(log_probs[0], so_far, atol=1e-5, rtol=0)
        assert torch.allclose(log_probs[0], full[t], atol=1e-3) == (t == len(target) - 1)


@pytest.mark.parametrize("masking", ["zero_before", "zero_after"])
def test_wrong_masks_make_a_sentence_depend_on_padding(tiny_transformer, masking):
    model = tiny_transformer(masking=masking)
    plain, padded = (_log_probs(model, SOURCES[:1], TARGETS[:1], src=n) for n in (0, 5))
    assert not torch.allclose(plain, padded, atol=1e-3)
