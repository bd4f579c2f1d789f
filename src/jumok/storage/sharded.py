"""Tensors of which each process holds a part: written by torch's distributed checkpoint, as safetensors.

Every process writes one file; the file says which part of each tensor it holds. They are read as whole tensors, so that
a training can go on with another number of processes, or with one. No pickle is involved.
"""

from __future__ import annotations

from pathlib import Path

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed.checkpoint.hf_storage import HuggingFaceStorageReader, HuggingFaceStorageWriter
from torch.distributed.checkpoint.metadata import TensorStorageMetadata
from torch.distributed.checkpoint.state_dict_loader import load
from torch.distributed.checkpoint.state_dict_saver import save
from torch.distributed.tensor import DTensor, distribute_tensor

from jumok.errors import CheckpointError

Tensors = dict[str, Tensor]


def rank() -> int:
    """The number of this process, 0 where it is alone."""
    return dist.get_rank() if dist.is_available() and dist.is_initialized() else 0


def is_sharded(tensors: Tensors) -> bool:
    """Whether each process holds only a part."""
    return any(isinstance(tensor, DTensor) for tensor in tensors.values())


def like(tensor: Tensor, model: Tensor) -> Tensor:
    """A whole tensor cut and laid out as another one is: each process keeps its part."""
    if not isinstance(model, DTensor):
        return tensor.to(model.device)
    return distribute_tensor(tensor.to(model.device), model.device_mesh, model.placements)


def whole(tensor: Tensor) -> Tensor:
    """A tensor of which this process may hold a part, in full."""
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


def write_shards(folder: Path, model: Tensors, optimizer: Tensors) -> None:
    """Every process writes its part, and all are done when this returns."""
    dist.barrier()  # the folder is made by the first one
    tensors = {f"model/{name}": tensor for name, tensor in model.items()}
    tensors |= {f"optimizer/{name}": tensor for name, tensor in optimizer.items()}
    save(tensors, storage_writer=HuggingFaceStorageWriter(str(folder), save_distributed=True))  # syncs its file
    dist.barrier()


def read_shards(folder: Path, kind: str) -> Tensors:
    """The whole tensors of one kind, `model` or `optimizer`."""
    try:
        known = HuggingFaceStorageReader(str(folder)).read_metadata().state_dict_metadata
        wanted = {
            name: torch.empty(entry.size, dtype=entry.properties.dtype)
            for name, entry in known.items()
            if isinstance(entry, TensorStorageMetadata) and name.startswith(f"{kind}/")
        }
        load(wanted, storage_reader=HuggingFaceStorageReader(str(folder)), no_dist=True)
    except (OSError, ValueError, RuntimeError) as error:
        raise CheckpointError(f"{folder}: cannot be read as shards: {error}") from None
    return {name.removeprefix(f"{kind}/"): tensor for name, tensor in wanted.items()}
