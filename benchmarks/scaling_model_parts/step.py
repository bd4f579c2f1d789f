"""A training step on many devices, on paper.

Every device computes its part of the batch. Gradients leave in buckets while backward is still running, one bucket
after the other over one link, and the step ends when both have. Arithmetic is counted as in `jumok.evaluation.cost`;
parameters and buckets are those of the real model.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from scaling_model_parts.operations import count_operations

from jumok.architectures import TransformerConfig
from jumok.evaluation.cost import forward_flops
from jumok.models import build_model
from jumok.models.interface import BatchShape
from jumok.text.tokenizer import PAD_ID

SENTENCE = 30  # pieces in a sentence of WMT14, about
FIRST_BUCKET, BUCKET = 2**20, 25 * 2**20  # bytes: what DistributedDataParallel sends at once
NUMBER = 4  # bytes of a weight, a gradient or a moment: all are float32

Exchange = Callable[[float], float]  # from bytes to seconds
Timeline = tuple[float, float]  # when the step is over, and how long its link was busy


@dataclass(frozen=True)
class Link:
    """What a device can send while it receives as much."""

    latency: float  # seconds a hop
    bandwidth: float  # bytes a second


@dataclass(frozen=True)
class Cluster:
    """Nodes of equal devices: a fast link inside a node, a slower one between nodes."""

    title: str
    peak: float  # FLOP/s of one device
    share: float  # of the peak that a training sustains
    per_node: int
    inside: Link
    between: Link
    launch: float = 0.0  # seconds that the host needs to start one operation


class Workload:
    """A model and its batches: all that the simulation needs to know of a recipe."""

    def __init__(
        self, name: str, config: TransformerConfig, vocab_size: int, batch_tokens: int, num_steps: int
    ) -> None:
        self.name, self.config, self.vocab_size = name, config, vocab_size
        self.batch_tokens, self.num_steps = batch_tokens, num_steps
        with torch.device("meta"):
            model = build_model(config, vocab_size, vocab_size, PAD_ID)
        sizes = {name: parameter.numel() for name, parameter in model.named_parameters()}
        self.embedding = sum(size for name, size in sizes.items() if "embedding" in name)
        inner = {name: size for name, size in sizes.items() if "embedding" not in name}
        self.in_ready_order = list(inner.values())[::-1]
        layers: dict[str, int] = {}
        for name, size in inner.items():
            layer = ".".join(name.split(".")[:3])  # encoder.layers.0
            layers[layer] = layers.get(layer, 0) + size
        self.layers = list(layers.values())
        self.num_parameters = sum(sizes.values())
        self.num_operations = count_operations(model)
        self.sentence_flops = forward_flops(model, BatchShape(1, *[SENTENCE] * 4))

    def flops(self, tokens: float) -> float:
        """Forward and backward of so many source tokens and as many target tokens."""
        return 3 * self.sentence_flops * tokens / SENTENCE

    @property
    def head_share(self) -> float:
        """The part of the arithmetic that is the projection to the vocabulary."""
        return 3 * 2 * self.config.d_model * self.vocab_size / self.flops(1)


# --- one exchange -----------------------------------------------------------------------------------------------


def half_ring(num_bytes: float, num_devices: int, link: Link) -> float:
    """All-gather, or reduce-scatter: n − 1 hops, each with an n-th of the bytes."""
    return (num_devices - 1) * (num_bytes / num_devices / link.bandwidth + link.latency)


def gather_seconds(cluster: Cluster, num_devices: int, num_bytes: float) -> float:
    """Inside a node over the fast link; between nodes each device carries its own part of the node's bytes."""
    inside = min(num_devices, cluster.per_node)
    num_nodes = num_devices // inside
    return half_ring(num_bytes, inside, cluster.inside) + half_ring(num_bytes / inside, num_nodes, cluster.between)


def all_reduce_seconds(cluster: Cluster, num_devices: int, num_bytes: float) -> float:
    """Reduce-scatter, then all-gather; between nodes a ring or a tree, whichever is faster, as NCCL chooses."""
    inside = min(num_devices, cluster.per_node)
    num_nodes, part = num_devices // inside, num_bytes / inside
    ring = 2 * half_ring(part, num_nodes, cluster.between)
    tree = 2 * (part / cluster.between.bandwidth + math.ceil(math.log2(num_nodes)) * cluster.between.latency)
    return 2 * half_ring(num_bytes, inside, cluster.inside) + min(ring, tree)


# --- one step ---------------------------------------------------------------------------------------------------


def buckets(workload: Workload, head_share: float, bucket: int = BUCKET) -> list[tuple[float, float]]:
    """Bytes of each bucket, and the part of backward after which it is full.

    Gradients are ready from the last layer to the first. The embedding is used at both ends of the model: where it is
    tied, its gradient is complete only when backward ends.
    """
    total = sum(workload.in_ready_order)
    found: list[tuple[float, float]] = []
    filled, done = 0.0, head_share
    for size in workload.in_ready_order:
        filled += NUMBER * size
        done += (1 - head_share) * size / total
        if filled >= (bucket if found else FIRST_BUCKET):
            found.append((filled, done))
            filled = 0.0
    return [*found, (filled + NUMBER * workload.embedding, 1.0)]


