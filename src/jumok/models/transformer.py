"""The Transformer, read top to bottom: layers, stacks, the state of a prediction, the model.

Paper: Vaswani et al. 2017, "Attention Is All You Need", figure 1 and section 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor, nn

from jumok.config import ModelConfig
from jumok.models.interface import DecoderState, TranslationModel
from jumok.nn.attention import KeyValue, MultiHeadAttention
from jumok.nn.dropout import Dropout
from jumok.nn.embedding import ScaledEmbedding
from jumok.nn.feed_forward import FeedForward
from jumok.nn.masks import padding_mask
from jumok.nn.normalization import LayerNorm
from jumok.nn.position import LearnedPositions, SinusoidalPositions
from jumok.nn.residual import Residual

# --- layers -----------------------------------------------------------------------------------------------------


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward, each with its residual connection.

    Paper: Vaswani et al. 2017, section 3.1, figure 1 left.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.self_attention = _attention(config)
        self.feed_forward = _feed_forward(config)
        self.around_self_attention = _residual(config)
        self.around_feed_forward = _residual(config)

    def forward(self, x: Tensor, mask: Tensor, return_weights: bool = False) -> tuple[Tensor, Tensor | None]:
        """Let every source position look at every other."""
        y, attn_weights = self.self_attention(
            self.around_self_attention.enter(x), mask=mask, return_weights=return_weights
        )
        x = self.around_self_attention.leave(x, y)
        y = self.feed_forward(self.around_feed_forward.enter(x))
        return self.around_feed_forward.leave(x, y), attn_weights


class DecoderLayer(nn.Module):
    """Masked self-attention, attention to the encoder's output, feed-forward.

    Paper: Vaswani et al. 2017, section 3.1, figure 1 right.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.self_attention = _attention(config)
        self.cross_attention = _attention(config)
        self.feed_forward = _feed_forward(config)
        self.around_self_attention = _residual(config)
        self.around_cross_attention = _residual(config)
        self.around_feed_forward = _residual(config)

    def forward(
        self, x: Tensor, memory: Tensor, memory_mask: Tensor, return_weights: bool = False
    ) -> tuple[Tensor, Tensor | None, Tensor | None]:
        """All target positions at once, each blind to those after it.

        Padding stands behind the words, so that the causal mask hides it from them too.
        """
        y, self_weights = self.self_attention(
            self.around_self_attention.enter(x), is_causal=True, return_weights=return_weights
        )
        x = self.around_self_attention.leave(x, y)
        y, cross_weights = self.cross_attention(
            self.around_cross_attention.enter(x), memory, memory_mask, return_weights=return_weights
        )
        x = self.around_cross_attention.leave(x, y)
        y = self.feed_forward(self.around_feed_forward.enter(x))
        return self.around_feed_forward.leave(x, y), self_weights, cross_weights

    def step(self, x: Tensor, past: KeyValue | None, memory: KeyValue, memory_mask: Tensor) -> tuple[Tensor, KeyValue]:
        """One new position for each row: the same as `forward`, with the keys of earlier positions remembered."""
        q, new = self.self_attention.query_key_value(self.around_self_attention.enter(x))
        past = new if past is None else KeyValue(*(torch.cat(pair, dim=2) for pair in zip(past, new, strict=True)))
        y, _ = self.self_attention.attend(q, past)
        x = self.around_self_attention.leave(x, y)
        # The rows of one sentence share its memory: they are so many queries to one set of keys.
        y = self.around_cross_attention.enter(x).view(memory.keys.size(0), -1, x.size(-1))  # (R, 1, D) -> (B, N, D)
        y, _ = self.cross_attention(y, memory, memory_mask)
        x = self.around_cross_attention.leave(x, y.view_as(x))
        y = self.feed_forward(self.around_feed_forward.enter(x))
        return self.around_feed_forward.leave(x, y), past


def _attention(config: ModelConfig) -> MultiHeadAttention:
    return MultiHeadAttention(config.d_model, config.num_heads, config.attention_dropout, config.attention_bias)


def _feed_forward(config: ModelConfig) -> FeedForward:
    return FeedForward(config.d_model, config.d_ff, config.feed_forward_dropout, config.activation)


