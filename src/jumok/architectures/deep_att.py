"""Numbers of Deep-Att.

Paper: Zhou et al. 2016, "Deep Recurrent Models with Fast-Forward Connections for Neural Machine Translation".
"""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from jumok.architectures.base import ModelConfig, Presets


class DeepAttConfig(ModelConfig):
    """Deep stacks of LSTM layers in alternating directions, with fast-forward connections and attention."""

    presets: ClassVar[Presets] = {
        "tiny": {"d_model": 96, "encoder_layers": 3, "decoder_layers": 2},
        "small": {"d_model": 160, "encoder_layers": 4, "decoder_layers": 3},
        "base": {},
        "big": {"d_model": 512, "encoder_layers": 9, "decoder_layers": 7},
    }

    architecture: Literal["deep_att"] = Field("deep_att", description="Which model.")
    encoder_layers: int = Field(5, ge=1, description="LSTM layers of each of the encoder's two columns.")
    decoder_layers: int = Field(4, ge=1, description="LSTM layers that write the target.")
