from __future__ import annotations

import numpy as np
import pytest
import torch

from jumok.config import DecodingConfig
from jumok.decoding.batches import search
from jumok.decoding.hypothesis import Hypothesis
from jumok.decoding.look_back import look_back
from jumok.decoding.sentence import Sentence
from jumok.errors import UsageError

SENTENCES = [Sentence([5, 6, 7]), Sentence([]), Sentence([8, 9, 10, 11, 12])]
CONFIG = DecodingConfig(beam=3, max_extra_length=6)


def test_together_is_as_each_alone(tiny_transformer):
    model = tiny_transformer()
    found = search(model, SENTENCES, CONFIG)
    together = look_back(model, SENTENCES, found, CONFIG)
    for sentence, hypotheses, seen in zip(SENTENCES, found, together, strict=True):
        for hypothesis, expected in zip(hypotheses, seen, strict=True):
            (((alone,)),) = look_back(model, [sentence], [[hypothesis]], CONFIG)
            assert alone.piece_log_probs == pytest.approx(expected.piece_log_probs, abs=1e-5)
            np.testing.assert_allclose(alone.attention, expected.attention, atol=1e-6)


@pytest.mark.parametrize(("num_layers", "chosen"), [(1, 0), (2, 0), (3, 1), (6, 4)])
def test_attention_is_the_mean_of_the_heads_of_the_last_layer_but_one(tiny_transformer, num_layers, chosen):
    model = tiny_transformer(decoder_layers=num_layers)
    ((seen,),) = look_back(model, [Sentence([5, 6])], [[Hypothesis([7, 8, 9], 0.0, 0.0)]], CONFIG)
    with torch.no_grad():
        _, weights = model.forward_with_weights(torch.tensor([[5, 6, 3]]), torch.tensor([[2, 7, 8, 9]]))
    np.testing.assert_allclose(seen.attention, weights.cross[chosen][0].mean(dim=0), atol=1e-6)


def test_what_was_cut_off_has_no_end_mark_to_look_back_at(tiny_transformer):
    hypotheses = [Hypothesis([7, 8], 0.0, 0.0), Hypothesis([7, 8], 0.0, 0.0, is_complete=False)]
    ((whole, cut),) = look_back(tiny_transformer(), [Sentence([5, 6])], [hypotheses], CONFIG)
    assert (len(whole.piece_log_probs), len(cut.piece_log_probs)) == (3, 2)
    assert whole.piece_log_probs[:2] == pytest.approx(cut.piece_log_probs)
    assert (whole.attention.shape, cut.attention.shape) == ((3, 3), (2, 3))


def test_without_attention_the_scores_are_the_same(tiny_transformer):
    model = tiny_transformer()
    found = search(model, SENTENCES, CONFIG)
    with_attention = look_back(model, SENTENCES, found, CONFIG)
    for seen, scored in zip(
        with_attention, look_back(model, SENTENCES, found, CONFIG, use_attention=False), strict=True
    ):
        for a, b in zip(seen, scored, strict=True):
            assert b.attention is None
            assert a.piece_log_probs == pytest.approx(b.piece_log_probs, abs=1e-4)


def test_a_model_in_training_is_asked_without_dropout_and_goes_on_training(tiny_transformer):
    model = tiny_transformer(dropout=0.5)
    found = search(model, SENTENCES, CONFIG)
    expected = look_back(model, SENTENCES, found, CONFIG)
    seen = look_back(model.train(), SENTENCES, found, CONFIG)
    assert seen[0][0].piece_log_probs == expected[0][0].piece_log_probs
    assert model.training


def test_nothing_to_look_back_at(tiny_transformer):
    assert look_back(tiny_transformer(), [], [], CONFIG) == []
    assert look_back(tiny_transformer(), [Sentence([5])], [[]], CONFIG) == [[]]


def test_a_model_without_attention_to_the_source_says_so(prefix_model):
    model = prefix_model(lambda source, said: [0, 0, 0, 0.5, 0.5])
    with pytest.raises(
        UsageError,
        match="^PrefixModel has no attention to the source, and so there are no word alignments and no coverage "
        "penalty with this architecture; leave them out$",
    ):
        search(model, [Sentence([5])], DecodingConfig(coverage_penalty=0.2))