def _residual(config: ModelConfig) -> Residual:
    return Residual(config.d_model, config.dropout, is_pre_norm=config.norm == "pre")


# --- stacks -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AttentionWeights:
    """The weights of the three attentions, one tensor (B, H, Q, M) a layer."""

    encoder: list[Tensor]
    decoder: list[Tensor]
    cross: list[Tensor]


class Encoder(nn.Module):
    """N layers that share no weights."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList(EncoderLayer(config) for _ in range(config.encoder_layers))
        self.final_norm = LayerNorm(config.d_model) if config.norm == "pre" else nn.Identity()

    def forward(self, x: Tensor, mask: Tensor, return_weights: bool = False) -> tuple[Tensor, list[Tensor | None]]:
        """From embedded source to memory."""
        weights = []
        for layer in self.layers:
            x, attn_weights = layer(x, mask, return_weights)
            weights.append(attn_weights)
        return self.final_norm(x), weights


class Decoder(nn.Module):
    """N layers that share no weights."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList(DecoderLayer(config) for _ in range(config.decoder_layers))
        self.final_norm = LayerNorm(config.d_model) if config.norm == "pre" else nn.Identity()

    def forward(
        self, x: Tensor, memory: Tensor, memory_mask: Tensor, return_weights: bool = False
    ) -> tuple[Tensor, list[Tensor | None], list[Tensor | None]]:
        """From embedded target and memory to hidden vectors."""
        self_weights, cross_weights = [], []
        for layer in self.layers:
            x, of_self, of_cross = layer(x, memory, memory_mask, return_weights)
            self_weights.append(of_self)
            cross_weights.append(of_cross)
        return self.final_norm(x), self_weights, cross_weights


# --- the state of a prediction ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class TransformerState:
    """Keys and values: of each row's own past, and of each sentence's memory."""

    length: int  # how many pieces were fed so far
    past: list[KeyValue | None]  # a layer each: (R, H, length, K)
    memory: list[KeyValue]  # a layer each: (B, H, S, K), shared by the rows of a sentence
    memory_mask: Tensor  # (B, 1, 1, S)
    sentence_of_row: Tensor  # (R,)

    def select(self, rows: Tensor) -> Self:
        """Reorder, repeat or drop rows; memory is copied only when a whole sentence goes or moves."""
        past = [kv and KeyValue(kv.keys[rows], kv.values[rows]) for kv in self.past]
        kept, sentence_of_row, counts = torch.unique_consecutive(
            self.sentence_of_row[rows], return_inverse=True, return_counts=True
        )
        assert (counts == counts[:1]).all(), "every sentence has equally many rows"
        memory, memory_mask = self.memory, self.memory_mask
        if not torch.equal(kept, torch.arange(memory_mask.size(0), device=kept.device)):
            memory = [KeyValue(kv.keys[kept], kv.values[kept]) for kv in memory]
            memory_mask = memory_mask[kept]
        return type(self)(self.length, past, memory, memory_mask, sentence_of_row)


# --- the model --------------------------------------------------------------------------------------------------


