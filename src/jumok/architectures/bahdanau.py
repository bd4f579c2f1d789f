"""Numbers of the first model with attention.

Paper: Bahdanau et al. 2015, appendix A.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from jumok.architectures.base import Cell, ModelConfig, Presets


class BahdanauConfig(ModelConfig):
    """A bidirectional encoder, and a decoder that looks at all of it before every step (additive attention)."""

    presets: ClassVar[Presets] = {
        "tiny": {"d_model": 192},
        "small": {"d_model": 320},
        "base": {},
        "big": {"d_model": 1000},
    }

    architecture: Literal["bahdanau"] = Field("bahdanau", description="Which model.")
    encoder_layers: int = Field(1, ge=1, description="Bidirectional layers that read the source.")
    decoder_layers: int = Field(1, ge=1, description="Layers that write the target; the first one looks at the source.")
    cell: Cell = Field("gru", description="What a recurrent layer is made of.")
