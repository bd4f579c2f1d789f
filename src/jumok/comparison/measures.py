"""The figures of a comparison: scores by length and against the baseline, speed, and what the machine can do."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sacrebleu.metrics import BLEU

from jumok.comparison.results import CurvePoint, Difference, LengthScore, Machine
from jumok.config import TrainingConfig
from jumok.evaluation.cost import sustained_flops
from jumok.evaluation.scores import bleu_tokenizer, score
from jumok.nn.device import choose_device
from jumok.text.languages import language
from jumok.translator import Translator

_NUM_SAMPLES = 1000  # of the bootstrap
_LEAST_OF_A_BIN = 30  # sentences, fewer say nothing
_NUM_BINS = 8  # at most
_NUM_TIMED, _NUM_WARM = 200, 16  # sentences


def difference(
    hypotheses: Sequence[str], baseline: Sequence[str], references: Sequence[str], target: str, seed: int = 1
) -> Difference:
    """BLEU less the baseline's, its 95 % interval and the chance that it is none, by paired bootstrap.

    Both systems are scored on the same sentences, drawn again and again with replacement. What BLEU counts is
    counted once a sentence, so that a drawn test set is a sum.

    Paper: Koehn 2004.
    Differs: p is two-sided, so that it is below 0.05 about where the interval leaves 0.
    """
    metric = BLEU(tokenize=bleu_tokenizer(target)[0])
    counts = [_sentence_counts(metric, texts, references) for texts in (hypotheses, baseline)]
    own, others = (_bleu(metric, each.sum(axis=0)) for each in counts)
    if counts[0].tolist() == counts[1].tolist():
        return Difference(0.0, 0.0, 0.0, 1.0)
    generator = np.random.default_rng(seed)
    samples = np.empty(_NUM_SAMPLES)
    for i in range(_NUM_SAMPLES):
        rows = generator.integers(len(references), size=len(references))
        samples[i] = _bleu(metric, counts[0][rows].sum(axis=0)) - _bleu(metric, counts[1][rows].sum(axis=0))
    low, high = np.percentile(samples, [2.5, 97.5])
    num_extreme = int((np.abs(samples - samples.mean()) >= abs(own - others)).sum())
    return Difference(own - others, float(low), float(high), (num_extreme + 1) / (_NUM_SAMPLES + 1))


def _sentence_counts(metric: BLEU, hypotheses: Sequence[str], references: Sequence[str]) -> NDArray[np.int64]:
    """Lengths and matches of every sentence, a row each."""
    return np.array(metric._extract_corpus_statistics(list(hypotheses), [list(references)]), dtype=np.int64)


def _bleu(metric: BLEU, counts: NDArray[np.int64]) -> float:
    return float(metric._compute_score_from_stats(counts.tolist()).score)


# --- by length ---------------------------------------------------------------------------------------------------


def length_bins(lengths: Sequence[int]) -> list[tuple[int, int]]:
    """Ranges of length, both ends included, that hold about equally many sentences, and enough of them."""
    wanted = max(_LEAST_OF_A_BIN, math.ceil(len(lengths) / _NUM_BINS))
    bins: list[tuple[int, int]] = []
    counts = np.bincount(lengths)
    first, held = int(min(lengths)), 0
    for length in range(first, len(counts)):
        held += int(counts[length])
        if held >= wanted:
            bins.append((first, length))
            first, held = length + 1, 0
    if held >= _LEAST_OF_A_BIN or not bins:
        bins.append((first, len(counts) - 1))
    elif held:  # too few are longer: they belong to the last range
        bins[-1] = (bins[-1][0], len(counts) - 1)
    return bins


def bleu_by_length(
    sources: Sequence[str], hypotheses: Sequence[str], references: Sequence[str], languages: tuple[str, str]
) -> tuple[LengthScore, ...]:
    """BLEU of the sentences of each range of source lengths."""
    lengths = [language(languages[0]).length_of(text) for text in sources]
    scores = []
    for low, high in length_bins(lengths):
        rows = [row for row, length in enumerate(lengths) if low <= length <= high]
        bleu, _ = score([hypotheses[row] for row in rows], [references[row] for row in rows], languages[1])
        scores.append(LengthScore(low, high, len(rows), round(bleu.value, 2)))
    return tuple(scores)


# --- what the training noted -------------------------------------------------------------------------------------


def curve(events: Sequence[dict[str, Any]], flops: float = 0, seconds: float = 0) -> tuple[CurvePoint, ...]:
    """Validation BLEU against cost; `flops` and `seconds` are what was spent before."""
    return tuple(
        CurvePoint(flops + event["flops"], seconds + event["seconds"], event["bleu"])
        for event in events
        if event["event"] == "validate" and "bleu" in event
    )


def last_event(events: Sequence[dict[str, Any]], kind: str) -> dict[str, Any] | None:
    """The newest event of a kind."""
    return next((event for event in reversed(events) if event["event"] == kind), None)


def perplexity(events: Sequence[dict[str, Any]]) -> float | None:
    """Of the model to use on the validation set, a piece."""
    chosen = last_event(events, "model")
    return math.exp(min(chosen["loss"], 50.0)) if chosen is not None else None


def training_speed(events: Sequence[dict[str, Any]]) -> float | None:
    """Target pieces a second in an update of middling speed; validations and savings are not part of one."""
    speeds = [event["tokens_per_second"] for event in events if event["event"] == "train"]
    return median(speeds) if speeds else None


# --- speed -------------------------------------------------------------------------------------------------------


def translation_speed(runs: Sequence[Path], sources: Sequence[str], device: str) -> float:
    """Sentences a second with the beam of the run, by our own search whatever the model."""
    translator = Translator.load(*runs, engine="torch", device=device)
    texts = [sources[i * len(sources) // _NUM_TIMED] for i in range(_NUM_TIMED)]  # from all over the set
    translator.translate(texts[:_NUM_WARM])
    started = time.perf_counter()
    translator.translate(texts)
    return len(texts) / (time.perf_counter() - started)


def measure_machine(training: TrainingConfig, d_model: int) -> Machine:
    """The device that a training runs on, and the FLOPS that it sustains in a product of that training's size."""
    device = choose_device(training.device)
    num_threads = torch.get_num_threads()
    torch.set_num_threads(training.threads or num_threads)
    sustained = sustained_flops(device, training.batch_tokens, d_model)
    name = device.type if device.type != "cpu" else f"cpu, {torch.get_num_threads()} threads"
    torch.set_num_threads(num_threads)
    return Machine(name, 1, sustained)
