"""Adam as the paper uses it.

Paper: Vaswani et al. 2017, section 5.3; Kingma and Ba 2015.
"""

from __future__ import annotations

import torch
from torch import nn

from jumok.config import TrainingConfig


def build_optimizer(model: nn.Module, config: TrainingConfig) -> torch.optim.Optimizer:
    """Adam with β₁ = 0.9, β₂ = 0.98, ε = 10⁻⁹, all parameters in one fused pass.

    With adamw, matrices decay and vectors (biases, gains) do not.
    """
    parameters = list(model.parameters())
    if config.optimizer == "adam":
        return torch.optim.Adam(parameters, lr=0.0, betas=config.adam_betas, eps=config.adam_eps, fused=True)
    groups = [
        {"params": [p for p in parameters if p.dim() > 1], "weight_decay": config.weight_decay},
        {"params": [p for p in parameters if p.dim() <= 1], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=0.0, betas=config.adam_betas, eps=config.adam_eps, fused=True)
