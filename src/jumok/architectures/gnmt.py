"""Numbers of GNMT.

Paper: Wu et al. 2016, "Google's Neural Machine Translation System", sections 3 and 8.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from jumok.architectures.base import ModelConfig, Presets


class GnmtConfig(ModelConfig):
    """Residual LSTM stacks, the first encoder layer bidirectional, attention from the bottom decoder layer."""

    presets: ClassVar[Presets] = {
        "tiny": {"d_model": 160, "encoder_layers": 3, "decoder_layers": 3},  # residuals begin with the third
        "small": {"d_model": 256, "encoder_layers": 3, "decoder_layers": 3},
        "base": {},
        "big": {"d_model": 1024, "encoder_layers": 8, "decoder_layers": 8},
    }

    architecture: Literal["gnmt"] = Field("gnmt", description="Which model.")
    encoder_layers: int = Field(4, ge=1, description="LSTM layers that read the source; the first reads both ways.")
    decoder_layers: int = Field(4, ge=1, description="LSTM layers that write the target.")
