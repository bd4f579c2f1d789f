"""Layer normalisation, and batch normalisation to see why it is not used.

Paper: Ba et al. 2016; Vaswani et al. 2017, section 5.4 (where it stands) and figure 1.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Norm(nn.Module):
    """What both have: a gain and a bias for each of d_model numbers."""

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.gain = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.eps = eps


class LayerNorm(Norm):
    """Centre and scale each position's vector over its own d_model numbers, then gain and bias.

    Unlike batch normalisation it never looks at another sentence, so that training and prediction, long and
    short batches, all do the same.
    """

    def forward(self, x: Tensor) -> Tensor:
        """(x − mean) / √(variance + ε) · gain + bias, over the last dimension."""
        return F.layer_norm(x, self.gain.shape, self.gain, self.bias, self.eps)


class BatchNorm(Norm):
    """Centre and scale each of d_model numbers over all positions of all sentences of a batch, then gain and bias.

    In training a sentence comes out differently in other company, its own padding counts, and so do later words: in a
    decoder it is a leak. Alone, a single token is its own mean, so that nothing of it is left. Prediction has no batch
    to rely on and takes what training saw on average, which is the mean of short batches and long ones.

    Paper: Ioffe and Szegedy 2015, algorithms 1 and 2.
    Differs: padding is not left out, as in the usual module put in the place of layer normalisation. In a training of
    several processes each has statistics of its own, and the first one's are saved.
    """

    running_mean: Tensor
    running_variance: Tensor

    def __init__(self, d_model: int, eps: float = 1e-5, momentum: float = 0.1) -> None:
        super().__init__(d_model, eps)
        self.momentum = momentum
        self.register_buffer("running_mean", torch.zeros(d_model))
        self.register_buffer("running_variance", torch.ones(d_model))

    def forward(self, x: Tensor) -> Tensor:
        """(x − mean) / √(variance + ε) · gain + bias, over all but the last dimension."""
        mean, variance = self.running_mean, self.running_variance
        if self.training:
            variance, mean = torch.var_mean(x.float().flatten(0, -2), dim=0, correction=0)
            with torch.no_grad():
                self.running_mean.lerp_(mean, self.momentum)
                self.running_variance.lerp_(variance, self.momentum)
        return (x - mean) * torch.rsqrt(variance + self.eps) * self.gain + self.bias
