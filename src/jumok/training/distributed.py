"""Many processes, one training: `torchrun … -m jumok train CONFIG` starts the same command once a device.

Each process (a *rank*) makes the same plan and takes its share of every update, so that neither the global batch nor
its order depends on how many there are. Gradients are joined by torch: DDP, where each rank holds the whole model, or
FSDP2, where each holds a part of every layer.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from uuid import uuid4

import numpy as np
import torch
import torch.distributed as dist
from numpy.typing import NDArray
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.distributed_c10d import PrefixStore
from torch.distributed.fsdp import FSDPModule, fully_shard
from torch.distributed.rendezvous import rendezvous
from torch.nn.parallel import DistributedDataParallel

from jumok.nn.device import choose_device

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class World:
    """The processes of a training, seen from one of them."""

    device: torch.device
    rank: int = 0
    size: int = 1

    @property
    def is_main(self) -> bool:
        """The one that writes files and speaks."""
        return self.rank == 0

    def wait(self) -> None:
        """Go on when all have come here."""
        if self.size > 1:
            dist.barrier()

    def total(self, *figures: float) -> list[float]:
        """The sum of each figure over all ranks."""
        if self.size == 1:
            return list(figures)
        tensor = torch.tensor(figures, dtype=torch.float64, device=self.device)
        dist.all_reduce(tensor)
        return [float(figure) for figure in tensor.tolist()]

    def leave(self) -> None:
        """The end of what is done together; whatever follows the main rank does alone."""
        if self.size > 1:
            dist.barrier()
            dist.destroy_process_group()


def join_world(device_name: str) -> World:
    """The world that torchrun describes in the environment, or one process alone."""
    size = int(os.environ.get("WORLD_SIZE", "1"))
    device = choose_device(device_name)
    if size == 1:
        return World(device)
    if device.type == "cuda":
        device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(device)
    store, rank, size = _meeting_point()
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo", store=store, rank=rank, world_size=size)
    return World(device, rank, size)


def _meeting_point() -> tuple[PrefixStore, int, int]:
    """The store in which ranks find each other, under a name that only this start of theirs knows; rank and size.

    torchrun keeps one store for all its restarts, and a rank that reads too early would find the address of a dead one
    there. So each asks under a name that was never used before, and the main rank answers until all have come.
    """
    store, rank, size = next(rendezvous("env://"))
    own_name = uuid4().hex
    store.set(f"ask/{rank}", own_name)
    if rank > 0:
        start = store.get(f"answer/{own_name}").decode()
        store.set(f"arrived/{start}/{rank}", "")
        return PrefixStore(start, store), rank, size
    others = range(1, size)
    while not store.check([f"arrived/{own_name}/{other}" for other in others]):
        for other in others:
            asked = store.get(f"ask/{other}").decode()  # perhaps by a dead one: the answer hurts nobody
            store.set(f"answer/{asked}", own_name)
        time.sleep(0.05)
    return PrefixStore(own_name, store), rank, size


# --- who computes what ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Share:
    """Sentences of an update that one rank computes: a batch, or a piece of one."""

    rows: Rows
    batch: int  # of the update
    piece: int = 0  # of the batch
    is_filler: bool = False  # stands in for nothing, where there are fewer sentences than ranks; does not count


def deal(batches: Sequence[Rows], count_tokens: Callable[[Rows], int], world: World) -> list[Share]:
    """The shares of an update that fall to one rank: equally many for each, of about equally many tokens.

    Batches that can be dealt whole are. Dropout depends on batch and piece alone, so it is then the same for any number
    of ranks. Otherwise each batch is cut into as many pieces as it takes, every n-th sentence into one: a batch is
    sorted by length, so the pieces are alike.
    """
    num_pieces = world.size // math.gcd(len(batches), world.size)
    shares = [
        Share(rows[piece::num_pieces], batch, piece)
        if piece < len(rows)
        else Share(rows[:1], batch, piece, is_filler=True)
        for batch, rows in enumerate(batches)
        for piece in range(num_pieces)
    ]
    if world.size == 1:
        return shares
    # The longest first, there and back like cards, so that ranks finish together.
    order = sorted(range(len(shares)), key=lambda i: (-count_tokens(shares[i].rows), i))
    there_and_back = [*range(world.size), *reversed(range(world.size))]
    mine = [i for place, i in enumerate(order) if there_and_back[place % len(there_and_back)] == world.rank]
    return [shares[i] for i in sorted(mine)]


# --- one model on many devices ----------------------------------------------------------------------------------


def spread(objective: nn.Module, world: World, shard: bool) -> nn.Module:
    """The objective as it is to be called in training, on its device, with gradients that will be joined."""
    if world.size == 1:
        return objective.to(world.device)
    if shard:
        mesh = init_device_mesh(world.device.type, (world.size,))
        for module in list(objective.modules()):
            if isinstance(module, nn.ModuleList):  # the layers, gathered one at a time
                for layer in module:
                    fully_shard(layer, mesh=mesh)
        fully_shard(objective, mesh=mesh)
        return objective
    device_ids = [world.device] if world.device.type == "cuda" else None
    # Buffers are computed tables, or statistics of which each rank has its own: nothing to send.
    return DistributedDataParallel(objective.to(world.device), device_ids=device_ids, broadcast_buffers=False)


def joining(module: nn.Module, is_last: bool) -> AbstractContextManager[None]:
    """Gradients are joined in the last backward pass of an update, while it runs, and only in that one."""
    if isinstance(module, FSDPModule):
        module.set_requires_gradient_sync(is_last)
    elif isinstance(module, DistributedDataParallel) and not is_last:
        return module.no_sync()
    return nullcontext()


@contextmanager
def gathered(module: nn.Module) -> Iterator[None]:
    """The whole weights on every rank for a while, as prediction needs them."""
    parts = [part for part in module.modules() if isinstance(part, FSDPModule)]
    for part in parts:
        part.unshard()
    try:
        yield
    finally:
        for part in parts:
            part.reshard()
