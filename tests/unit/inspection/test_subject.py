"""A sentence is looked at with its own translation or a given one; what cannot be looked at is refused."""

from __future__ import annotations

import pytest
import torch

from jumok.errors import UsageError
from jumok.inspection.search_trace import trace_search
from jumok.inspection.subject import MAX_PIECES, Subject
from jumok.inspection.trace import trace_batch
from jumok.models import build_model
from jumok.models.transformer import Transformer

SOURCE, TARGET = "어제 카페에 갔어요.", "I like the cafe."


@pytest.fixture
def subject(model, tokenizer, run):
    return Subject(model, tokenizer, tokenizer, run.config())


def test_without_a_translation_it_is_the_models_own(subject):
    pair = subject.pair(SOURCE)
    assert pair.tgt_ids == list(subject.search(pair.src_ids)[0].ids)
    assert subject.pair(SOURCE) is pair


def test_a_given_translation_is_shifted_by_one(subject):
    pair = subject.pair(SOURCE, TARGET)
    assert pair.tgt_in_pieces[1:] == pair.tgt_out_pieces[:-1]
    assert (pair.tgt_in_pieces[0], pair.tgt_out_pieces[-1], pair.src_pieces[-1]) == ("<s>", "</s>", "</s>")
    assert subject.text(pair.tgt_ids) == TARGET


def test_a_pass_with_notes_is_the_plain_pass_to_the_bit(subject):
    batch = subject.pair(SOURCE, TARGET).batch
    model = subject.transformer
    with torch.inference_mode():
        plain = model(batch.src, batch.tgt_in)
        hidden, _ = model.forward_with_notes(batch.src, batch.tgt_in)
        assert torch.equal(hidden, plain)
        assert torch.equal(subject.distribution(hidden), subject.log_probs(subject.pair(SOURCE, TARGET)))
    trace_batch(model, subject.src_tokenizer, subject.tgt_tokenizer, batch)
    with torch.inference_mode():
        assert torch.equal(model(batch.src, batch.tgt_in), plain)


@pytest.mark.parametrize(
    "rules", [{}, {"coverage_penalty": 2.0}, {"min_length": 6, "no_repeat_ngram": 2}, {"beam": 1}, {"patience": 2.0}]
)
def test_a_traced_search_is_the_search_under_every_rule(subject, rules):
    decoding = subject.config.decoding.model_copy(update=rules)
    src_ids = subject.source_ids(SOURCE)
    subject.config = subject.config.model_copy(update={"decoding": decoding})
    trace = trace_search(subject.model, src_ids, decoding, subject.max_tgt_length(src_ids))
    assert [one.ids for one in trace.hypotheses] == [one.ids for one in subject.search(src_ids)]


@pytest.mark.parametrize("nothing", ["", "  ", "\n\u3000"])
def test_an_empty_sentence_is_refused(subject, nothing):
    with pytest.raises(UsageError, match="the sentence is empty; write one"):
        subject.pair(nothing)


def test_half_a_character_is_refused(subject):
    with pytest.raises(UsageError, match="the sentence is not UTF-8: it holds half of a character"):
        subject.pair("\udcff")


def test_a_long_sentence_is_refused_with_both_numbers(subject):
    with pytest.raises(UsageError, match=rf"the sentence has \d+ pieces, and {MAX_PIECES} can be looked at together"):
        subject.pair("카페에 " * MAX_PIECES)
    with pytest.raises(UsageError, match="the translation has"):
        subject.pair(SOURCE, "cafe " * 2 * MAX_PIECES)


def test_what_has_a_limit_of_its_own_keeps_to_it(model_config, tokenizer, run):
    limited = model_config.model_copy(update={"position": "learned", "max_length": 12})
    model = build_model(limited, tokenizer.vocab_size, tokenizer.vocab_size, 0)
    subject = Subject(model, tokenizer, tokenizer, run.config())
    with pytest.raises(UsageError, match="and 11 can be looked at together"):
        subject.pair("카페에 " * 12)
    assert subject.max_tgt_length([5] * 9) == 11
    with pytest.raises(UsageError, match="11 forced pieces leave no room: this model says at most 11"):
        subject.max_tgt_length([5], num_forced=11)


def test_only_a_transformer_has_what_a_transformer_has(subject):
    assert isinstance(subject.transformer, Transformer)
    subject.model = torch.nn.Linear(1, 1)
    with pytest.raises(UsageError, match="in a Transformer only; the model is a Linear"):
        _ = subject.transformer
