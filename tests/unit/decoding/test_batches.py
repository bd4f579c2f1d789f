from __future__ import annotations

import pytest

from jumok.config import DecodingConfig
from jumok.decoding.batches import search
from jumok.decoding.sampling import Sampling
from jumok.decoding.sentence import Sentence
from jumok.errors import DataError

SOURCES = [[5, 6, 7], [8], [9, 10, 11, 12, 13], [], [5, 6], [7, 7, 7, 7, 7, 7, 7, 7]]
SENTENCES = [Sentence(ids) for ids in SOURCES]


@pytest.mark.parametrize("beam", [1, 3])
def test_results_are_in_the_order_of_the_sources_whatever_the_batches(tiny_transformer, beam):
    model = tiny_transformer()
    together = search(model, SENTENCES, DecodingConfig(beam=beam, max_extra_length=5))
    for batch_tokens in (1, 20, 40):
        split = search(model, SENTENCES, DecodingConfig(beam=beam, max_extra_length=5, batch_tokens=batch_tokens))
        for a, b in zip(together, split, strict=True):
            assert [h.ids for h in a] == [h.ids for h in b]
            assert [h.score for h in a] == pytest.approx([h.score for h in b], abs=1e-4)


def test_no_sources_give_no_results(tiny_transformer):
    assert search(tiny_transformer(), [], DecodingConfig()) == []


def test_a_model_in_training_is_searched_without_dropout_and_goes_on_training(tiny_transformer):
    model = tiny_transformer(dropout=0.5)
    expected = search(model, SENTENCES, DecodingConfig(beam=2, max_extra_length=5))
    model.train()
    assert search(model, SENTENCES, DecodingConfig(beam=2, max_extra_length=5)) == expected
    assert model.training


def test_a_model_in_training_goes_on_training_after_a_failed_search_too(tiny_transformer):
    model = tiny_transformer(position="learned", max_length=8).train()
    with pytest.raises(DataError):
        search(model, [Sentence([5] * 20)], DecodingConfig())
    assert model.training


def test_the_limit_is_the_sources_length_and_max_extra_length(prefix_model):
    model = prefix_model(lambda source, prefix: [0, 0, 0, 0.0, 1.0])
    found = search(model, SENTENCES, DecodingConfig(beam=1, max_extra_length=4))
    assert [len(h[0].ids) for h in found] == [len(source) + 4 for source in SOURCES]
    assert not any(h[0].is_complete for h in found)


def test_learned_positions_are_never_exceeded(tiny_transformer):
    model = tiny_transformer(position="learned", max_length=10)
    for sampling in (None, Sampling(seed=1)):
        found = search(model, SENTENCES, DecodingConfig(beam=2, max_extra_length=50), sampling)
        assert all(len(h.ids) <= 9 for hypotheses in found for h in hypotheses)


def test_sampling_draws_as_many_as_the_beam_is_wide(tiny_transformer):
    found = search(tiny_transformer(), SENTENCES, DecodingConfig(beam=3, max_extra_length=5), Sampling(seed=1))
    assert [len(hypotheses) for hypotheses in found] == [3] * len(SOURCES)


def test_batches_do_not_repeat_each_others_random_numbers(tiny_transformer):
    # The same sentence six times, each a batch by itself: with one seed the draws still have to differ.
    model = tiny_transformer()
    config = DecodingConfig(beam=1, max_extra_length=10, batch_tokens=1)
    found = search(model, [Sentence([5, 6, 7])] * 6, config, Sampling(seed=1))
    assert len({tuple(hypotheses[0].ids) for hypotheses in found}) > 1
    assert search(model, [Sentence([5, 6, 7])] * 6, config, Sampling(seed=1)) == found
