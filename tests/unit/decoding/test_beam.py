"""Searches whose every probability is written down, so that the right answer is known."""

from __future__ import annotations

import math

import pytest
import torch

from jumok.decoding.beam import beam_search
from jumok.decoding.length_penalty import length_penalty

A, B, C = 4, 5, 6
SRC = torch.tensor([[9, 3]])


def _next(eos: float, *words: float, special: float = 0.0) -> list[float]:
    """Probabilities of the next piece: pad, unk, bos, eos, then the words."""
    return [special, special, special, eos, *words]


def _table(rows: dict[tuple[int, ...], list[float]], otherwise: list[float]):
    return lambda source, prefix: rows.get(prefix, otherwise)


def test_greedy_takes_the_likeliest_piece_each_time(prefix_model):
    model = prefix_model(_table({(): _next(0.1, 0.5, 0.4), (A,): _next(0.3, 0.3, 0.4)}, _next(0.8, 0.1, 0.1)))
    ((best,),) = beam_search(model, SRC, 1, 0.0, [10])
    assert best.ids == [A, B]
    assert best.log_prob == pytest.approx(math.log(0.5 * 0.4 * 0.8))
    assert best.is_complete


def test_a_beam_of_two_finds_what_greedy_misses(prefix_model):
    # Greedy begins with A (0.5) and ends at 0.5·0.4 = 0.2; B (0.4) ends at once with 0.9: 0.36.
    model = prefix_model(
        _table({(): _next(0.1, 0.5, 0.4), (A,): _next(0.4, 0.3, 0.3), (B,): _next(0.9, 0.05, 0.05)}, _next(1, 0, 0))
    )
    ((greedy,),) = beam_search(model, SRC, 1, 0.0, [10])
    ((best, *_),) = beam_search(model, SRC, 2, 0.0, [10])
    assert (greedy.ids, best.ids) == ([A], [B])
    assert best.log_prob == pytest.approx(math.log(0.36))


def test_scores_are_log_probabilities_over_the_penalty_of_pieces_and_end_mark(prefix_model):
    model = prefix_model(_table({(): _next(0.0, 1.0)}, _next(0.5, 0.5)))
    ((best, *_),) = beam_search(model, SRC, 2, 0.6, [3])
    assert best.ids == [A]
    assert best.log_prob == pytest.approx(math.log(0.5))
    assert best.score == pytest.approx(math.log(0.5) / length_penalty(2, 0.6))


def test_the_length_penalty_can_turn_the_ranking_round(prefix_model):
    # "" has 0.30; "A" has 0.7·0.4 = 0.28. With α = 1 the score of "A" is ln 0.28 / (7/6) > ln 0.30.
    rows = {(): _next(0.3, 0.7), (A,): _next(0.4, 0.6)}
    model = prefix_model(_table(rows, _next(0.01, 0.99)))
    ((first, second),) = beam_search(model, SRC, 2, 0.0, [2])
    assert (first.ids, second.ids) == ([], [A])
    ((first, second),) = beam_search(model, SRC, 2, 1.0, [2])
    assert (first.ids, second.ids) == ([A], [])


def test_what_reaches_the_length_limit_is_cut_off_and_says_so(prefix_model):
    model = prefix_model(lambda source, prefix: _next(0.0, 0.6, 0.4))
    ((best,),) = beam_search(model, SRC, 1, 0.6, [3])
    assert best.ids == [A, A, A]
    assert not best.is_complete
    assert best.log_prob == pytest.approx(3 * math.log(0.6))


def test_each_sentence_has_its_own_limit(prefix_model):
    model = prefix_model(lambda source, prefix: _next(0.0, 0.6, 0.4))
    found = beam_search(model, torch.tensor([[9, 3], [8, 3], [7, 3]]), 2, 0.6, [3, 1, 5])
    assert [len(hypotheses[0].ids) for hypotheses in found] == [3, 1, 5]


def test_finished_hypotheses_rank_before_those_that_were_cut_off(prefix_model):
    # "AA" is cut off at 0.9·0.9, far likelier than the finished "" at 0.1, but nobody knows how it would have ended.
    model = prefix_model(lambda source, prefix: _next(0.1, 0.9))
    ((first, second, *rest),) = beam_search(model, SRC, 4, 0.0, [2])
    assert [first.ids, second.ids] == [[], [A]]
    assert first.is_complete and second.is_complete
    assert [(h.ids, h.is_complete) for h in rest] == [([A, A], False)]


