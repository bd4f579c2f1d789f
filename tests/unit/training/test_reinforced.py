"""Expected reward: its value, its gradient, its cost."""

from __future__ import annotations

import itertools
import math

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from jumok.config import TrainingConfig
from jumok.data.batching import collate
from jumok.evaluation.cost import training_flops
from jumok.evaluation.gleu import sentence_gleu
from jumok.text.tokenizer import EOS_ID, PAD_ID
from jumok.training.objective import TranslationObjective, build_objective
from jumok.training.reinforced import ReinforcedObjective

SOURCES, TARGETS = [[5, 6, 7], [8], [6, 6]], [[9, 10], [11, 12, 13, 14], [7]]


def objective_of(model, **settings):
    config = TrainingConfig(objective="reinforced", label_smoothing=0.0, **settings)
    objective = build_objective(model, config)
    assert isinstance(objective, ReinforcedObjective)
    return objective.train()


def test_validation_is_the_plain_loss(tiny_transformer):
    model, batch = tiny_transformer(), collate(SOURCES, TARGETS)
    plain = TranslationObjective(model, 0.0).eval()(batch)
    assert objective_of(model).eval()(batch) == plain


def test_the_seed_decides_and_the_slices_leave_nothing_out(tiny_transformer):
    model, batch = tiny_transformer(), collate(SOURCES, TARGETS)
    objective = objective_of(model, num_samples=2)
    losses = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        loss, num_tokens = objective(batch)
        losses.append(float(loss.detach()))
        assert num_tokens == batch.num_tgt_tokens
    assert losses[0] == losses[1] != losses[2]
    assert [len(references) for _, references in objective._slices(batch)] == [2, 1]
    assert [ids for _, references in objective._slices(batch) for ids in references] == TARGETS


def test_the_value_is_the_mean_reward_and_the_weighted_likelihood(tiny_transformer, monkeypatch):
    model, batch = tiny_transformer(), collate(SOURCES, TARGETS)
    objective = objective_of(model, num_samples=3, likelihood_weight=0.5)
    rewards = []

    def noted(hypothesis, reference):
        rewards.append(sentence_gleu(hypothesis, reference))
        return rewards[-1]

    monkeypatch.setattr("jumok.training.reinforced.sentence_gleu", noted)
    loss, _ = objective(batch)
    likelihood, _ = TranslationObjective(model, 0.0)(batch)
    assert len(rewards) == 9
    assert float(loss.detach()) == pytest.approx(0.5 * float(likelihood.detach()) - sum(rewards) / 3, rel=1e-5)


def test_the_gradient_is_that_of_the_expected_reward(tiny_transformer):
    """With pieces enough to list: all translations of at most 2 pieces, weighted exactly, against many samples."""
    torch.manual_seed(0)
    model = tiny_transformer(vocab_size=7).train()  # two words and an end
    src, reference = [4, 5], [4, 5]
    objective = objective_of(model, num_samples=3000, likelihood_weight=0.0)
    objective._draw = lambda src, _: ReinforcedObjective._draw(objective, src, 2)
    loss, _ = objective(collate([src], [reference]))
    drawn = torch.autograd.grad(loss, model.output_weight)[0]

    words = [i for i in range(7) if i >= 4]
    outcomes = [[EOS_ID], *([w, EOS_ID] for w in words), *(list(p) for p in itertools.product(words, words))]
    expected = torch.zeros(())
    for said in outcomes:
        log_prob = torch.zeros(())
        for place, piece in enumerate(said):
            batch = collate([src], [[i for i in said[:place] if i != EOS_ID]])
            logits = model.project(model(batch.src, batch.tgt_in))[0, place]
            allowed = torch.full((7,), -math.inf)
            allowed[[EOS_ID, *words]] = logits[[EOS_ID, *words]]
            log_prob = log_prob + allowed.log_softmax(-1)[piece]
        expected = expected - log_prob.exp() * sentence_gleu([i for i in said if i != EOS_ID], reference)
    exact = torch.autograd.grad(expected, model.output_weight)[0]
    assert float(loss.detach()) == pytest.approx(float(expected.detach()), abs=0.03)
    cosine = torch.nn.functional.cosine_similarity(drawn[3:].flatten(), exact[3:].flatten(), dim=0)
    assert cosine > 0.97, cosine


def test_the_cost_counts_drawing_and_learning(tiny_transformer):
    model, batch = tiny_transformer(vocab_size=200), collate([[5, 6, 7, 8]] * 4, [[9, 10, 11]] * 4)
    objective = objective_of(model, num_samples=4)
    with FlopCounterMode(display=False) as counter:
        loss, _ = objective(batch)
        loss.backward()
    assert objective.flops(batch) == pytest.approx(counter.get_total_flops(), rel=0.1)
    assert objective.flops(batch) > 10 * training_flops(model, batch)
    assert TranslationObjective(model, 0.0).flops(batch) == training_flops(model, batch)


def test_gradients_are_those_without_bfloat16_nearly(tiny_transformer):
    """Weights that were cast for drawing must not be taken for learning: they have no gradient."""
    model, batch = tiny_transformer(), collate(SOURCES, TARGETS)
    objective = objective_of(model, num_samples=4)
    with torch.autocast("cpu", torch.bfloat16):
        loss, _ = objective(batch)
    loss.backward()
    without = [name for name, parameter in model.named_parameters() if parameter.grad is None]
    assert without == []


def test_samples_are_no_longer_than_the_model_can_take(tiny_transformer):
    model = tiny_transformer(position="learned", max_length=8)
    drawn = objective_of(model, num_samples=2)._draw(torch.tensor([[5, 6, EOS_ID], [7, EOS_ID, PAD_ID]]), 50)
    assert max(len(one.ids) for of_sentence in drawn for one in of_sentence) == 7
