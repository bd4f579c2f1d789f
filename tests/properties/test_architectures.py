"""What holds for every architecture behind the seam: the search and the trainer rely on nothing else."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from jumok.architectures import ARCHITECTURES
from jumok.config import parse_config
from jumok.data.batching import collate
from jumok.errors import UsageError
from jumok.evaluation.cost import forward_flops, shape_of, training_flops
from jumok.models import TranslationModel, build_model
from jumok.nn import attention
from jumok.nn.mixture import MixtureOfExperts
from jumok.nn.normalization import BatchNorm
from jumok.text.tokenizer import BOS_ID, EOS_ID, PAD_ID
from jumok.training.loss import label_smoothed_cross_entropy

VOCABULARY = 23
SMALL: dict[str, Any] = {"d_model": 16, "encoder_layers": 2, "decoder_layers": 2, "dropout": 0.0}
TRANSFORMER: dict[str, Any] = {"architecture": "transformer", "d_ff": 32, "num_heads": 2, "max_length": 64}
# The paper's model in every norm, position and tying, and ways that are known to be worse: all this holds for them too.
TRANSFORMERS: dict[str, dict[str, Any]] = {
    "-".join(("transformer", norm, position, tying)): {
        **TRANSFORMER,
        "norm": norm,
        "position": position,
        "tie_embeddings": tying,
        "attention_bias": norm == "pre",
    }
    for norm, position, tying in itertools.product(
        ("pre", "post"), ("sinusoidal", "learned"), ("three-way", "two-way", "none")
    )
} | {
    "transformer-bits": {**TRANSFORMER, "position": "bits", "d_k": 5, "norm": "pre"},
    "transformer-counts": {**TRANSFORMER, "position": "counts", "scale_scores": False},
    "transformer-batch-norm": {**TRANSFORMER, "norm_kind": "batch", "norm": "pre"},
}
VARIANTS: dict[str, dict[str, Any]] = TRANSFORMERS | {
    "transformer-experts": {**TRANSFORMER, "d_ff": 16, "experts": 4},
    "rnn": {"architecture": "seq2seq", "cell": "rnn"},
    "lstm": {"architecture": "seq2seq", "cell": "lstm", "reverse_source": False, "tie_embeddings": "two-way"},
    "gru-cho": {"architecture": "seq2seq", "cell": "gru", "feed_context": True, "tie_embeddings": "none"},
    "bahdanau": {"architecture": "bahdanau"},
    "bahdanau-lstm": {"architecture": "bahdanau", "cell": "lstm", "encoder_layers": 1, "decoder_layers": 1},
    "luong-dot": {"architecture": "luong", "score": "dot", "input_feeding": False},
    "luong-general": {"architecture": "luong", "score": "general", "tie_embeddings": "none"},
    "luong-concat": {"architecture": "luong", "score": "concat", "cell": "gru", "reverse_source": True},
    "deep_att": {"architecture": "deep_att", "encoder_layers": 3},
    "gnmt": {"architecture": "gnmt", "encoder_layers": 3, "decoder_layers": 3},
    "bytenet": {"architecture": "bytenet", "max_dilation": 2, "tie_embeddings": "two-way"},
    "convs2s": {"architecture": "convs2s", "max_length": 64},
    "moe": {"architecture": "moe", "experts": 4, "d_expert": 8, "encoder_layers": 3},
}


@pytest.fixture(params=VARIANTS, ids=str)
def model(request: pytest.FixtureRequest) -> TranslationModel:
    """With every parameter random, biases and gains too, where mistakes with zeros and ones would not show."""
    data = {"source": "de", "target": "en", "train": "t", "valid": "v", "max_length": 60}
    config = parse_config({"name": "x", "data": data, "model": {**SMALL, **VARIANTS[request.param]}})
    torch.manual_seed(1)
    built = build_model(config.model, VOCABULARY, VOCABULARY, PAD_ID)
    with torch.no_grad():
        for parameter in built.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.1)
        for module in built.modules():
            if isinstance(module, BatchNorm):
                module.momentum = 1.0  # a single pass in training is all that it has seen
        if any(isinstance(module, BatchNorm) for module in built.modules()):
            built.train()(_pad(SOURCES), _pad(TARGETS))
    return built.eval()


def _sentence(length: int, seed: int) -> list[int]:
    return torch.randint(4, VOCABULARY, (length,), generator=torch.Generator().manual_seed(seed)).tolist()


def _pad(rows: list[list[int]], extra: int = 0) -> torch.Tensor:
    width = max(map(len, rows)) + extra
    return torch.tensor([row + [PAD_ID] * (width - len(row)) for row in rows])


SOURCES = [[*_sentence(length, length), EOS_ID] for length in (1, 4, 7, 3)]
TARGETS = [[BOS_ID, *_sentence(length, 50 + length)] for length in (9, 2, 5, 3)]


@torch.no_grad()
def _log_probs(
    model: TranslationModel, sources: list[list[int]], targets: list[list[int]], src_extra: int = 0, tgt_extra: int = 0
) -> torch.Tensor:
    return model.project(model(_pad(sources, src_extra), _pad(targets, tgt_extra))).log_softmax(dim=-1)


def test_every_architecture_has_a_variant_here() -> None:
    assert {variant["architecture"] for variant in VARIANTS.values()} == set(ARCHITECTURES)


@torch.no_grad()
def test_a_later_target_token_changes_nothing_earlier(model: TranslationModel) -> None:
    src, tgt = _pad(SOURCES[2:3]), _pad(TARGETS[:1])
    before = model(src, tgt)
    for t in range(1, tgt.size(1)):
        changed = tgt.clone()
        changed[0, t] = 4 + (tgt[0, t] - 3) % 19
        after = model(src, changed)
        torch.testing.assert_close(after[0, :t], before[0, :t], atol=1e-6, rtol=0)
        assert not torch.allclose(after[0, t], before[0, t], atol=1e-4)


@torch.no_grad()
def test_the_source_reaches_the_target(model: TranslationModel) -> None:
    src, tgt = _pad(SOURCES[1:2]), _pad(TARGETS[:1])
    before = model(src, tgt)
    for s in range(src.size(1)):
        changed = src.clone()
        changed[0, s] = 4 + (src[0, s] - 3) % 19
        assert ((model(changed, tgt) - before).abs().amax(dim=-1) > 1e-6).any(), s


@torch.no_grad()
def test_word_order_of_the_source_matters(model: TranslationModel) -> None:
    hidden = model(torch.tensor([[5, 6, 7, 3], [6, 5, 7, 3]]), torch.tensor([[2, 8], [2, 8]]))
    assert not torch.allclose(hidden[0], hidden[1], atol=1e-4)


@pytest.mark.parametrize(("src_extra", "tgt_extra"), [(5, 0), (0, 4), (3, 2)])
def test_padding_changes_nothing_for_words(model: TranslationModel, src_extra: int, tgt_extra: int) -> None:
    plain, padded = _log_probs(model, SOURCES, TARGETS), _log_probs(model, SOURCES, TARGETS, src_extra, tgt_extra)
    for row, target in enumerate(TARGETS):
        torch.testing.assert_close(padded[row, : len(target)], plain[row, : len(target)], atol=1e-5, rtol=0)


def test_a_batch_gives_what_its_sentences_give_alone(model: TranslationModel) -> None:
    together = _log_probs(model, SOURCES, TARGETS)
    for row, (source, target) in enumerate(zip(SOURCES, TARGETS, strict=True)):
        alone = _log_probs(model, [source], [target])[0]
        torch.testing.assert_close(together[row, : len(target)], alone, atol=1e-5, rtol=0)


def test_training_mode_computes_the_same_but_for_what_is_random(model: TranslationModel) -> None:
    """Faster paths exist for training only; without dropout they must agree with the others."""
    model.train()
    for module in model.modules():
        if isinstance(module, MixtureOfExperts | BatchNorm):
            module.eval()  # gates are noisy in training, and a batch has statistics of its own
    trained = model.project(model(_pad(SOURCES), _pad(TARGETS))).log_softmax(dim=-1)
    model.eval()
    torch.testing.assert_close(trained.detach(), _log_probs(model, SOURCES, TARGETS), atol=1e-5, rtol=0)


def test_the_order_of_a_batch_does_not_matter(model: TranslationModel) -> None:
    order = [2, 0, 3, 1]
    straight = _log_probs(model, SOURCES, TARGETS)
    shuffled = _log_probs(model, [SOURCES[i] for i in order], [TARGETS[i] for i in order])
    for row, i in enumerate(order):
        length = len(TARGETS[i])
        torch.testing.assert_close(shuffled[row, :length], straight[i, :length], atol=1e-5, rtol=0)


@torch.no_grad()
def test_step_by_step_is_the_teacher_forced_pass(model: TranslationModel) -> None:
    full = _log_probs(model, SOURCES, TARGETS)
    tgt, state = _pad(TARGETS), model.start(_pad(SOURCES))
    for t in range(tgt.size(1)):
        log_probs, state = model.step(tgt[:, t], state)
        for row, target in enumerate(TARGETS):
            if t < len(target):
                torch.testing.assert_close(log_probs[row], full[row, t], atol=1e-5, rtol=0)


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
def test_selected_rows_go_on_as_if_they_had_been_alone(model: TranslationModel, rows: list[int]) -> None:
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
def test_unequally_many_rows_a_sentence_are_refused_rather_than_mixed_up(model: TranslationModel) -> None:
    state = model.start(_pad(SOURCES))
    with pytest.raises(AssertionError, match="every sentence has equally many rows"):
        state.select(torch.tensor([0, 0, 0, 1]))


@torch.no_grad()
def test_selecting_leaves_the_old_state_as_it_was(model: TranslationModel) -> None:
    state = model.start(_pad(SOURCES))
    _, state = model.step(torch.full((4,), BOS_ID), state)
    before, _ = model.step(torch.full((4,), 9), state)
    model.step(torch.tensor([5, 6]), state.select(torch.tensor([3, 0])))
    after, _ = model.step(torch.full((4,), 9), state)
    assert torch.equal(before, after)


@torch.no_grad()
def test_looking_at_the_weights_changes_nothing(model: TranslationModel) -> None:
    src, tgt = _pad(SOURCES), _pad(TARGETS)
    if not model.has_attention:
        with pytest.raises(UsageError, match="has no attention to the source"):
            model.forward_with_weights(src, tgt)
        return
    hidden, weights = model.forward_with_weights(src, tgt)
    torch.testing.assert_close(hidden, model(src, tgt), atol=1e-5, rtol=0)
    assert weights.cross
    for attn_weights in weights.cross:
        assert attn_weights.shape[0] == 4 and attn_weights.shape[2:] == (tgt.size(1), src.size(1))
        torch.testing.assert_close(attn_weights.sum(-1), torch.ones(attn_weights.shape[:3]))
        assert (attn_weights.transpose(1, 3)[src == PAD_ID] == 0).all()
    hidden, alignment = model.forward_with_alignment(src, tgt)
    assert alignment.shape == (4, tgt.size(1), src.size(1))


def test_every_parameter_learns(model: TranslationModel) -> None:
    model.train()
    hidden, penalty = model.forward_with_penalty(_pad(SOURCES), _pad(TARGETS))
    loss = model.project(hidden).log_softmax(dim=-1)[..., 5].sum()
    (loss if penalty is None else loss + penalty).backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name


def test_training_flops_are_what_a_counter_counts(model: TranslationModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention, "MAX_LENGTH", 0)  # the path for short sentences fills keys up to 16
    batch = collate([[5] * n for n in (39, 42, 37)], [[6] * n for n in (40, 38, 36)])
    model.train()
    with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):
        hidden = model(batch.src, batch.tgt_in)
        is_word = batch.tgt_out != PAD_ID
        loss = label_smoothed_cross_entropy(model.project(hidden[is_word]), batch.tgt_out[is_word], 0.1)
        forward = counter.get_total_flops()
        loss.backward()
        total = counter.get_total_flops()
    assert forward_flops(model, shape_of(batch)) == pytest.approx(forward, rel=0.02)
    assert training_flops(model, batch) == pytest.approx(total, rel=0.02)
