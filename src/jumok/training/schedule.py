"""The learning rate at every step.

Paper: Vaswani et al. 2017, section 5.3, equation 3.
"""

from __future__ import annotations

import math

from jumok.config import TrainingConfig


def paper_learning_rate(step: int, d_model: int, warmup_steps: int) -> float:
    """The rate is d_model^−0.5 · min(step^−0.5, step · warmup_steps^−1.5).

    Paper: Vaswani et al. 2017, section 5.3, equation 3.
    """
    return float(d_model**-0.5 * min(step**-0.5, step * warmup_steps**-1.5))


def learning_rate(config: TrainingConfig, d_model: int, step: int, used: float = 0.0) -> float:
    """The rate of update `step`, the first being 1: up to the peak in warm-up, then along the schedule.

    With `inverse_sqrt` and no learning_rate of one's own this is the paper's equation 3. `used` is the part of the
    minutes, tokens or FLOPs that is used up, where the training ends with them: such a rate falls from the first step
    on, in warm-up too, so that it has no jump where warm-up ends and is low at the end however few steps there are.
    """
    warmup = config.warmup_steps
    peak = config.learning_rate or paper_learning_rate(warmup, d_model, warmup)
    rising = min(1.0, step / warmup)
    progress = min(1.0, max(used, (step - warmup) / max(1, config.max_steps - warmup)))
    match config.schedule:
        case "inverse_sqrt":
            falling = math.sqrt(warmup / max(step, warmup))
        case "cosine":
            falling = 0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * progress))
        case "linear":
            falling = 1 - 0.99 * progress
        case "constant":
            falling = 1.0
    return peak * rising * falling
