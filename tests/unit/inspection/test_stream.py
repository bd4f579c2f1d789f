"""The stream after every sub-layer, and what the company of other sentences does to the two norms."""

from __future__ import annotations

import pytest
import torch

from jumok.inspection.stream import compare_norms, stream_of
from jumok.inspection.subject import Subject

SOURCE, TARGET = "어제 카페에 갔어요.", "I like the cafe."


@pytest.fixture
def subject(model, tokenizer, run):
    return Subject(model, tokenizer, tokenizer, run.config())


def test_a_point_for_the_embedding_and_for_each_sub_layer(subject):
    points = stream_of(subject, subject.pair(SOURCE, TARGET))
    assert [point.name for point in points["encoder"]][:3] == ["embedding", "1 self-attention", "1 feed-forward"]
    assert (len(points["encoder"]), len(points["decoder"])) == (1 + 3 * 2, 1 + 2 * 3)
    for point in (*points["encoder"], *points["decoder"]):
        assert point.rms**2 == pytest.approx(point.variance + point.mean**2, rel=1e-4)


def test_the_first_point_is_embedding_and_position_and_the_last_goes_into_the_final_norm(subject):
    pair = subject.pair(SOURCE, TARGET)
    model, points = subject.transformer, stream_of(subject, pair)
    seen = []
    handle = model.decoder.final_norm.register_forward_pre_hook(lambda _, given: seen.append(given[0]))
    with torch.inference_mode():
        model(pair.batch.src, pair.batch.tgt_in)
        embedded = model.src_position(model.src_embedding(pair.batch.src))
    handle.remove()
    assert points["encoder"][0].mean == pytest.approx(float(embedded.mean()), abs=1e-6)
    assert points["decoder"][-1].rms == pytest.approx(float(seen[0].square().mean().sqrt()), rel=1e-5)


def test_company_changes_batch_norm_and_not_layer_norm(subject):
    pair = subject.pair(SOURCE, TARGET)
    found = compare_norms(subject, pair, [pair.src_ids[::-1], pair.src_ids[:2]])
    assert found.layer_norm_change < 1e-5
    assert found.batch_norm_change > 0.01
    assert found.batch_mean_alone != found.batch_mean_beside
