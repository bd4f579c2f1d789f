"""Likelihood mixed with the expected reward of the model's own translations: the refinement of a trained model.

Paper: Wu et al. 2016, section 5, equations 8 and 9: O = α · Σ log P(Y*|X) + Σ_X Σ_Y P(Y|X) · r(Y, Y*), with the GLEU
of a sentence as reward r, of which the mean over the sentence's samples is taken away; 15 samples, α = 0.017.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from jumok.config import TrainingConfig
from jumok.data.batching import Batch
from jumok.decoding.hypothesis import Hypothesis
from jumok.decoding.sampling import Sampling, sample
from jumok.evaluation.cost import forward_flops
from jumok.evaluation.gleu import sentence_gleu
from jumok.models.interface import BatchShape, TranslationModel
from jumok.text.tokenizer import BOS_ID, EOS_ID, PAD_ID
from jumok.training.objective import TranslationObjective

_MAX_EXTRA_LENGTH = 10  # pieces that a sample may have above the longest reference of its batch


class ReinforcedObjective(TranslationObjective):
    """Say more often what scored above the mean of what you said, and less often what scored below."""

    def __init__(self, model: TranslationModel, config: TrainingConfig) -> None:
        super().__init__(model, config.label_smoothing)
        self.likelihood_weight = config.likelihood_weight
        self.num_samples = config.num_samples
        self._flops = 0  # of the samples of the last batch, whose lengths nobody knows before they are drawn

    def forward(self, batch: Batch) -> tuple[Tensor, int]:
        """The objective with its sign turned; the plain loss when it is for validation.

        Paper: Williams 1992 (REINFORCE): the gradient of the expected reward is that of Σ (r − mean) · log P(Y|X).
        Differs: samples are drawn without dropout, but learned from with it; Wu et al. refine without any.
        """
        likelihood, num_tokens = super().forward(batch)
        if not self.training:
            return likelihood, num_tokens
        loss = self.likelihood_weight * likelihood
        self._flops = 0
        for src, references in self._slices(batch):
            loss = loss + self._negative_reward(src, references)
        return loss, num_tokens

    def flops(self, batch: Batch) -> int:
        """The plain pass over the references, and all that was done with the samples of this batch, the last one."""
        return super().flops(batch) + self._flops

    def _slices(self, batch: Batch) -> Iterator[tuple[Tensor, list[list[int]]]]:
        """Sources and references of a few sentences: with all their samples about as many rows as the batch has."""
        size = -(-batch.src.size(0) // self.num_samples)
        for src, tgt in zip(torch.split(batch.src, size), torch.split(batch.tgt_out, size), strict=True):
            yield src, [[i for i in ids if i not in (EOS_ID, PAD_ID)] for ids in tgt.tolist()]

    def _negative_reward(self, src: Tensor, references: list[list[int]]) -> Tensor:
        """−Σ r / N over the samples of some sentences, with the gradient of −Σ (r − mean) · log P / N."""
        num_samples = self.num_samples
        drawn = self._draw(src, max(map(len, references)) + _MAX_EXTRA_LENGTH)
        rewards = torch.tensor(
            [[sentence_gleu(one.ids, reference) for one in of] for of, reference in zip(drawn, references, strict=True)]
        )  # (B, N)
        advantages = (rewards - rewards.mean(dim=1, keepdim=True)).flatten().to(src.device) / num_samples
        said = _padded([one for of_sentence in drawn for one in of_sentence]).to(src.device)
        rows = src.repeat_interleave(num_samples, dim=0)
        self._count_flops(src, said)
        # Nothing is kept for the backward pass but the samples, from which it computes again: the memory is that of a
        # single slice, and that of a slice is about that of the batch.
        surrogate = checkpoint(self._weighted_loss, rows, said, advantages, use_reentrant=False)
        assert isinstance(surrogate, Tensor)
        return surrogate - surrogate.detach() - rewards.sum().to(src.device) / num_samples

    def _weighted_loss(self, src: Tensor, said: Tensor, weights: Tensor) -> Tensor:
        """−Σ weight · log P(said | src), and what the model itself wants kept small."""
        tgt_in = torch.cat((torch.full_like(said[:, :1], BOS_ID), said[:, :-1]), dim=1)
        hidden, penalty = self.model.forward_with_penalty(src, tgt_in.masked_fill(tgt_in == EOS_ID, PAD_ID))
        is_piece = said != PAD_ID
        losses = F.cross_entropy(self.model.project(hidden[is_piece]).float(), said[is_piece], reduction="none")
        loss = (losses * weights[:, None].expand_as(said)[is_piece]).sum()
        return loss if penalty is None else loss + penalty * (len(losses) / self.num_samples)

    def _draw(self, src: Tensor, max_length: int) -> list[list[Hypothesis]]:
        """Samples of each source; torch's generator decides them, so that a training that goes on draws the same."""
        generator = torch.Generator(src.device).manual_seed(int(torch.randint(1 << 62, ())))
        limit = max_length if self.model.max_length is None else min(max_length, self.model.max_length - 1)
        self.model.eval()
        drawn = sample(self.model, src, Sampling(), self.num_samples, [limit] * src.size(0), generator)
        self.model.train()
        torch.clear_autocast_cache()  # weights that were cast for this take no gradient
        return drawn

    def _count_flops(self, src: Tensor, said: Tensor) -> None:
        """Drawing reads a source once and steps with all its samples; learning is two passes forward, one back."""
        num_rows, length = said.shape
        num_src_tokens, num_tgt_tokens = int((src != PAD_ID).sum()), int((said != PAD_ID).sum())
        samples = BatchShape(num_rows, src.size(1), length, num_src_tokens * self.num_samples, num_tgt_tokens)
        steps = BatchShape(num_rows, src.size(1), length, samples.num_src_tokens, num_rows * length)
        reading = BatchShape(num_rows, src.size(1), 0, samples.num_src_tokens, 0)
        reading_cost = forward_flops(self.model, reading)
        self._flops += forward_flops(self.model, steps) - reading_cost + reading_cost // self.num_samples
        self._flops += 4 * forward_flops(self.model, samples)


def _padded(hypotheses: list[Hypothesis]) -> Tensor:
    """What was drawn (R, T): the end mark where it was, padding behind."""
    rows = [[*one.ids, *([EOS_ID] if one.is_complete else [])] for one in hypotheses]
    width = max(map(len, rows))
    return torch.tensor([row + [PAD_ID] * (width - len(row)) for row in rows])
