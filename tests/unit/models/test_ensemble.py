"""An ensemble is one model: alone it is its member, of two it is the mean of their probabilities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from jumok.config import DecodingConfig
from jumok.decoding.batches import search
from jumok.decoding.sentence import Sentence
from jumok.errors import UsageError
from jumok.models.ensemble import Ensemble
from jumok.models.transformer import Transformer
from jumok.text.tokenizer import BOS_ID, PAD_ID

SENTENCES = [Sentence(ids) for ids in ([5, 6, 7], [8], [9, 10, 11, 12, 13], [7, 7, 7, 7, 7, 7, 7, 7])]
DECODING = DecodingConfig(beam=3, max_extra_length=5)
SRC = torch.tensor([[5, 6, 7, 3], [8, 3, PAD_ID, PAD_ID]])

Make = Callable[..., Transformer]


def test_of_one_is_that_model_bit_for_bit_in_beam_search(tiny_transformer: Make) -> None:
    model = tiny_transformer()
    assert search(Ensemble([model]), SENTENCES, DECODING) == search(model, SENTENCES, DECODING)


def test_of_a_model_with_itself_says_what_the_model_says(tiny_transformer: Make) -> None:
    model = tiny_transformer()
    alone, twice = (search(of, SENTENCES, DECODING) for of in (model, Ensemble([model, model])))
    for one, two in zip(alone, twice, strict=True):
        assert [h.ids for h in one] == [h.ids for h in two]
        assert [h.score for h in one] == pytest.approx([h.score for h in two], abs=1e-5)


def test_of_two_has_the_mean_probabilities_at_every_step(tiny_transformer: Make) -> None:
    models = tiny_transformer(seed=1), tiny_transformer(seed=2, encoder_layers=1, norm="pre", d_model=8)
    ensemble = Ensemble(models)
    states, state = [model.start(SRC) for model in models], ensemble.start(SRC)
    rows = torch.tensor([1, 1, 0, 0])  # sentences change places, and each has two rows
    states, state = [of.select(rows) for of in states], state.select(rows)
    last = torch.full((4,), BOS_ID)
    for next_ids in ([5, 6, 7, 8], [9, 9, 5, 4]):
        steps = [model.step(last, of) for model, of in zip(models, states, strict=True)]
        log_probs, state = ensemble.step(last, state)
        states = [of for _, of in steps]
        torch.testing.assert_close(log_probs.exp(), (steps[0][0].exp() + steps[1][0].exp()) / 2)
        last = torch.tensor(next_ids)


def test_a_search_is_by_the_mean(prefix_model: Any) -> None:
    """Piece 4 is the choice of one model, piece 5 of another, piece 6 the second of both: together they say 6."""
    one = prefix_model(lambda source, prefix: [0, 0, 0, 1.0, 0, 0, 0] if prefix else [0, 0, 0, 0, 0.6, 0.0, 0.4])
    two = prefix_model(lambda source, prefix: [0, 0, 0, 1.0, 0, 0, 0] if prefix else [0, 0, 0, 0, 0.0, 0.6, 0.4])
    found = search(Ensemble([one, two]), [Sentence([9])], DecodingConfig(beam=1))
    assert [h.ids for h in found[0]] == [[6]]
    assert found[0][0].log_prob == pytest.approx(torch.tensor(0.4).log().item())


def test_teacher_forced_it_predicts_as_step_by_step(tiny_transformer: Make) -> None:
    models = tiny_transformer(seed=1), tiny_transformer(seed=2)
    ensemble = Ensemble(models)
    tgt = torch.tensor([[BOS_ID, 5, 6], [BOS_ID, 9, 4]])
    logits = ensemble.project(ensemble(SRC, tgt))
    state = ensemble.start(SRC)
    for place in range(3):
        log_probs, state = ensemble.step(tgt[:, place], state)
        torch.testing.assert_close(logits[:, place].log_softmax(-1), log_probs, atol=1e-5, rtol=1e-4)


def test_it_looks_where_its_models_look_in_the_mean(tiny_transformer: Make) -> None:
    models = tiny_transformer(seed=1), tiny_transformer(seed=2)
    tgt = torch.tensor([[BOS_ID, 5, 6], [BOS_ID, 9, 4]])
    log_probs, alignment = Ensemble(models).forward_with_alignment(SRC, tgt)
    one, two = (model.forward_with_alignment(SRC, tgt)[1] for model in models)
    torch.testing.assert_close(alignment, (one + two) / 2)
    torch.testing.assert_close(alignment.sum(dim=-1), torch.ones(2, 3))
    torch.testing.assert_close(log_probs, Ensemble(models)(SRC, tgt))


def test_its_limit_is_the_shortest(tiny_transformer: Make) -> None:
    endless, short = tiny_transformer(), tiny_transformer(position="learned", max_length=12)
    longer = tiny_transformer(position="learned", max_length=20)
    assert Ensemble([endless]).max_length is None
    assert Ensemble([longer, endless, short]).max_length == 12


def test_all_members_are_its_parts(tiny_transformer: Make) -> None:
    models = [tiny_transformer(seed=1), tiny_transformer(seed=2)]
    ensemble = Ensemble(models).train()
    assert all(model.training for model in models)
    assert ensemble.num_parameters() == sum(model.num_parameters() for model in models)


def test_other_target_vocabularies_are_refused(tiny_transformer: Make) -> None:
    with pytest.raises(UsageError, match="^models of 23 and 29 target pieces cannot predict together$"):
        Ensemble([tiny_transformer(), tiny_transformer(vocab_size=29)])


def test_it_has_no_output_weights_to_train(tiny_transformer: Make) -> None:
    with pytest.raises(TypeError, match="no output weights of its own; train its models one by one$"):
        _ = Ensemble([tiny_transformer()]).output_weight
