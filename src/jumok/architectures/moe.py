"""Numbers of the recurrent model with a mixture of experts.

Paper: Shazeer et al. 2017, "Outrageously Large Neural Networks", section 5.3 and appendix E.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from jumok.architectures.base import MixtureConfig, Presets


class MoeConfig(MixtureConfig):
    """GNMT with fewer layers, and a mixture of experts between them in encoder and decoder."""

    presets: ClassVar[Presets] = {
        "tiny": {"d_model": 160, "experts": 4, "d_expert": 256, "encoder_layers": 2, "decoder_layers": 2},
        "small": {"d_model": 256, "experts": 8, "d_expert": 512, "encoder_layers": 2, "decoder_layers": 2},
        "base": {},
        "big": {"d_model": 1024, "experts": 32, "experts_used": 4, "d_expert": 2048},
    }

    architecture: Literal["moe"] = Field("moe", description="Which model.")
    encoder_layers: int = Field(3, ge=1, description="LSTM layers that read the source; the first reads both ways.")
    decoder_layers: int = Field(2, ge=1, description="LSTM layers that write the target.")
    experts: int = Field(16, ge=2, description="Experts of each of the two mixtures.")
    d_expert: int = Field(1024, ge=1, description="Inner width of an expert.")
