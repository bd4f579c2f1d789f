"""What holds for every Transformer, whatever its norm, its positions and its tying."""

from __future__ import annotations

import itertools

import pytest
import torch

from jumok.errors import DataError
from jumok.models.transformer import Transformer
from jumok.nn.normalization import BatchNorm
from jumok.text.tokenizer import BOS_ID, EOS_ID, PAD_ID

VARIANTS = [
    {"norm": norm, "position": position, "tie_embeddings": tying, "attention_bias": norm == "pre", "max_length": 64}
    for norm, position, tying in itertools.product(
        ("pre", "post"), ("sinusoidal", "learned"), ("three-way", "two-way", "none")
    )
]
# Ways that are known to be worse, and are Transformers all the same: everything here holds for them too.
UNUSUAL = [
    {"position": "bits", "d_k": 5, "norm": "pre"},
    {"position": "counts", "scale_scores": False, "norm": "post"},
    {"norm_kind": "batch", "norm": "pre"},
]


@pytest.fixture(params=VARIANTS + UNUSUAL, ids=lambda v: "-".join(str(value) for value in v.values()))
def model(request, tiny_transformer) -> Transformer:
    model = tiny_transformer(**request.param)
    for module in model.modules():
        if isinstance(module, BatchNorm):
            module.momentum = 1.0  # a single pass in training is all that it has seen
    if model.config.norm_kind == "batch":
        model.train()(_pad(SOURCES), _pad(TARGETS))
    return model.eval()


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


def test_a_later_target_token_changes_nothing_earlier(model):
    src, tgt = _pad(SOURCES[:1]), _pad(TARGETS[:1])
    with torch.no_grad():
        before = model(src, tgt)
        for t in range(1, tgt.size(1)):
            changed = tgt.clone()
            changed[0, t] = 4 + (tgt[0, t] - 3) % 19
            assert changed[0, t] != tgt[0, t]
            after = model(src, changed)
            torch.testing.assert_close(after[0, :t], before[0, :t], atol=1e-6, rtol=0)
            assert not torch.allclose(after[0, t], before[0, t], atol=1e-3)


def test_every_source_token_reaches_every_target_position(model):
    src, tgt = _pad(SOURCES[1:2]), _pad(TARGETS[:1])
    with torch.no_grad():
        before = model(src, tgt)
        for s in range(src.size(1)):
            changed = src.clone()
            changed[0, s] = 4 + (src[0, s] - 3) % 19
            assert ((model(changed, tgt) - before).abs().amax(dim=-1) > 1e-5).all()


def test_word_order_of_the_source_matters(model):
    src, tgt = torch.tensor([[5, 6, 7, 3], [6, 5, 7, 3]]), torch.tensor([[2, 8], [2, 8]])
    with torch.no_grad():
        hidden = model(src, tgt)
    assert not torch.allclose(hidden[0], hidden[1], atol=1e-3)


@pytest.mark.parametrize("extra", [{"src": 5}, {"tgt": 4}, {"src": 3, "tgt": 2}])
def test_padding_changes_nothing_for_words(model, extra):
    plain, padded = _log_probs(model, SOURCES, TARGETS), _log_probs(model, SOURCES, TARGETS, **extra)
    for row, target in enumerate(TARGETS):
        torch.testing.assert_close(padded[row, : len(target)], plain[row, : len(target)], atol=1e-5, rtol=0)


def test_a_batch_gives_what_its_sentences_give_alone(model):
    together = _log_probs(model, SOURCES, TARGETS)
    for row, (source, target) in enumerate(zip(SOURCES, TARGETS, strict=True)):
        alone = _log_probs(model, [source], [target])[0]
        torch.testing.assert_close(together[row, : len(target)], alone, atol=1e-5, rtol=0)


def test_the_order_of_a_batch_does_not_matter(model):
    order = [2, 0, 3, 1]
    straight = _log_probs(model, SOURCES, TARGETS)
    shuffled = _log_probs(model, [SOURCES[i] for i in order], [TARGETS[i] for i in order])
    for row, i in enumerate(order):
        length = len(TARGETS[i])
        torch.testing.assert_close(shuffled[row, :length], straight[i, :length], atol=1e-5, rtol=0)


@torch.no_grad()
def test_step_by_step_with_caches_is_the_teacher_forced_pass(model):
    full = _log_probs(model, SOURCES, TARGETS)
    tgt, state = _pad(TARGETS), model.start(_pad(SOURCES))
    for t in range(tgt.size(1)):
        log_probs, state = model.step(tgt[:, t], state)
        for row, target in enumerate(TARGETS):
            if t < len(target):
                torch.testing.assert_close(log_probs[row], full[row, t], atol=1e-5, rtol=0)


# Each a list of (sentence, history): what the rows are to be after `select`. Rows of a sentence stand side by side,
# equally many for each sentence.
SELECTIONS = {
    "as they are": [0, 1, 2, 3, 4, 5],
    "reordered within sentences": [1, 0, 3, 3, 5, 4],
    "repeated": [0, 0, 0, 0, 2, 3, 2, 2, 5, 5, 4, 4],
    "fewer rows a sentence": [1, 2, 5],
    "first sentence dropped": [2, 3, 5, 4],
    "middle sentence dropped": [0, 1, 5, 4],
    "only the last sentence": [4, 5],
    "sentences reordered": [4, 5, 0, 1, 2, 3],
    "sentences reordered, one dropped": [5, 4, 1, 0],
    "one sentence twice, apart, another dropped": [0, 1, 2, 3, 1, 0],
}


@pytest.mark.parametrize("rows", SELECTIONS.values(), ids=SELECTIONS.keys())
@torch.no_grad()
def test_selected_rows_go_on_as_if_they_had_been_alone_from_the_start(model, rows):
    sources = SOURCES[:3]
    histories = [[BOS_ID, *_sentence(3, seed)] for seed in range(6)]  # two a sentence
    state = model.start(_pad(sources)).select(torch.tensor([0, 0, 1, 1, 2, 2]))
    for t in range(3):
        _, state = model.step(torch.tensor([history[t] for history in histories]), state)
    state = state.select(torch.tensor(rows))
    log_probs, state = model.step(torch.tensor([histories[row][3] for row in rows]), state)
    again, _ = model.step(torch.full((len(rows),), 7), state)
    for i, row in enumerate(rows):
        alone = _log_probs(model, [sources[row // 2]], [[*histories[row], 7]])[0]
        torch.testing.assert_close(log_probs[i], alone[3], atol=1e-5, rtol=0)
        torch.testing.assert_close(again[i], alone[4], atol=1e-5, rtol=0)


@torch.no_grad()
def test_unequally_many_rows_a_sentence_are_refused_rather_than_mixed_up(model):
    state = model.start(_pad(SOURCES))
    with pytest.raises(AssertionError, match="every sentence has equally many rows"):
        state.select(torch.tensor([0, 0, 0, 1]))


@torch.no_grad()
def test_selecting_leaves_the_old_state_as_it_was(model):
    state = model.start(_pad(SOURCES))
    _, state = model.step(torch.full((4,), BOS_ID), state)
    before, _ = model.step(torch.full((4,), 9), state)
    model.step(torch.tensor([5, 6]), state.select(torch.tensor([3, 0])))
    after, _ = model.step(torch.full((4,), 9), state)
    assert torch.equal(before, after)


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


# --- where a variant breaks what holds for the others --------------------------------------------------------------


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
