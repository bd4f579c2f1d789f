from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from jumok.data.batching import Batch, collate
from jumok.text.tokenizer import PAD_ID
from jumok.training.objective import TranslationObjective

SOURCES, TARGETS = [[5, 6, 7], [8]], [[9, 10], [11, 12, 13, 14]]


def test_the_loss_is_summed_over_words_and_end_marks_and_counts_them(tiny_transformer):
    model, batch = tiny_transformer(), collate(SOURCES, TARGETS)
    loss, num_tokens = TranslationObjective(model, 0.1)(batch)
    logits = model.project(model(batch.src, batch.tgt_in))
    expected = F.cross_entropy(
        logits.flatten(0, 1), batch.tgt_out.flatten(), label_smoothing=0.1, reduction="sum", ignore_index=PAD_ID
    )
    assert num_tokens == 3 + 5
    torch.testing.assert_close(loss, expected)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_padding_never_counts(tiny_transformer, smoothing):
    model, batch = tiny_transformer(), collate(SOURCES, TARGETS)
    src, tgt_in, tgt_out = (F.pad(t, (0, 4), value=PAD_ID) for t in (batch.src, batch.tgt_in, batch.tgt_out))
    padded = Batch(src, tgt_in, tgt_out, batch.num_src_tokens, batch.num_tgt_tokens)
    losses, gradients = [], []
    for b in (batch, padded):
        loss, _ = TranslationObjective(model, smoothing)(b)
        losses.append(loss)
        gradients.append(torch.autograd.grad(loss, list(model.parameters())))
    torch.testing.assert_close(losses[0], losses[1])
    torch.testing.assert_close(gradients[0], gradients[1], atol=1e-4, rtol=1e-4)


def test_the_loss_of_a_batch_is_the_sum_of_the_losses_of_its_sentences(tiny_transformer):
    objective = TranslationObjective(tiny_transformer(), 0.1)
    together, _ = objective(collate(SOURCES, TARGETS))
    alone = [objective(collate([s], [t]))[0] for s, t in zip(SOURCES, TARGETS, strict=True)]
    torch.testing.assert_close(together, sum(alone))


def test_the_gradients_are_those_of_the_plain_loss(tiny_transformer):
    for changes in ({}, {"tie_embeddings": "none"}, {"tie_embeddings": "two-way", "norm": "pre"}):
        model, batch = tiny_transformer(**changes), collate(SOURCES, TARGETS)
        fused, _ = TranslationObjective(model, 0.1)(batch)
        logits = model.project(model(batch.src, batch.tgt_in))[batch.tgt_out != PAD_ID]
        plain = F.cross_entropy(logits, batch.tgt_out[batch.tgt_out != PAD_ID], label_smoothing=0.1, reduction="sum")
        parameters = list(model.parameters())
        torch.testing.assert_close(
            torch.autograd.grad(fused, parameters), torch.autograd.grad(plain, parameters), atol=1e-4, rtol=1e-4
        )
