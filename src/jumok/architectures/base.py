"""What the numbers of every architecture have in common."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

Preset = Literal["tiny", "small", "base", "big"]
Cell = Literal["rnn", "lstm", "gru"]
Presets = dict[str, dict[str, Any]]


class Section(BaseModel):
    """A table of the TOML file; a key that it does not know is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class ModelConfig(Section):
    """The architecture and its numbers. A preset fills in what is not given."""

    presets: ClassVar[Presets] = {"tiny": {}, "small": {}, "base": {}, "big": {}}
    has_attention: ClassVar[bool] = True  # to the source

    architecture: str = Field(description="Which model.")
    preset: Preset = Field("base", description="Numbers to start from.")
    d_model: int = Field(512, ge=2, description="Width of the model.")
    encoder_layers: int = Field(6, ge=1, description="Layers that read the source.")
    decoder_layers: int = Field(6, ge=1, description="Layers that write the target.")
    dropout: float = Field(0.1, ge=0, lt=1, description="On embeddings and every sub-layer's output (P_drop).")
    tie_embeddings: Literal["three-way", "two-way", "none"] = Field(
        "three-way", description="Source, target and output weights are one; target and output are one; none."
    )

    @property
    def position_limit(self) -> int | None:
        """Positions that a model can tell apart, None where there is no end to them."""
        return None


class MixtureConfig(ModelConfig):
    """Numbers of a mixture of experts, for the architectures that can have one."""

    experts: int = Field(0, ge=0, description="Feed-forward networks to choose from, token by token; 0: a single one.")
    experts_used: int = Field(2, ge=1, description="Experts that each token is sent to (k of the noisy top-k).")
    importance_weight: float = Field(0.01, ge=0, description="Weight of the loss that evens out the gates' sums.")
    load_weight: float = Field(0.01, ge=0, description="Weight of the loss that evens out how many tokens each gets.")

    @model_validator(mode="after")
    def _enough_experts(self) -> MixtureConfig:
        if self.experts and self.experts_used > self.experts:
            raise ValueError(f"experts_used = {self.experts_used} is more than there are: experts = {self.experts}")
        if self.experts > 1 and self.experts_used == 1:
            raise ValueError("experts_used = 1 gives the gates no gradient; use 2 or more")
        return self
