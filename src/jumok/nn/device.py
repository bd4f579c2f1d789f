"""Where to compute."""

from __future__ import annotations

import torch

from jumok.errors import UsageError


def choose_device(name: str) -> torch.device:
    """The device of that name; auto is the CUDA GPU where there is one, else the CPU."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name not in ("cpu", "cuda", "mps"):
        raise UsageError(f'device = "{name}": expected auto, cpu, cuda or mps')
    if name == "cuda" and not torch.cuda.is_available():
        raise UsageError('device = "cuda", but torch finds no CUDA device here; use "cpu" or "auto"')
    if name == "mps" and not torch.backends.mps.is_available():
        raise UsageError('device = "mps", but torch finds no Metal device here; use "cpu" or "auto"')
    return torch.device(name)
