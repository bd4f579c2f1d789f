"""A watched search is the plain search, and the tree it leaves spells what it found."""

from __future__ import annotations

import pytest
import torch

from jumok.config import DecodingConfig
from jumok.decoding.batches import search
from jumok.decoding.sentence import Sentence
from jumok.inspection.search_trace import SearchTrace, trace_search
from jumok.text.tokenizer import EOS_ID


@pytest.fixture(params=[1, 3])
def config(request: pytest.FixtureRequest) -> DecodingConfig:
    return DecodingConfig(beam=request.param, length_penalty=0.6, max_extra_length=12)


def _pieces(trace: SearchTrace, number: int) -> list[int]:
    nodes = {one.number: one for step in trace.steps for one in step}
    pieces: list[int] = []
    at: int | None = number
    while at is not None:
        pieces.insert(0, nodes[at].piece)
        at = nodes[at].parent
    return pieces


@pytest.mark.parametrize("seed", range(4))
def test_watching_changes_nothing(tiny_transformer, config, seed):
    model = tiny_transformer(seed=seed)
    ids = torch.randint(4, 23, (5,), generator=torch.Generator().manual_seed(seed)).tolist()
    (plain,) = search(model, [Sentence(ids)], config)
    assert trace_search(model, ids, config, len(ids) + 12).hypotheses == plain


def test_the_tree_spells_every_hypothesis_with_its_probability(tiny_transformer, config):
    trace = trace_search(tiny_transformer(seed=2), [5, 6, 7], config, 15)
    nodes = {one.number: one for step in trace.steps for one in step}
    ended = {tuple(_pieces(trace, n)): one for n, one in nodes.items() if one.status == "finished"}
    for hypothesis in trace.hypotheses:
        if hypothesis.is_complete:
            node = ended[(*hypothesis.ids, EOS_ID)]
            assert node.total == pytest.approx(hypothesis.log_prob) and node.score == pytest.approx(hypothesis.score)
    for one in nodes.values():
        before = 0.0 if one.parent is None else nodes[one.parent].total
        assert one.total == pytest.approx(before + one.log_prob, abs=1e-4)
        assert one.parent is None or nodes[one.parent].status == "kept"


def test_each_step_keeps_as_many_as_the_beam_is_wide_and_prunes_worse_ones(tiny_transformer, config):
    trace = trace_search(tiny_transformer(seed=1), [5, 6, 7, 8], config, 9)
    for step in trace.steps:
        kept = [one.total for one in step if one.status == "kept"]
        pruned = [one.total for one in step if one.status == "pruned" and one.piece != EOS_ID]
        assert len(kept) <= config.beam
        assert not pruned or min(kept) >= max(pruned)


def test_the_chosen_way_is_the_best_hypothesis(tiny_transformer, config):
    trace = trace_search(tiny_transformer(seed=3), [9, 6], config, 10)
    best = trace.hypotheses[0]
    pieces = _pieces(trace, trace.chosen[-1])
    assert pieces == [*best.ids, *([EOS_ID] if best.is_complete else [])]
    assert len(trace.chosen) == len(pieces)


def test_a_forced_beginning_is_kept(tiny_transformer, config):
    trace = trace_search(tiny_transformer(seed=3), [9, 6], config, 10, prefix=[11, 12])
    assert all(hypothesis.ids[:2] == [11, 12] for hypothesis in trace.hypotheses)
    assert {one.piece for one in trace.steps[0]} == {11}