def replicated_step(
    workload: Workload, forward: float, backward: float, exchange: Exchange, head_share: float, bucket: int = BUCKET
) -> Timeline:
    """DDP: all-reduce a bucket as soon as it is full and the link is free."""
    link_is_free = communication = 0.0
    for num_bytes, part in buckets(workload, head_share, bucket):
        cost = exchange(num_bytes)
        link_is_free = max(link_is_free, forward + part * backward) + cost
        communication += cost
    return max(link_is_free, forward + backward), communication


def sharded_step(workload: Workload, forward: float, backward: float, gather: Exchange, head_share: float) -> Timeline:
    """FSDP: a layer is gathered while the one before it computes, twice, and its gradient scattered after it.

    The embedding is gathered at the start, stays, and is scattered at the end: both ends of the model use it.
    """
    total = sum(workload.layers)
    layers = [(gather(NUMBER * size), (1 - head_share) * size / total) for size in workload.layers]
    of_embedding = gather(NUMBER * workload.embedding)
    clock, link_is_free = 0.0, of_embedding
    for order, seconds, is_backward in ((layers, forward, False), (layers[::-1], backward, True)):
        gathered = link_is_free = max(link_is_free, clock) + order[0][0]
        if is_backward:
            clock += head_share * seconds
        for number, (cost, part) in enumerate(order):
            started = max(clock, gathered)
            clock = started + part * seconds
            if number + 1 < len(order):
                gathered = link_is_free = max(link_is_free, started) + order[number + 1][0]
            if is_backward:
                link_is_free = max(link_is_free, clock) + cost
        if not is_backward:
            clock += head_share * seconds
    communication = 2 * of_embedding + 3 * sum(cost for cost, _ in layers)
    return max(link_is_free, clock) + of_embedding, communication


def simulate(
    workload: Workload, cluster: Cluster, num_devices: int, batch_tokens: float, is_sharded: bool = False
) -> dict[str, Any]:
    """Everything about one step of one device."""
    tokens = batch_tokens / num_devices
    compute = workload.flops(tokens) / (cluster.peak * cluster.share)
    timeline, cost = (sharded_step, gather_seconds) if is_sharded else (replicated_step, all_reduce_seconds)
    end, communication = timeline(
        workload,
        compute / 3,
        compute * 2 / 3,
        lambda num_bytes: cost(cluster, num_devices, num_bytes),
        workload.head_share,
    )
    launches = cluster.launch * workload.num_operations
    seconds = max(end, launches)
    overlapped = "exchange" if end > 2 * compute else "arithmetic"
    return {
        "devices": num_devices,
        "sharding": "FSDP" if is_sharded else "DDP",
        "tokens_a_device": tokens,
        "compute_seconds": compute,
        "communication_seconds": communication,
        "exposed_seconds": end - compute,
        "launch_seconds": launches,
        "step_seconds": seconds,
        "limited_by": "launches" if launches >= end else overlapped,
        "tokens_a_second": batch_tokens / seconds,
        "efficiency": compute / seconds,
        "hours": workload.num_steps * seconds / 3600,
        "bytes_sent": bytes_sent(workload, num_devices, is_sharded),
        "memory": memory(workload, num_devices, tokens, is_sharded),
    }


def bytes_sent(workload: Workload, num_devices: int, is_sharded: bool) -> float:
    """Sent by one device in a step, and as much received: (n − 1)/n of all for each half-ring."""
    layers = (3 if is_sharded else 2) * sum(workload.layers)
    return NUMBER * (num_devices - 1) / num_devices * (layers + 2 * workload.embedding)


def memory(workload: Workload, num_devices: int, tokens: float, is_sharded: bool) -> dict[str, float]:
    """Bytes on one device; DDP keeps a second copy of the gradients, its buckets.

    Activations are an estimate. Korthikanti et al. 2022: 34 bytes a token, layer and unit of width, in 16 bits with
    fused attention; 13 more for attention to the source. And 14 a logit: 16 bits, then float32, then gradients.
    """
    config, parts = workload.config, num_devices if is_sharded else 1
    weights = NUMBER * workload.num_parameters / parts
    gathered = NUMBER * (workload.embedding + 2 * max(workload.layers)) if is_sharded else 0
    gradients = weights if is_sharded else 2 * weights
    width = (34 * config.encoder_layers + 47 * config.decoder_layers) * config.d_model
    activations = tokens * (width + 14 * workload.vocab_size)
    found = {"weights": weights + gathered, "gradients": gradients, "moments": 2 * weights, "activations": activations}
    return found | {"all": sum(found.values())}


# --- the batch that is large enough -----------------------------------------------------------------------------


def hiding_batch(workload: Workload, cluster: Cluster, num_devices: int, is_sharded: bool) -> float:
    """The smallest batch that leaves exposed only what no batch hides: the ends of the step."""

    def exposed(tokens: float) -> float:
        return float(simulate(workload, cluster, num_devices, tokens, is_sharded)["exposed_seconds"])

    never_hidden = exposed(1e10)
    return smallest(lambda tokens: exposed(tokens) <= never_hidden * 1.01)


def efficient_batch(workload: Workload, cluster: Cluster, num_devices: int, is_sharded: bool) -> float:
    """The smallest batch whose step is 90 % arithmetic."""
    return smallest(lambda tokens: simulate(workload, cluster, num_devices, tokens, is_sharded)["efficiency"] >= 0.9)


def smallest(is_enough: Callable[[float], bool]) -> float:
    low, high = 1.0, 1e10
    while high / low > 1.001:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high
