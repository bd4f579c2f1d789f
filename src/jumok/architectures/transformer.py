"""Numbers of the Transformer.

Paper: Vaswani et al. 2017, Table 3.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field, model_validator

from jumok.architectures.base import MixtureConfig, Presets


class TransformerConfig(MixtureConfig):
    """The Transformer; the defaults are the paper's base model."""

    presets: ClassVar[Presets] = {
        "tiny": {"d_model": 128, "d_ff": 512, "num_heads": 4, "encoder_layers": 2, "decoder_layers": 2, "norm": "pre"},
        "small": {
            "d_model": 256,
            "d_ff": 1024,
            "num_heads": 8,
            "encoder_layers": 3,
            "decoder_layers": 3,
            "norm": "pre",
        },
        "base": {},
        "big": {"d_model": 1024, "d_ff": 4096, "num_heads": 16, "dropout": 0.3},
    }

    architecture: Literal["transformer"] = Field("transformer", description="Which model.")
    d_ff: int = Field(2048, ge=1, description="Inner width of the feed-forward network.")
    num_heads: int = Field(8, ge=1, description="Attention heads; divides d_model unless d_k is given.")
    d_k: int | None = Field(
        None, ge=1, description="Width of a head's queries, keys and values; d_model / num_heads if not given."
    )
    attention_dropout: float = Field(0.0, ge=0, lt=1, description="On the attention weights.")
    feed_forward_dropout: float = Field(0.0, ge=0, lt=1, description="Inside the feed-forward network.")
    attention_bias: bool = Field(False, description="Biases in the attention projections; the paper has none.")
    activation: Literal["relu", "swish", "gelu"] = Field(
        "relu", description="Inside the feed-forward network; the paper has relu."
    )
    scale_scores: bool = Field(True, description="Divide scores by √d_k.")
    masking: Literal["minus_infinity", "zero_before", "zero_after"] = Field(
        "minus_infinity",
        description="What is hidden gets the score −∞ (the paper); or, wrongly, the score 0 before the softmax, or the "
        "weight 0 after it.",
    )
    use_residual: bool = Field(True, description="Carry every sub-layer's input past it.")
    output_bias: bool = Field(False, description="A bias in the projection to the vocabulary; the paper has none.")
    norm: Literal["post", "pre"] = Field("post", description="Layer norm after (the paper) or before a sub-layer.")
    norm_kind: Literal["layer", "batch"] = Field(
        "layer", description="Over the numbers of each token (the paper), or of each number over the batch."
    )
    position: Literal["sinusoidal", "learned", "none", "counts", "scaled_counts", "bits"] = Field(
        "sinusoidal", description="How positions are told; beside the first two, ways that are known to be worse."
    )
    max_length: int = Field(1024, ge=8, description="Positions that are learned, where they are learned.")

    @property
    def position_limit(self) -> int | None:
        """Sinusoids have no end; learned positions do."""
        return self.max_length if self.position == "learned" else None

    @property
    def heads_width(self) -> int:
        """Width of all heads together: d_model, unless d_k is given."""
        return self.num_heads * (self.d_k or self.d_model // self.num_heads)

    def unusual(self) -> str | None:
        """The first setting that other software's Transformer does not have, if there is one."""
        if self.heads_width != self.d_model:
            return f"d_k = {self.d_k}"
        if self.position not in ("sinusoidal", "learned"):
            return f"position = {self.position}"
        if self.experts:
            return f"experts = {self.experts}"
        usual = {"scale_scores": True, "masking": "minus_infinity", "use_residual": True, "norm_kind": "layer"}
        for key, value in usual.items():
            if getattr(self, key) != value:
                return f"{key} = {str(getattr(self, key)).lower()}"
        return None

    @model_validator(mode="after")
    def _numbers_fit(self) -> TransformerConfig:
        if self.d_k is None and self.d_model % self.num_heads:
            fitting = ", ".join(str(n) for n in range(1, 65) if self.d_model % n == 0)
            raise ValueError(
                f"num_heads = {self.num_heads} does not divide d_model = {self.d_model}; use one of {fitting}"
            )
        if self.d_model % 2:
            raise ValueError(f"d_model = {self.d_model} is odd; sines and cosines come in pairs, use an even number")
        return self