class Transformer(TranslationModel):
    """Encoder and decoder of attention layers, between embeddings and a projection to the vocabulary.

    Paper: Vaswani et al. 2017, section 3 and figure 1.
    """

    def __init__(self, config: ModelConfig, src_vocab_size: int, tgt_vocab_size: int, pad_id: int) -> None:
        super().__init__()
        self.config = config
        self.pad_id = pad_id
        self.src_embedding = ScaledEmbedding(src_vocab_size, config.d_model)
        if config.tie_embeddings == "three-way":
            assert src_vocab_size == tgt_vocab_size, "three-way tying needs one vocabulary"
            self.tgt_embedding = self.src_embedding
        else:
            self.tgt_embedding = ScaledEmbedding(tgt_vocab_size, config.d_model)
        if config.tie_embeddings == "none":
            self.output = nn.Linear(config.d_model, tgt_vocab_size, bias=False)
        self.piece_bias = nn.Parameter(torch.zeros(tgt_vocab_size)) if config.output_bias else None
        self.src_position = _positions(config)
        self.tgt_position = _positions(config)
        self.dropout = Dropout(config.dropout)
        self.encoder = Encoder(config)
        self.decoder = Decoder(config)
        self._initialize()

    @property
    def output_weight(self) -> Tensor:
        """The projection to the vocabulary: its own, or the target embedding's."""
        return self.output.weight if self.config.tie_embeddings == "none" else self.tgt_embedding.weight

    @property
    def output_bias(self) -> Tensor | None:
        """How readily each piece is said whatever was read, where that is learned."""
        return self.piece_bias

    @property
    def max_length(self) -> int | None:
        """Sinusoids have no end; learned positions do."""
        return self.config.max_length if self.config.position == "learned" else None

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        """Hidden vectors (B, T, D), teacher-forced."""
        hidden, _ = self._run(src, tgt, return_weights=False)
        return hidden

    def forward_with_weights(self, src: Tensor, tgt: Tensor) -> tuple[Tensor, AttentionWeights]:
        """The same pass, and what every head looked at."""
        hidden, weights = self._run(src, tgt, return_weights=True)
        assert weights is not None
        return hidden, weights

    def forward_with_alignment(self, src: Tensor, tgt: Tensor) -> tuple[Tensor, Tensor]:
        """The same pass, and the mean over the heads of the last layer but one's attention to the source.

        Paper: Garg et al. 2019, section 3: of six layers this one aligns best; the last prepares the next piece.
        """
        hidden, weights = self.forward_with_weights(src, tgt)
        return hidden, weights.cross[max(0, len(weights.cross) - 2)].mean(dim=1)  # (B, H, T, S) -> (B, T, S)

    def start(self, src: Tensor) -> TransformerState:
        """Encode, and compute the keys and values of every cross-attention once."""
        mask = padding_mask(src, self.pad_id)
        memory, _ = self.encoder(self._embed_src(src), mask)
        return TransformerState(
            length=0,
            past=[None] * len(self.decoder.layers),
            memory=[layer.cross_attention.key_value(memory) for layer in self._decoder_layers()],
            memory_mask=mask,
            sentence_of_row=torch.arange(src.size(0), device=src.device),
        )

    def step(self, last_ids: Tensor, state: DecoderState) -> tuple[Tensor, TransformerState]:
        """Log-probabilities (R, V) of the next piece of each row."""
        assert isinstance(state, TransformerState)
        x = self.tgt_position(self.tgt_embedding(last_ids[:, None]), start=state.length)  # (R,) -> (R, 1, D)
        past: list[KeyValue | None] = []
        for layer, of_self, of_memory in zip(self._decoder_layers(), state.past, state.memory, strict=True):
            x, new = layer.step(x, of_self, of_memory, state.memory_mask)
            past.append(new)
        log_probs = self.project(self.decoder.final_norm(x[:, 0])).float().log_softmax(dim=-1)
        new_state = TransformerState(state.length + 1, past, state.memory, state.memory_mask, state.sentence_of_row)
        return log_probs, new_state

    def _run(self, src: Tensor, tgt: Tensor, return_weights: bool) -> tuple[Tensor, AttentionWeights | None]:
        mask = padding_mask(src, self.pad_id)
        memory, encoder = self.encoder(self._embed_src(src), mask, return_weights)
        x = self.dropout(self.tgt_position(self.tgt_embedding(tgt)))
        hidden, decoder, cross = self.decoder(x, memory, mask, return_weights)
        return hidden, AttentionWeights(encoder, decoder, cross) if return_weights else None

    def _embed_src(self, src: Tensor) -> Tensor:
        x: Tensor = self.dropout(self.src_position(self.src_embedding(src)))
        return x

    def _decoder_layers(self) -> list[DecoderLayer]:
        return [layer for layer in self.decoder.layers if isinstance(layer, DecoderLayer)]

    def _initialize(self) -> None:
        """Glorot uniform for every matrix; W^Q, W^K and W^V count as three, though stored as one."""
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)
        for module in self.modules():
            if isinstance(module, MultiHeadAttention):
                for part in module.project_in.weight.chunk(3):
                    nn.init.xavier_uniform_(part)


def _positions(config: ModelConfig) -> nn.Module:
    if config.position == "learned":
        return LearnedPositions(config.d_model, config.max_length)
    return SinusoidalPositions(config.d_model)
