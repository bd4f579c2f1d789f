"""Predictions are the model's own probabilities, and a free run is greedy search."""

from __future__ import annotations

import math

import pytest
import torch

from jumok.inspection.predictions import free_run, label_of, predictions
from jumok.inspection.subject import Subject
from jumok.text.tokenizer import EOS_ID

SOURCE, TARGET = "어제 카페에 갔어요.", "I like the cafe."


@pytest.fixture
def subject(model, tokenizer, run):
    return Subject(model, tokenizer, tokenizer, run.config())


def test_they_are_those_of_the_plain_pass(subject):
    pair = subject.pair(SOURCE, TARGET)
    with torch.inference_mode():
        hidden = subject.model(pair.batch.src, pair.batch.tgt_in)
        probs = subject.model.project(hidden)[0].softmax(dim=-1)
    found = predictions(subject, pair, 3)
    assert len(found) == len(pair.tgt_ids) + 1
    for row, gold, one in zip(probs, [*pair.tgt_ids, EOS_ID], found, strict=True):
        assert [c.probability for c in one.top] == pytest.approx(row.topk(3).values.tolist(), rel=1e-5)
        assert one.gold.piece == gold and one.gold.probability == pytest.approx(float(row[gold]), rel=1e-5)
        assert one.gold.label == label_of(subject, gold)
        assert one.entropy == pytest.approx(float(-(row * row.log2()).sum()), rel=1e-4)


def test_no_more_candidates_than_pieces(subject):
    found = predictions(subject, subject.pair(SOURCE, TARGET), 10**6)
    assert len(found[0].top) == subject.tgt_tokenizer.vocab_size


def test_a_free_run_is_greedy_search(subject):
    src_ids = subject.source_ids(SOURCE)
    greedy = subject.search(src_ids, subject.config.decoding.model_copy(update={"beam": 1}))[0]
    said, ids = free_run(subject, src_ids)
    assert ids == list(greedy.ids)
    total = sum(math.log(one.says.probability) for one in said)
    assert total == pytest.approx(greedy.log_prob, abs=1e-3)
    assert said[0].reads == "<s>" and [one.reads for one in said[1:]] == [one.says.label for one in said[:-1]]


def test_what_is_put_in_its_mouth_is_said_first(subject):
    src_ids, begin = subject.source_ids(SOURCE), subject.tgt_tokenizer.encode(["the sea"])[0]
    said, ids = free_run(subject, src_ids, begin)
    assert ids[: len(begin)] == begin and len(said) >= len(begin)