def test_special_pieces_are_never_said_however_likely(prefix_model):
    model = prefix_model(lambda source, prefix: _next(0.05, 0.03, 0.02, special=0.3))
    for beam in (1, 3):
        for hypothesis in beam_search(model, SRC, beam, 0.0, [4])[0]:
            assert set(hypothesis.ids) <= {A, B}


def test_impossible_hypotheses_are_never_returned(prefix_model):
    # Only one translation has a probability at all; a beam of five returns it alone.
    model = prefix_model(_table({(): _next(0.0, 1.0, 0.0), (A,): _next(0.0, 0.0, 1.0)}, _next(1.0, 0.0, 0.0)))
    ((only,),) = beam_search(model, SRC, 5, 0.6, [10])
    assert only.ids == [A, B]
    assert only.log_prob == 0


@pytest.mark.parametrize("beam", [6, 20, 100])
def test_a_beam_wider_than_the_vocabulary_works(prefix_model, beam):
    model = prefix_model(lambda source, prefix: _next(0.5, 0.3, 0.2))
    (found,) = beam_search(model, SRC, beam, 0.0, [5])
    assert [h.ids for h in found[:3]] == [[], [A], [B]]
    assert len({tuple(h.ids) for h in found}) == len(found)


def test_rows_of_sentences_that_are_done_leave_the_batch(prefix_model):
    # The first piece of the source says how long the translation becomes.
    def probabilities(source, prefix):
        return _next(1.0, 0.0) if len(prefix) >= source[0] - 10 else _next(0.0, 1.0)

    model = prefix_model(probabilities)
    found = beam_search(model, torch.tensor([[12, 3], [15, 3], [10, 3]]), 1, 0.6, [20, 20, 20])
    assert [len(hypotheses[0].ids) for hypotheses in found] == [2, 5, 0]
    assert model.num_rows_stepped == [3, 2, 2, 1, 1, 1]


def test_a_sentence_is_done_when_as_many_have_ended_as_the_beam_is_wide(prefix_model):
    # α = 0, beam 2. "" ends at 0.3, "B" at 0.09; then nobody waits for "AA", which would have ended at 0.54.
    rows = {
        (): _next(0.3, 0.6, 0.1),
        (A,): _next(0.03, 0.92, 0.05),
        (B,): _next(0.9, 0.05, 0.05),
        (A, A): _next(0.98, 0.01, 0.01),
    }
    model = prefix_model(_table(rows, _next(0.98, 0.01, 0.01)))
    (found,) = beam_search(model, SRC, 2, 0.0, [10])
    assert [hypothesis.ids for hypothesis in found] == [[], [B]]
    assert len(model.num_rows_stepped) == 2


def test_of_those_that_end_in_the_last_step_the_best_are_returned(prefix_model):
    # "" ends at 0.3, then "A" (0.4) and "B" (0.29) end in one step: three in a beam of 2.
    model = prefix_model(_table({(): _next(0.3, 0.4, 0.29, 0.01)}, _next(1.0, 0.0, 0.0, 0.0)))
    (found,) = beam_search(model, SRC, 2, 0.0, [10])
    assert [hypothesis.ids for hypothesis in found] == [[A], []]
    (found,) = beam_search(model, SRC, 2, 1.0, [10])
    assert [hypothesis.ids for hypothesis in found] == [[A], [B]]


def test_patience_waits_for_more_ends(prefix_model):
    """Two early ends fill a beam of two; the better one comes a step later."""
    rows = {
        (): _next(0.3, 0.7),
        (A,): _next(0.35, 0.65),
        (A, A): _next(0.99, 0.01),
    }
    at_once = beam_search(prefix_model(_table(rows, _next(0.5, 0.5))), SRC, 2, 2.0, [10])[0]
    patient = beam_search(prefix_model(_table(rows, _next(0.5, 0.5))), SRC, 2, 2.0, [10], patience=1.5)[0]
    assert sorted(one.ids for one in at_once) == [[], [A]]
    assert patient[0].ids == [A, A]
    assert len(patient) == 2
