"""Why a model does not learn, layer by layer: how large outputs and gradients are, and how sharply attention looks.

Gradients that die on their way down, outputs that grow from layer to layer, a softmax that has become a choice of one:
each shows here steps before it shows in the loss, and says where.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from jumok.data.batching import Batch
from jumok.models.interface import TranslationModel
from jumok.text.tokenizer import PAD_ID
from jumok.training.objective import Objective


def record_layers(objective: Objective, batch: Batch) -> dict[str, Any]:
    """The figures of every layer on one batch, from passes of their own that leave no trace in the training.

    layers             by name: `output_rms`, the root of the mean square of its output, padding included, and
                       `gradient_norm`, the length of the gradient of the loss a token by the layer's own weights
    attention_entropy  of encoder, decoder and cross-attention, a figure a layer, in nats, a mean over heads and words:
                       0 where one key gets all, ln n where n keys get the same

    A figure that is no number is None.
    """
    with _without_trace(objective):
        layers = _sizes(objective, batch)
        entropy = _attention_entropy(objective.model, batch) if objective.model.has_attention else {}
    return {"layers": layers, "attention_entropy": entropy}


def stack_layers(model: nn.Module) -> dict[str, nn.Module]:
    """The layers of every stack, by name: what stands in a list, but for lists inside of layers."""
    layers: dict[str, nn.Module] = {}
    for name, module in model.named_modules():
        is_inside = any(name.startswith(f"{layer}.") for layer in layers)
        if isinstance(module, nn.ModuleList | nn.Sequential) and not is_inside:
            layers |= {f"{name}.{number}": layer for number, layer in enumerate(module)}
    return layers


def _sizes(objective: Objective, batch: Batch) -> dict[str, dict[str, float | None]]:
    """Outputs are seen by hooks that are there for this pass only; `.grad` of the weights is not touched."""
    layers = stack_layers(objective.model)
    squares: dict[str, Tensor | float] = defaultdict(float)  # summed, should a layer be called several times
    counts: dict[str, int] = defaultdict(int)

    def note(name: str, _layer: nn.Module, _inputs: Any, output: Any) -> None:
        tensor = output if isinstance(output, Tensor) else output[0]
        squares[name] += tensor.detach().double().square().sum()
        counts[name] += tensor.numel()

    hooks = [layer.register_forward_hook(partial(note, name)) for name, layer in layers.items()]
    try:
        loss, num_tokens = objective(batch)
    finally:
        for hook in hooks:
            hook.remove()
    weights = [p for p in objective.model.parameters() if p.requires_grad]
    gradients = dict(zip(weights, torch.autograd.grad(loss / num_tokens, weights, allow_unused=True), strict=True))
    sizes: dict[str, dict[str, float | None]] = {}
    for name, layer in layers.items():
        own = [gradient for p in layer.parameters() if (gradient := gradients.get(p)) is not None]
        sizes[name] = {"gradient_norm": _figure(float(nn.utils.get_total_norm(own)))} if own else {}
        if counts[name]:  # a layer that is not called as a whole, or an expert without tokens, shows no output
            sizes[name]["output_rms"] = _figure(math.sqrt(squares[name] / counts[name]))
    return sizes


@torch.no_grad()
def _attention_entropy(model: TranslationModel, batch: Batch) -> dict[str, list[float | None]]:
    model.eval()
    _, weights = model.forward_with_weights(batch.src, batch.tgt_in)
    is_src, is_tgt = batch.src != PAD_ID, batch.tgt_in != PAD_ID
    return {
        name: [_figure(_entropy(attn_weights, is_word)) for attn_weights in of_layers]
        for name, of_layers, is_word in (
            ("encoder", weights.encoder, is_src),
            ("decoder", weights.decoder, is_tgt),
            ("cross", weights.cross, is_tgt),
        )
        if of_layers
    }


def _entropy(attn_weights: Tensor, is_word: Tensor) -> float:
    """−Σ w·ln w over the keys, the mean over the heads of the queries that are words."""
    entropy = -torch.xlogy(attn_weights, attn_weights).sum(dim=-1)  # (B, H, Q, M) -> (B, H, Q)
    return float(entropy.mean(dim=1)[is_word].mean())


def _figure(value: float) -> float | None:
    return value if math.isfinite(value) else None


@contextmanager
def _without_trace(objective: Objective) -> Iterator[None]:
    """Random numbers, running statistics and the mode are afterwards as they were."""
    was_training = objective.training
    buffers = {name: buffer.clone() for name, buffer in objective.named_buffers()}
    devices = [buffer.device for buffer in objective.parameters() if buffer.device.type == "cuda"][:1]
    with torch.random.fork_rng(devices=devices):
        try:
            yield
        finally:
            objective.train(was_training)
            for name, buffer in objective.named_buffers():
                if buffer.shape == buffers[name].shape:  # a table may have grown
                    buffer.copy_(buffers[name])
