"""What nearly all models begin and end with: embeddings of both sides, and a projection that may share them."""

from __future__ import annotations

from abc import abstractmethod

from torch import Tensor, nn

from jumok.architectures.base import ModelConfig
from jumok.models.interface import AttentionWeights, TranslationModel
from jumok.nn.dropout import Dropout
from jumok.nn.embedding import ScaledEmbedding


class EmbeddedModel(TranslationModel):
    """Source and target embedding and output as three matrices, two or one, as `tie_embeddings` says.

    Paper: Vaswani et al. 2017, section 3.4: of variance 1 when looked up and 1 / d_model in the projection.
    Differs: older models have it too, since Adam trains it well; their papers start and tie them otherwise.
    """

    def __init__(self, config: ModelConfig, src_vocab_size: int, tgt_vocab_size: int, pad_id: int) -> None:
        super().__init__()
        self.tying = config.tie_embeddings
        self.position_limit = config.position_limit
        self.pad_id = pad_id
        self.src_embedding = ScaledEmbedding(src_vocab_size, config.d_model)
        if self.tying == "three-way":
            assert src_vocab_size == tgt_vocab_size, "three-way tying needs one vocabulary"
            self.tgt_embedding = self.src_embedding
        else:
            self.tgt_embedding = ScaledEmbedding(tgt_vocab_size, config.d_model)
        if self.tying == "none":
            self.output = nn.Linear(config.d_model, tgt_vocab_size, bias=False)
        self.dropout = Dropout(config.dropout)

    @property
    def output_weight(self) -> Tensor:
        """The projection to the vocabulary: its own, or the target embedding's."""
        return self.output.weight if self.tying == "none" else self.tgt_embedding.weight

    @property
    def max_length(self) -> int | None:
        """Learned positions end; sinusoids, recurrence and convolutions go on for ever."""
        return self.position_limit

    def embed_src(self, src: Tensor) -> Tensor:
        """(B, S) -> (B, S, D)."""
        x: Tensor = self.dropout(self.src_embedding(src))
        return x

    def embed_tgt(self, tgt: Tensor) -> Tensor:
        """(B, T) -> (B, T, D), or (R,) -> (R, D)."""
        x: Tensor = self.dropout(self.tgt_embedding(tgt))
        return x

    def log_probs(self, hidden: Tensor) -> Tensor:
        """Of every piece, as `step` returns them."""
        return self.project(hidden).float().log_softmax(dim=-1)


class AttentiveModel(EmbeddedModel):
    """A model with one attention of one head, whose weights it has at hand anyway."""

    has_attention = True

    @abstractmethod
    def run(self, src: Tensor, tgt: Tensor) -> tuple[Tensor, Tensor]:
        """Hidden vectors (B, T, D), and what was looked at (B, T, S)."""

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        """Hidden vectors (B, T, D), teacher-forced."""
        return self.run(src, tgt)[0]

    def forward_with_weights(self, src: Tensor, tgt: Tensor) -> tuple[Tensor, AttentionWeights]:
        """The same pass, and how much each step looked at each source word."""
        hidden, attn_weights = self.run(src, tgt)
        return hidden, AttentionWeights(cross=[attn_weights[:, None]])  # (B, T, S) -> (B, 1, T, S)
