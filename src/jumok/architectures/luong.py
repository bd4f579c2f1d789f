"""Numbers of the models that compare three attention scores.

Paper: Luong et al. 2015, "Effective Approaches to Attention-based Neural Machine Translation", section 4.1.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field, model_validator

from jumok.architectures.base import Cell, ModelConfig, Presets


class LuongConfig(ModelConfig):
    """Stacks of recurrent layers; attention stands on top of the decoder (dot, general or concat)."""

    presets: ClassVar[Presets] = {
        "tiny": {"d_model": 192, "encoder_layers": 1, "decoder_layers": 1},
        "small": {"d_model": 320, "encoder_layers": 2, "decoder_layers": 2},
        "base": {},
        "big": {"d_model": 1000, "encoder_layers": 4, "decoder_layers": 4},
    }

    architecture: Literal["luong"] = Field("luong", description="Which model.")
    encoder_layers: int = Field(2, ge=1, description="Layers that read the source.")
    decoder_layers: int = Field(2, ge=1, description="Layers that write the target; as many as read the source.")
    cell: Cell = Field("lstm", description="What a recurrent layer is made of.")
    score: Literal["dot", "general", "concat"] = Field("general", description="How state and source are compared.")
    input_feeding: bool = Field(True, description="The last attentional vector is part of the next input.")
    reverse_source: bool = Field(False, description="Read the source backwards.")

    @model_validator(mode="after")
    def _states_fit(self) -> LuongConfig:
        if self.encoder_layers != self.decoder_layers:
            raise ValueError(
                f"encoder_layers = {self.encoder_layers} and decoder_layers = {self.decoder_layers} differ, but each "
                "decoder layer starts from the last state of an encoder layer; use as many of both"
            )
        return self
