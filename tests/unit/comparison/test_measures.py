"""The figures, against hand-made cases and against sacreBLEU's own."""

from __future__ import annotations

import math
import random

import pytest

from jumok.comparison.measures import (
    bleu_by_length,
    curve,
    difference,
    last_event,
    length_bins,
    measure_machine,
    perplexity,
    training_speed,
)
from jumok.config import TrainingConfig
from jumok.evaluation.scores import score

WORDS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]


def sentences(count: int, seed: int) -> list[str]:
    rng = random.Random(seed)
    return [" ".join(rng.choices(WORDS, k=rng.randint(4, 12))) for _ in range(count)]


def damaged(texts: list[str], share: float, seed: int) -> list[str]:
    rng = random.Random(seed)
    return [" ".join("?" if rng.random() < share else word for word in text.split()) for text in texts]


def test_difference_is_that_of_the_scores_and_lies_in_its_interval() -> None:
    references = sentences(200, seed=1)
    good, bad = damaged(references, 0.1, seed=2), damaged(references, 0.4, seed=3)
    found = difference(good, bad, references, "en")
    expected = score(good, references, "en")[0].value - score(bad, references, "en")[0].value
    assert found.bleu == pytest.approx(expected)
    assert 0 < found.low < found.bleu < found.high
    assert found.p_value == pytest.approx(1 / 1001)
    back = difference(bad, good, references, "en")
    assert (back.bleu, back.low, back.high) == pytest.approx((-found.bleu, -found.high, -found.low))


def test_difference_by_chance_has_an_interval_with_zero() -> None:
    references = sentences(100, seed=1)
    one, other = damaged(references, 0.2, seed=2), damaged(references, 0.2, seed=3)
    found = difference(one, other, references, "en")
    assert found.low < 0 < found.high
    assert found.p_value > 0.05


def test_no_difference_is_certain() -> None:
    references = sentences(50, seed=1)
    found = difference(references, references, references, "en")
    assert (found.bleu, found.low, found.high, found.p_value) == (0.0, 0.0, 0.0, 1.0)


def test_bins_hold_enough_and_all() -> None:
    rng = random.Random(0)
    lengths = [min(40, int(rng.expovariate(0.15)) + 1) for _ in range(1000)]
    bins = length_bins(lengths)
    assert 3 <= len(bins) <= 8
    assert bins[0][0] == min(lengths) and bins[-1][1] == max(lengths)
    for (low, high), following in zip(bins, [*bins[1:], None], strict=True):
        assert low <= high
        assert following is None or following[0] == high + 1
        assert sum(low <= length <= high for length in lengths) >= 30


def test_few_sentences_are_one_bin() -> None:
    assert length_bins([3, 9, 5]) == [(3, 9)]


def test_few_long_ones_join_the_last_bin() -> None:
    assert length_bins([2] * 40 + [3] * 40 + [9]) == [(2, 2), (3, 9)]


def test_bleu_by_length_sees_where_it_fails() -> None:
    sources = ["a b c d e"] * 40 + ["a b c d e f g h"] * 40
    translations = ["a b c d e"] * 40 + ["x y z"] * 40
    short, long = bleu_by_length(sources, translations, sources, ("en", "en"))
    assert (short.from_words, short.to_words, short.num_sentences, short.bleu) == (5, 5, 40, 100.0)
    assert (long.from_words, long.to_words, long.num_sentences) == (6, 8, 40)
    assert (short.words, long.words) == ("5", "6–8")
    assert long.bleu < 1


EVENTS = [
    {"event": "train", "step": 1, "tokens_per_second": 10.0},
    {"event": "train", "step": 2, "tokens_per_second": 1000.0},
    {"event": "train", "step": 3, "tokens_per_second": 30.0},
    {"event": "validate", "step": 5, "seconds": 7.0, "flops": 50.0, "loss": 2.0, "bleu": 3.0},
    {"event": "layers", "step": 5, "layers": []},
    {"event": "validate", "step": 10, "seconds": 15.0, "flops": 100.0, "loss": 1.0, "bleu": 9.0},
    {"event": "layers", "step": 10, "layers": [1]},
    {"event": "model", "step": 10, "chosen": "step 10", "loss": 1.5},
]


def test_what_a_training_noted() -> None:
    assert training_speed(EVENTS) == 30.0
    assert perplexity(EVENTS) == pytest.approx(math.exp(1.5))
    assert [(point.flops, point.seconds, point.bleu) for point in curve(EVENTS)] == [(50, 7, 3), (100, 15, 9)]
    assert [(point.flops, point.seconds) for point in curve(EVENTS, 25.0, 8.0)] == [(75, 15), (125, 23)]
    assert last_event(EVENTS, "layers") == EVENTS[6]
    assert training_speed([]) is None and perplexity([]) is None and last_event([], "layers") is None


def test_machine_names_its_device_and_keeps_the_threads() -> None:
    import torch

    before = torch.get_num_threads()
    machine = measure_machine(TrainingConfig(device="cpu", threads=1, batch_tokens=64), d_model=32)
    assert (machine.device, machine.num_devices) == ("cpu, 1 threads", 1)
    assert machine.sustained_flops > 1e6
    assert torch.get_num_threads() == before
