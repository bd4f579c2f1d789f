"""Measures on this machine: a training step of one process, all-reduce between two, and a step of two under DDP.

Each process has one thread. The parts take turns, in every second round in the opposite order, and medians are taken,
so that a machine that becomes slower or faster is so for all of them.
"""

from __future__ import annotations

import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from jumok.architectures import TransformerConfig
from jumok.data.batching import Batch
from jumok.models import build_model
from jumok.text.tokenizer import PAD_ID
from jumok.training.memory import keep_freed_memory
from jumok.training.objective import TranslationObjective

VOCAB_SIZE = 8000
SENTENCE = 30
BUCKET = 4 * 2**20  # bytes; with the usual 25 MB this small model would have next to nothing to overlap
MEGABYTES = (0.25, 1, 4, 16, 32)  # sizes of the all-reduce
PARTS = ("forward", "backward", "update")
# What is predicted and measured: processes, how they step, and their tokens as a multiple of those asked for.
CHECKS = ((1, "alone", 2), (2, "exchanging", 1), (2, "exchanging", 0.5), (2, "exchanging", 0.125))


def small_config() -> TransformerConfig:
    return TransformerConfig(**TransformerConfig.presets["small"])


def measure(num_rounds: int, num_steps: int, tokens: int) -> dict[str, Any]:
    """The medians of all parts, and latency and bandwidth fitted to the all-reduce."""
    os.environ["OMP_NUM_THREADS"] = "1"
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")  # both processes are here
    with tempfile.TemporaryDirectory(prefix="scaling-") as folder:
        torch.multiprocessing.spawn(_process, args=(folder, num_rounds, num_steps, tokens), nprocs=2)
        ranks = [json.loads((Path(folder) / f"{rank}.json").read_text()) for rank in range(2)]
    seconds = {size: statistics.median(ranks[0][f"all-reduce {size}"]) for size in MEGABYTES}
    latency, bandwidth = fit(seconds)
    return {
        "config": small_config(),
        "vocab_size": VOCAB_SIZE,
        "tokens": tokens,
        "alone": _compute([ranks[0]], "alone", tokens),
        "side_by_side": _compute(ranks, "side by side", tokens),
        "all_reduce_seconds": seconds,
        "latency": latency,
        "bandwidth": bandwidth,
        "checks": [
            {
                "processes": num_processes,
                "tokens": int(times * tokens),
                "measured": statistics.median(sum(step) for step in ranks[0][_name(way, times)]),
            }
            for num_processes, way, times in CHECKS
        ],
    }


def _compute(ranks: list[dict[str, Any]], way: str, tokens: int) -> dict[str, dict[str, float]]:
    """Seconds of each part of a step: fixed ones, and those a token, from a whole and a quarter batch."""
    found = {}
    for number, part in enumerate(PARTS):
        whole, quarter = (
            max(statistics.median(step[number] for step in rank[_name(way, times)]) for rank in ranks)
            for times in (1, 0.25)
        )
        a_token = (whole - quarter) / (0.75 * tokens)
        found[part] = {"whole": whole, "a_token": a_token, "fixed": whole - a_token * tokens}
    return found


def _name(way: str, times: float) -> str:
    return f"{way} ×{times:g}"


def fit(seconds: dict[float, float]) -> tuple[float, float]:
    """Latency and bandwidth of seconds = 2·latency + bytes / bandwidth; relative errors count, not absolute ones."""
    sizes = np.array([1e6 * size for size in seconds])
    times = np.array(list(seconds.values()))
    matrix = np.stack([2 * np.ones_like(sizes), sizes], axis=1) / times[:, None]
    (latency, slowness), *_ = np.linalg.lstsq(matrix, np.ones_like(times), rcond=None)
    return max(0.0, float(latency)), 1 / float(slowness)


def _process(rank: int, folder: str, num_rounds: int, num_steps: int, tokens: int) -> None:
    torch.set_num_threads(1)
    keep_freed_memory()
    torch.manual_seed(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/rendezvous", rank=rank, world_size=2)
    plain, wrapped = (objective() for _ in range(2))
    replicated = DistributedDataParallel(wrapped, bucket_cap_mb=BUCKET // 2**20)
    plain_step, replicated_step = stepper(plain), stepper(replicated)
    batches = {times: random_batch(int(times * tokens)) for times in (0.125, 0.25, 0.5, 1, 2)}
    phases: dict[str, Callable[[], Any]] = {}
    for times in (0.25, 1, 2):
        phases[_name("alone", times)] = lambda batch=batches[times]: plain_step(batch) if rank == 0 else None
    for times in (0.25, 1):
        phases[_name("side by side", times)] = lambda batch=batches[times]: plain_step(batch)
    for times in (0.125, 0.5, 1):
        phases[_name("exchanging", times)] = lambda batch=batches[times]: replicated_step(batch)
    phases |= {f"all-reduce {size}": all_reducer(size) for size in MEGABYTES}
    found: dict[str, list[Any]] = {name: [] for name in phases}
    for number in range(num_rounds + 1):  # the first warms up
        for name in list(phases)[:: 1 if number % 2 else -1]:
            dist.barrier()
            results = [phases[name]() for _ in range(num_steps)]
            if number:
                found[name] += results
    (Path(folder) / f"{rank}.json").write_text(json.dumps(found))
    dist.barrier()
    dist.destroy_process_group()


def objective() -> TranslationObjective:
    return TranslationObjective(build_model(small_config(), VOCAB_SIZE, VOCAB_SIZE, PAD_ID), label_smoothing=0.1)


def stepper(model: nn.Module) -> Callable[[Batch], tuple[float, ...]]:
    """A function that makes one training step and returns the seconds of its parts."""
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-6, fused=True)

    def step(batch: Batch) -> tuple[float, ...]:
        times = [time.perf_counter()]
        loss, _ = model(batch)
        times.append(time.perf_counter())
        loss.backward()
        times.append(time.perf_counter())
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        times.append(time.perf_counter())
        return tuple(end - start for start, end in pairwise(times))

    return step


def all_reducer(megabytes: float) -> Callable[[], float]:
    numbers = torch.zeros(int(1e6 * megabytes / 4))

    def all_reduce() -> float:
        dist.barrier()
        started = time.perf_counter()
        dist.all_reduce(numbers)
        return time.perf_counter() - started

    return all_reduce


def random_batch(tokens: int) -> Batch:
    ids = torch.randint(10, VOCAB_SIZE, (tokens // SENTENCE, SENTENCE))
    return Batch(ids, ids, ids, ids.numel(), ids.numel())
