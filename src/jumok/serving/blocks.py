"""The blocks of the paper's figure 1 for one model: what each holds, in which shapes."""

from __future__ import annotations

from dataclasses import dataclass

from torch import nn

from jumok.models import TranslationModel
from jumok.models.transformer import DecoderLayer, EncoderLayer, Transformer
from jumok.nn.normalization import Norm


@dataclass(frozen=True)
class Block:
    """A part of a model; its parameters are those of all layers, None where it shares another's."""

    id: str
    title: str
    shape: str
    params: int | None


def blocks_of(model: TranslationModel) -> list[Block]:
    """The parts of a model, from the source to the output."""
    if not isinstance(model, Transformer):
        return [Block(name, name.replace("_", " "), "", _count(part)) for name, part in model.named_children()]
    config = model.config
    d, h, d_k = config.d_model, config.num_heads, config.heads_width // config.num_heads
    num_src, num_tgt = model.src_embedding.weight.size(0), model.output_weight.size(0)
    encoder = [layer for layer in model.encoder.layers if isinstance(layer, EncoderLayer)]
    decoder = [layer for layer in model.decoder.layers if isinstance(layer, DecoderLayer)]
    norms = [part for part in model.modules() if isinstance(part, Norm)]
    feed_shape = f"{d} → {config.d_ff:,} → {d}" + (f" × {config.experts}" if config.experts else "")
    tgt_embedding = None if config.tie_embeddings == "three-way" else _count(model.tgt_embedding)
    output = _count(model.output) if config.tie_embeddings == "none" else None
    return [
        Block("src_embedding", "Source embedding", f"{num_src:,} × {d}", _count(model.src_embedding)),
        Block("src_position", "Positions", f"S × {d}", _count(model.src_position)),
        Block("encoder_self", "Self-attention", f"{h} × (S × {d_k})", _count(*(x.self_attention for x in encoder))),
        Block("encoder_ff", "Feed-forward", feed_shape, _count(*(x.feed_forward for x in encoder))),
        Block("tgt_embedding", "Target embedding", f"{num_tgt:,} × {d}", tgt_embedding),
        Block("tgt_position", "Positions", f"T × {d}", _count(model.tgt_position)),
        Block(
            "decoder_self", "Masked self-attention", f"{h} × (T × {d_k})", _count(*(x.self_attention for x in decoder))
        ),
        Block("decoder_cross", "Cross-attention", f"{h} × (T × S)", _count(*(x.cross_attention for x in decoder))),
        Block("decoder_ff", "Feed-forward", feed_shape, _count(*(x.feed_forward for x in decoder))),
        Block("norm", "Add & norm", f"{d}", _count(*norms)),
        Block("output", "Linear", f"{d} → {num_tgt:,}", output),
        Block("softmax", "Softmax", f"T × {num_tgt:,}", 0),
    ]


def _count(*parts: nn.Module) -> int:
    return sum(parameter.numel() for part in parts for parameter in part.parameters())
