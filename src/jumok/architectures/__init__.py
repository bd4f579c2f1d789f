"""The numbers of every architecture, one file each; what they mean in tensors is in `models/`."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import Discriminator, Tag

from jumok.architectures.bahdanau import BahdanauConfig
from jumok.architectures.base import ModelConfig, Section
from jumok.architectures.bytenet import ByteNetConfig
from jumok.architectures.convs2s import ConvS2SConfig
from jumok.architectures.deep_att import DeepAttConfig
from jumok.architectures.gnmt import GnmtConfig
from jumok.architectures.luong import LuongConfig
from jumok.architectures.moe import MoeConfig
from jumok.architectures.seq2seq import Seq2SeqConfig
from jumok.architectures.transformer import TransformerConfig

DEFAULT: Final = "transformer"
ARCHITECTURES: dict[str, type[ModelConfig]] = {
    "transformer": TransformerConfig,
    "seq2seq": Seq2SeqConfig,
    "bahdanau": BahdanauConfig,
    "luong": LuongConfig,
    "deep_att": DeepAttConfig,
    "gnmt": GnmtConfig,
    "bytenet": ByteNetConfig,
    "convs2s": ConvS2SConfig,
    "moe": MoeConfig,
}


def _architecture(values: Any) -> Any:
    """Which of them a section of the TOML file is about."""
    return values.get("architecture", DEFAULT) if isinstance(values, dict) else getattr(values, "architecture", None)


AnyModelConfig = Annotated[
    Annotated[TransformerConfig, Tag("transformer")]
    | Annotated[Seq2SeqConfig, Tag("seq2seq")]
    | Annotated[BahdanauConfig, Tag("bahdanau")]
    | Annotated[LuongConfig, Tag("luong")]
    | Annotated[DeepAttConfig, Tag("deep_att")]
    | Annotated[GnmtConfig, Tag("gnmt")]
    | Annotated[ByteNetConfig, Tag("bytenet")]
    | Annotated[ConvS2SConfig, Tag("convs2s")]
    | Annotated[MoeConfig, Tag("moe")],
    Discriminator(_architecture),
]

__all__ = ["ARCHITECTURES", "DEFAULT", "AnyModelConfig", "ModelConfig", "Section", "TransformerConfig"]
