"""Numbers of ByteNet.

Paper: Kalchbrenner et al. 2016, "Neural Machine Translation in Linear Time", section 3.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field, model_validator

from jumok.architectures.base import ModelConfig, Presets


class ByteNetConfig(ModelConfig):
    """Dilated convolutions over the source, and a network of masked ones that unfolds on top of them."""

    presets: ClassVar[Presets] = {
        "tiny": {"d_model": 192, "encoder_layers": 5, "decoder_layers": 5},
        "small": {"d_model": 320, "encoder_layers": 10, "decoder_layers": 10},
        "base": {},
        "big": {"d_model": 1600, "encoder_layers": 30, "decoder_layers": 30},  # the paper's
    }
    has_attention: ClassVar[bool] = False

    architecture: Literal["bytenet"] = Field("bytenet", description="Which model.")
    encoder_layers: int = Field(15, ge=1, description="Residual blocks that read the source.")
    decoder_layers: int = Field(15, ge=1, description="Residual blocks that write the target.")
    kernel: int = Field(3, ge=2, description="Positions that a convolution sees.")
    max_dilation: int = Field(
        16, ge=1, description="Dilation doubles from block to block up to this, then begins anew."
    )
    length_slope: float = Field(1.2, ge=1, description="Dynamic unfolding: |t̂| = a·|s| + b columns; this is a.")
    length_offset: int = Field(0, ge=0, description="This is b.")

    @model_validator(mode="after")
    def _width_can_be_halved(self) -> ByteNetConfig:
        if self.d_model % 2:
            raise ValueError(f"d_model = {self.d_model} is odd; blocks work in half the width, use an even number")
        return self
