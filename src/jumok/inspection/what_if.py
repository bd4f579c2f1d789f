"""What if: a head is silent, the mask is another, a later word changes, the residual connections are cut.

Other rules are tried on a copy that shares the weights of the trained model. A head is silenced in the model itself for
as long as the question takes: nobody else may use it meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from jumok.errors import UsageError
from jumok.inspection.kinds import Kind
from jumok.inspection.subject import Pair, Subject
from jumok.models.transformer import Transformer
from jumok.nn.attention import MultiHeadAttention


@dataclass(frozen=True)
class Silenced:
    """Log-probability of each piece of a translation with and without a head, and what is said without it."""

    before: list[float]
    after: list[float]
    translation_before: str
    translation_after: str


def silence_head(subject: Subject, pair: Pair, kind: Kind, layer: int, head: int) -> Silenced:
    """The same sentence while one head adds nothing; layer and head are counted from 0."""
    attention = attention_of(subject.transformer, kind, layer, head)
    before = _of_pieces(subject, pair)
    said_before = subject.text(subject.search(pair.src_ids)[0].ids)
    with _silent(attention, head):
        after = _of_pieces(subject, pair)
        said_after = subject.text(subject.search(pair.src_ids)[0].ids)
    return Silenced(before, after, said_before, said_after)


def attention_of(model: Transformer, kind: Kind, layer: int, head: int) -> MultiHeadAttention:
    """One of the attentions, where there is such a layer and head."""
    layers: Any = (model.encoder if kind == "encoder" else model.decoder).layers
    if not 0 <= layer < len(layers):
        raise UsageError(
            f"layer {layer + 1}: this model's {'encoder' if kind == 'encoder' else 'decoder'} has {len(layers)}"
        )
    attention = layers[layer].cross_attention if kind == "cross" else layers[layer].self_attention
    assert isinstance(attention, MultiHeadAttention)
    if not 0 <= head < attention.num_heads:
        raise UsageError(f"head {head + 1}: this model has {attention.num_heads}")
    return attention


@contextmanager
def _silent(attention: MultiHeadAttention, head: int) -> Iterator[None]:
    """W^O reads nothing from this head: its columns are zero for a while."""
    d_k = attention.width // attention.num_heads
    columns = attention.project_out.weight.data[:, head * d_k : (head + 1) * d_k]
    own = columns.clone()
    columns.zero_()
    try:
        yield
    finally:
        columns.copy_(own)


def _of_pieces(subject: Subject, pair: Pair) -> list[float]:
    found: list[float] = subject.log_probs(pair).gather(1, pair.batch.tgt_out[0][:, None])[:, 0].tolist()
    return found


def variant(subject: Subject, **changes: Any) -> Transformer:
    """The same weights under other rules of `TransformerConfig`, such as masking or use_residual."""
    model = subject.transformer
    config = model.config.model_copy(update=changes)
    sizes = model.src_embedding.weight.size(0), model.tgt_embedding.weight.size(0)
    with torch.device("meta"):  # no weights of its own
        other = Transformer(config, *sizes, model.pad_id)
    other.load_state_dict(model.state_dict(), strict=False, assign=True)
    for name, buffer in model.named_buffers():  # tables that no state holds, such as the sinusoids
        owner, _, own_name = name.rpartition(".")
        setattr(other.get_submodule(owner), own_name, buffer)
    return other.eval().requires_grad_(False)


@dataclass(frozen=True)
class Moved:
    """A prediction before and after a change of the target, and how much its probabilities moved at most."""

    before: int
    after: int
    change: float


@torch.inference_mode()
def change_word(
    subject: Subject, pair: Pair, position: int, piece: int, is_causal: bool = True, **changes: Any
) -> list[Moved]:
    """Put another piece at a position of what the decoder reads, and compare what is predicted everywhere.

    With the causal mask on nothing before the position can move; with `is_causal` off, or a mask that does not hide,
    it does.
    """
    model = variant(subject, **changes) if changes else subject.transformer
    tgt = pair.batch.tgt_in
    last = tgt.size(1) - 1
    if not 0 < position <= last:
        what = f"its words stand at 1 to {last}, after the begin mark" if last else "it has no word to change"
        raise UsageError(f"position {position} of the translation: {what}")
    changed = tgt.clone()
    changed[0, position] = piece
    before, after = (
        subject.distribution(model.forward_with_notes(pair.batch.src, ids, is_causal)[0]).exp()
        for ids in (tgt, changed)
    )
    return [
        Moved(int(one.argmax()), int(other.argmax()), float((one - other).abs().max()))
        for one, other in zip(before, after, strict=True)
    ]


def gradient_by_layer(subject: Subject, pair: Pair, use_residual: bool = True) -> list[float]:
    """The norm of the loss's gradient at the input of each layer: the encoder's layers, then the decoder's."""
    model = variant(subject, use_residual=use_residual)
    inputs: list[Tensor] = []

    def remember(_: Any, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
        x = arguments[0] if arguments[0].requires_grad else arguments[0].detach().requires_grad_()
        inputs.append(x)
        return (x, *arguments[1:])

    for stack in (model.encoder, model.decoder):
        for layer in stack.layers:
            layer.register_forward_pre_hook(remember)
    with torch.enable_grad():
        hidden = model(pair.batch.src, pair.batch.tgt_in)
        loss = F.cross_entropy(model.project(hidden)[0].float(), pair.batch.tgt_out[0])
        return [float(gradient.norm()) for gradient in torch.autograd.grad(loss, inputs)]
