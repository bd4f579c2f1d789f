"""Which of our weights is which in Hugging Face's Marian (post-norm) and Pegasus (pre-norm).

Both keep the sines of a position in the first half of the model dimensions and the cosines in the second, where ours
alternate. A Transformer does not mind in which order its model dimensions stand as long as everything that reads or
writes them agrees, so the same order is applied to all of that, and not a number changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from jumok.storage.checkpoints import Tensors

# What the bias of a piece is that must never be said: a probability of exactly 0, and still a number that a loss with
# smoothed labels can be computed with.
NEVER_SAID = -1000.0


@dataclass(frozen=True)
class Match:
    """One of our tensors and what it is called there."""

    ours: str
    theirs: tuple[str, ...]  # several: the parts of ours, one below the other
    model_axis: int | None  # which axis is the model's dimensions, if one is


def layer_matches(encoder_layers: int, decoder_layers: int, is_pre_norm: bool) -> Iterator[Match]:
    """Everything but embeddings, positions and the projection to the vocabulary."""
    for i in range(encoder_layers):
        ours, theirs = f"encoder.layers.{i}", f"model.encoder.layers.{i}"
        yield from _attention(f"{ours}.self_attention", f"{theirs}.self_attn")
        yield from _norm(f"{ours}.around_self_attention.norm", f"{theirs}.self_attn_layer_norm")
        yield from _feed_forward(ours, theirs)
    for i in range(decoder_layers):
        ours, theirs = f"decoder.layers.{i}", f"model.decoder.layers.{i}"
        yield from _attention(f"{ours}.self_attention", f"{theirs}.self_attn")
        yield from _norm(f"{ours}.around_self_attention.norm", f"{theirs}.self_attn_layer_norm")
        yield from _attention(f"{ours}.cross_attention", f"{theirs}.encoder_attn")
        yield from _norm(f"{ours}.around_cross_attention.norm", f"{theirs}.encoder_attn_layer_norm")
        yield from _feed_forward(ours, theirs)
    if is_pre_norm:
        for stack in ("encoder", "decoder"):
            yield from _norm(f"{stack}.final_norm", f"model.{stack}.layer_norm")


def _attention(ours: str, theirs: str) -> Iterator[Match]:
    """The rows of W^Q, W^K, W^V belong to heads, not to model dimensions; those of W^O are the other way round."""
    for kind, axis in (("weight", 1), ("bias", None)):
        parts = tuple(f"{theirs}.{letter}_proj.{kind}" for letter in "qkv")
        yield Match(f"{ours}.project_in.{kind}", parts, axis)
        yield Match(f"{ours}.project_out.{kind}", (f"{theirs}.out_proj.{kind}",), 0)


def _feed_forward(ours: str, theirs: str) -> Iterator[Match]:
    yield Match(f"{ours}.feed_forward.expand.weight", (f"{theirs}.fc1.weight",), 1)
    yield Match(f"{ours}.feed_forward.expand.bias", (f"{theirs}.fc1.bias",), None)
    yield Match(f"{ours}.feed_forward.contract.weight", (f"{theirs}.fc2.weight",), 0)
    yield Match(f"{ours}.feed_forward.contract.bias", (f"{theirs}.fc2.bias",), 0)
    yield from _norm(f"{ours}.around_feed_forward.norm", f"{theirs}.final_layer_norm")


def _norm(ours: str, theirs: str) -> Iterator[Match]:
    yield Match(f"{ours}.gain", (f"{theirs}.weight",), 0)
    yield Match(f"{ours}.bias", (f"{theirs}.bias",), 0)


def is_attention_bias(match: Match) -> bool:
    """Whether this is a tensor that our models have only on request, and theirs always."""
    return match.ours.endswith(("project_in.bias", "project_out.bias"))


def split(tensor: Tensor, axis: int | None) -> Tensor:
    """From our order of the model dimensions, sin, cos, sin, cos …, to theirs: all sines, then all cosines."""
    return tensor if axis is None else tensor.index_select(axis, _order(tensor.size(axis)))


def interleave(tensor: Tensor, axis: int | None) -> Tensor:
    """The way back."""
    return tensor if axis is None else tensor.index_select(axis, _order(tensor.size(axis)).argsort())


def _order(d_model: int) -> Tensor:
    dimensions = torch.arange(d_model)
    return torch.cat((dimensions[0::2], dimensions[1::2]))


def to_theirs(match: Match, tensor: Tensor) -> Tensors:
    """One of our tensors as theirs."""
    parts = split(tensor, match.model_axis).chunk(len(match.theirs))
    return {name: part.contiguous() for name, part in zip(match.theirs, parts, strict=True)}


def to_ours(match: Match, tensors: Tensors) -> Tensor:
    """Their tensors as one of ours."""
    joined = torch.cat([tensors[name].float() for name in match.theirs])
    return interleave(joined, match.model_axis).contiguous()
