"""Numbers of ConvS2S.

Paper: Gehring et al. 2017, "Convolutional Sequence to Sequence Learning", section 4.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field, model_validator

from jumok.architectures.base import ModelConfig, Presets


class ConvS2SConfig(ModelConfig):
    """Gated convolutions with attention in every decoder layer."""

    presets: ClassVar[Presets] = {
        "tiny": {"d_model": 160, "encoder_layers": 3, "decoder_layers": 3},
        "small": {"d_model": 256, "encoder_layers": 4, "decoder_layers": 4},
        "base": {},
        "big": {"d_model": 768, "encoder_layers": 15, "decoder_layers": 15},
    }

    architecture: Literal["convs2s"] = Field("convs2s", description="Which model.")
    encoder_layers: int = Field(10, ge=1, description="Convolution blocks that read the source.")
    decoder_layers: int = Field(10, ge=1, description="Convolution blocks that write the target, each with attention.")
    kernel: int = Field(3, ge=1, description="Positions that a convolution sees; an odd number.")
    max_length: int = Field(1024, ge=8, description="Positions that are learned.")

    @property
    def position_limit(self) -> int | None:
        """Positions are learned, and end."""
        return self.max_length

    @model_validator(mode="after")
    def _kernel_has_a_middle(self) -> ConvS2SConfig:
        if self.kernel % 2 == 0:
            raise ValueError(f"kernel = {self.kernel} is even; the encoder looks equally far to both sides, use 3 or 5")
        return self
