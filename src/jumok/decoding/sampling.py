"""Drawing translations at random, by temperature, top-k and top-p.

Paper: Fan et al. 2018 (top-k); Holtzman et al. 2020 (top-p).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from jumok.decoding.hypothesis import Hypothesis
from jumok.decoding.rules import Rules
from jumok.errors import UsageError
from jumok.models.interface import TranslationModel
from jumok.text.tokenizer import BOS_ID, EOS_ID


@dataclass(frozen=True)
class Sampling:
    """How to draw: from a flatter or sharper distribution, from its k likeliest pieces, from its likeliest mass p."""

    temperature: float = 1.0
    top_k: int = 0  # 0: no limit
    top_p: float = 1.0
    seed: int | None = None

    def __post_init__(self) -> None:
        if not 0 < self.temperature < math.inf:
            raise UsageError(
                f"temperature = {self.temperature} must be above 0 and finite; use beam 1 for the likeliest pieces"
            )
        if self.top_k < 0:
            raise UsageError(f"top_k = {self.top_k} must not be negative; 0 means no limit")
        if not 0 < self.top_p <= 1:
            raise UsageError(f"top_p = {self.top_p} must be above 0 and at most 1")

    def generator(self, device: torch.device) -> torch.Generator:
        """The source of random numbers for one call, however many batches it takes."""
        generator = torch.Generator(device=device)
        if self.seed is None:
            generator.seed()
        else:
            generator.manual_seed(self.seed)
        return generator


@torch.inference_mode()
def sample(
    model: TranslationModel,
    src: Tensor,
    sampling: Sampling,
    num_samples: int,
    max_lengths: list[int],
    generator: torch.Generator | None = None,
    rules: Rules | None = None,
) -> list[list[Hypothesis]]:
    """`num_samples` independent draws for each source row (B, S), likeliest first.

    Several batches of one call share a `generator`, or each would repeat the numbers of the first.
    """
    generator = generator or sampling.generator(src.device)
    rules = rules or Rules()
    sentences = range(src.size(0))
    num_rows = src.size(0) * num_samples
    state = model.start(src).select(torch.arange(src.size(0), device=src.device).repeat_interleave(num_samples))
    said = torch.full((num_rows, 1), BOS_ID, device=src.device)  # (B·N, 1 + length), also behind an end
    limits = torch.tensor(max_lengths).repeat_interleave(num_samples).tolist()
    ids: list[list[int]] = [[] for _ in range(num_rows)]
    log_probs = [0.0] * num_rows
    has_ended = [False] * num_rows

    for length in range(1, max(limits) + 1):
        step_log_probs, state = model.step(said[:, -1], state)
        by_sentence = (len(sentences), num_samples, -1)
        rules.apply(step_log_probs.view(by_sentence), said.view(by_sentence), sentences)
        weights = _shape(step_log_probs, sampling).softmax(dim=-1)
        last_ids = torch.multinomial(weights, 1, generator=generator)[:, 0]
        said = torch.cat((said, last_ids[:, None]), dim=1)
        drawn_log_probs = step_log_probs.gather(1, last_ids[:, None])[:, 0].tolist()
        for row, (piece, log_prob) in enumerate(zip(last_ids.tolist(), drawn_log_probs, strict=True)):
            if has_ended[row] or length > limits[row]:
                continue
            log_probs[row] += log_prob
            if piece == EOS_ID:
                has_ended[row] = True
            else:
                ids[row].append(piece)
        if all(has_ended[row] or length >= limits[row] for row in range(num_rows)):
            break

    drawn = [Hypothesis(i, p, p, e) for i, p, e in zip(ids, log_probs, has_ended, strict=True)]
    groups = [drawn[start : start + num_samples] for start in range(0, num_rows, num_samples)]
    return [sorted(group, key=lambda hypothesis: -hypothesis.score) for group in groups]


def _shape(log_probs: Tensor, sampling: Sampling) -> Tensor:
    """Log-probabilities after temperature, with everything outside top-k and top-p at −∞."""
    scores = log_probs / sampling.temperature
    if sampling.top_k:
        smallest = scores.topk(min(sampling.top_k, scores.size(-1))).values[:, -1:]
        scores = scores.masked_fill(scores < smallest, -math.inf)
    if sampling.top_p < 1:
        ordered, places = scores.sort(dim=-1, descending=True)
        probs = ordered.softmax(dim=-1)
        is_outside = probs.cumsum(dim=-1) - probs >= sampling.top_p  # the piece that crosses p stays
        scores = scores.masked_fill(is_outside.scatter(1, places, is_outside), -math.inf)
    return scores
