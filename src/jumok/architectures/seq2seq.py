"""Numbers of the sequence-to-sequence models with one context vector.

Paper: Sutskever et al. 2014; Cho et al. 2014.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field, model_validator

from jumok.architectures.base import Cell, ModelConfig, Presets


class Seq2SeqConfig(ModelConfig):
    """An encoder and a decoder of recurrent layers; all that passes between them is one vector."""

    presets: ClassVar[Presets] = {
        "tiny": {"d_model": 192, "encoder_layers": 1, "decoder_layers": 1},
        "small": {"d_model": 384, "encoder_layers": 2, "decoder_layers": 2},
        "base": {},
        "big": {"d_model": 1000, "encoder_layers": 4, "decoder_layers": 4},
    }
    has_attention: ClassVar[bool] = False

    architecture: Literal["seq2seq"] = Field("seq2seq", description="Which model.")
    encoder_layers: int = Field(2, ge=1, description="Layers that read the source.")
    decoder_layers: int = Field(2, ge=1, description="Layers that write the target; as many as read the source.")
    cell: Cell = Field("lstm", description="What a recurrent layer is made of.")
    reverse_source: bool = Field(True, description="Read the source backwards, as Sutskever et al. do.")
    feed_context: bool = Field(False, description="Show the context vector to every step, as Cho et al. do.")

    @model_validator(mode="after")
    def _states_fit(self) -> Seq2SeqConfig:
        if self.encoder_layers != self.decoder_layers:
            raise ValueError(
                f"encoder_layers = {self.encoder_layers} and decoder_layers = {self.decoder_layers} differ, but each "
                "decoder layer starts from the last state of an encoder layer; use as many of both"
            )
        return self
