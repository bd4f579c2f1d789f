"""How many operations the host of a GPU starts in a training step, counted on the real model without computing it."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from jumok.data.batching import Batch
from jumok.models import TranslationModel
from jumok.training.objective import TranslationObjective


class OperationCounter(TorchDispatchMode):
    """Counts what reaches a device; views cost it nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.count += not func.is_view
        return func(*args, **(kwargs or {}))


def count_operations(model: TranslationModel) -> int:
    """Of forward and backward; `model` is on the meta device."""
    ids = torch.empty(2, 30, dtype=torch.long, device="meta")
    objective = TranslationObjective(model, label_smoothing=0.1)
    with OperationCounter() as counter:
        loss, _ = objective(Batch(ids, ids, ids, ids.numel(), ids.numel()))
        loss.backward()
    model.zero_grad(set_to_none=True)
    return counter.count
