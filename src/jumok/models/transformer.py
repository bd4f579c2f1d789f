"""The Transformer, read top to bottom: layers, stacks, the state of a prediction, the model.

Paper: Vaswani et al. 2017, "Attention Is All You Need", figure 1 and section 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor, nn

from jumok.architectures import TransformerConfig
from jumok.models.embedded import EmbeddedModel
from jumok.models.interface import AttentionWeights, BatchShape, DecoderState
from jumok.models.state import select_sentences
from jumok.models.transformer_notes import LayerNotes, PassNotes
from jumok.nn.attention import KeyValue, MultiHeadAttention
from jumok.nn.feed_forward import FeedForward
from jumok.nn.masks import padding_mask
from jumok.nn.mixture import MixtureOfExperts
from jumok.nn.normalization import BatchNorm, LayerNorm, Norm
from jumok.nn.position import LearnedPositions, SimplePositions, SinusoidalPositions
from jumok.nn.residual import Residual

# --- layers -----------------------------------------------------------------------------------------------------


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward, each with its residual connection.

    Paper: Vaswani et al. 2017, section 3.1, figure 1 left.
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.self_attention = _attention(config)
        self.feed_forward = _feed_forward(config)
        self.around_self_attention = _residual(config)
        self.around_feed_forward = _residual(config)

    def forward(self, x: Tensor, mask: Tensor, return_notes: bool = False) -> tuple[Tensor, LayerNotes]:
        """Let every source position look at every other."""
        y, attended = self.self_attention(self.around_self_attention.enter(x), mask=mask, return_notes=return_notes)
        after_attention = self.around_self_attention.leave(x, y)
        y, penalty = _feed(self.feed_forward, self.around_feed_forward.enter(after_attention), mask[:, 0, 0])
        x = self.around_feed_forward.leave(after_attention, y)
        return x, LayerNotes(penalty, (attended,), (after_attention, x)) if return_notes else LayerNotes(penalty)


class DecoderLayer(nn.Module):
    """Masked self-attention, attention to the encoder's output, feed-forward.

    Paper: Vaswani et al. 2017, section 3.1, figure 1 right.
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.self_attention = _attention(config)
        self.cross_attention = _attention(config)
        self.feed_forward = _feed_forward(config)
        self.around_self_attention = _residual(config)
        self.around_cross_attention = _residual(config)
        self.around_feed_forward = _residual(config)

    def forward(
        self,
        x: Tensor,
        is_word: Tensor | None,
        memory: Tensor,
        memory_mask: Tensor,
        is_causal: bool = True,
        return_notes: bool = False,
    ) -> tuple[Tensor, LayerNotes]:
        """All target positions at once, each blind to those after it.

        Padding stands behind the words, so that the causal mask hides it from them too; `is_word` is for experts.
        """
        y, of_self = self.self_attention(
            self.around_self_attention.enter(x), is_causal=is_causal, return_notes=return_notes
        )
        after_self = self.around_self_attention.leave(x, y)
        y, of_cross = self.cross_attention(
            self.around_cross_attention.enter(after_self), memory, memory_mask, return_notes=return_notes
        )
        after_cross = self.around_cross_attention.leave(after_self, y)
        y, penalty = _feed(self.feed_forward, self.around_feed_forward.enter(after_cross), is_word)
        x = self.around_feed_forward.leave(after_cross, y)
        if not return_notes:
            return x, LayerNotes(penalty)
        return x, LayerNotes(penalty, (of_self, of_cross), (after_self, after_cross, x))

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
        y, _ = _feed(self.feed_forward, self.around_feed_forward.enter(x))
        return self.around_feed_forward.leave(x, y), past


def _feed(
    network: FeedForward | MixtureOfExperts, x: Tensor, is_word: Tensor | None = None
) -> tuple[Tensor, Tensor | None]:
    """Each position by itself, and how unevenly experts were used, where there are any; padding goes to none."""
    if isinstance(network, MixtureOfExperts):
        y, penalty = network(x, is_word)
        return y, penalty
    return network(x), None


def _attention(config: TransformerConfig) -> MultiHeadAttention:
    return MultiHeadAttention(
        config.d_model,
        config.num_heads,
        config.attention_dropout,
        config.attention_bias,
        config.d_k,
        config.scale_scores,
        config.masking,
    )


def _feed_forward(config: TransformerConfig) -> FeedForward | MixtureOfExperts:
    if not config.experts:
        return FeedForward(config.d_model, config.d_ff, config.feed_forward_dropout, config.activation)
    return MixtureOfExperts(
        config.d_model,
        config.d_ff,
        config.experts,
        config.experts_used,
        config.importance_weight,
        config.load_weight,
        config.feed_forward_dropout,
        config.activation,
    )


def _residual(config: TransformerConfig) -> Residual:
    return Residual(config.d_model, config.dropout, config.norm == "pre", config.use_residual, _norm(config))


def _norm(config: TransformerConfig) -> type[Norm]:
    return LayerNorm if config.norm_kind == "layer" else BatchNorm


def _final_norm(config: TransformerConfig) -> nn.Module:
    return _norm(config)(config.d_model) if config.norm == "pre" else nn.Identity()


# --- stacks -----------------------------------------------------------------------------------------------------


class Encoder(nn.Module):
    """N layers that share no weights."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList(EncoderLayer(config) for _ in range(config.encoder_layers))
        self.final_norm = _final_norm(config)

    def forward(self, x: Tensor, mask: Tensor, return_notes: bool = False) -> tuple[Tensor, list[LayerNotes]]:
        """From embedded source to memory."""
        notes = []
        for layer in self.layers:
            x, of_layer = layer(x, mask, return_notes)
            notes.append(of_layer)
        return self.final_norm(x), notes


class Decoder(nn.Module):
    """N layers that share no weights."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList(DecoderLayer(config) for _ in range(config.decoder_layers))
        self.final_norm = _final_norm(config)

    def forward(
        self,
        x: Tensor,
        is_word: Tensor | None,
        memory: Tensor,
        memory_mask: Tensor,
        is_causal: bool = True,
        return_notes: bool = False,
    ) -> tuple[Tensor, list[LayerNotes]]:
        """From embedded target and memory to hidden vectors."""
        notes = []
        for layer in self.layers:
            x, of_layer = layer(x, is_word, memory, memory_mask, is_causal, return_notes)
            notes.append(of_layer)
        return self.final_norm(x), notes


# --- the state of a prediction ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class TransformerState:
    """Keys and values: of each row's own past, and of each sentence's memory."""

    length: int  # how many pieces were fed so far
    past: list[KeyValue | None]  # a layer each: (R, H, length, K)
    memory: list[KeyValue]  # a layer each: (B, H, S, K), shared by the rows of a sentence
    memory_mask: Tensor  # (B, 1, 1, S)
    sentence_of_row: Tensor  # (R,)

    def src_lengths(self) -> Tensor:
        """How many pieces each row's source has (R,)."""
        return self.memory_mask.sum(dim=(1, 2, 3))[self.sentence_of_row]

    def select(self, rows: Tensor) -> Self:
        """Reorder, repeat or drop rows; memory is copied only when a whole sentence goes or moves."""
        past = [kv and KeyValue(kv.keys[rows], kv.values[rows]) for kv in self.past]
        kept, sentence_of_row = select_sentences(self.sentence_of_row, rows, self.memory_mask.size(0))
        memory, memory_mask = self.memory, self.memory_mask
        if kept is not None:
            memory = [KeyValue(kv.keys[kept], kv.values[kept]) for kv in memory]
            memory_mask = memory_mask[kept]
        return type(self)(self.length, past, memory, memory_mask, sentence_of_row)


# --- the model --------------------------------------------------------------------------------------------------


class Transformer(EmbeddedModel):
    """Encoder and decoder of attention layers, between embeddings and a projection to the vocabulary.

    Paper: Vaswani et al. 2017, section 3 and figure 1.
    Differs: experts can stand in the place of the feed-forward network, as between the layers of Shazeer et al. 2017.
    """

    has_attention = True

    def __init__(self, config: TransformerConfig, src_vocab_size: int, tgt_vocab_size: int, pad_id: int) -> None:
        super().__init__(config, src_vocab_size, tgt_vocab_size, pad_id)
        self.config = config
        self.piece_bias = nn.Parameter(torch.zeros(tgt_vocab_size)) if config.output_bias else None
        self.src_position = _positions(config)
        self.tgt_position = _positions(config)
        self.encoder = Encoder(config)
        self.decoder = Decoder(config)
        self._initialize()

    @property
    def output_bias(self) -> Tensor | None:
        """How readily each piece is said whatever was read, where that is learned."""
        return self.piece_bias

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        """Hidden vectors (B, T, D), teacher-forced."""
        return self._run(src, tgt)[0]

    def forward_with_penalty(self, src: Tensor, tgt: Tensor) -> tuple[Tensor, Tensor | None]:
        """The same pass, and how unevenly the experts of all layers are used, where there are experts."""
        hidden, notes = self._run(src, tgt)
        return hidden, notes.penalty()

    def forward_with_weights(self, src: Tensor, tgt: Tensor) -> tuple[Tensor, AttentionWeights]:
        """The same pass, and what every head looked at."""
        hidden, notes = self._run(src, tgt, return_notes=True)
        return hidden, notes.weights()

    def forward_with_notes(self, src: Tensor, tgt: Tensor, is_causal: bool = True) -> tuple[Tensor, PassNotes]:
        """The same pass, and all that there is to see of it; without the causal mask, to see what it is good for."""
        return self._run(src, tgt, is_causal, return_notes=True)

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
        lengths = state.src_lengths() if self._scales_counts else None  # the target's own are not known yet
        x = self.tgt_position(self.tgt_embedding(last_ids[:, None]), state.length, lengths)  # (R,) -> (R, 1, D)
        past: list[KeyValue | None] = []
        for layer, of_self, of_memory in zip(self._decoder_layers(), state.past, state.memory, strict=True):
            x, new = layer.step(x, of_self, of_memory, state.memory_mask)
            past.append(new)
        log_probs = self.log_probs(self.decoder.final_norm(x[:, 0]))
        new_state = TransformerState(state.length + 1, past, state.memory, state.memory_mask, state.sentence_of_row)
        return log_probs, new_state

    def multiply_adds(self, shape: BatchShape) -> int:
        """Projections, feed-forward, scores and context of every layer, and the output."""
        config = self.config
        d, w, rows, S, T = config.d_model, config.heads_width, shape.num_rows, shape.src_length, shape.tgt_length
        encoder = 4 * rows * S * d * w + 2 * rows * S * S * w + self._feeding(rows * S, shape.num_src_tokens)
        decoder = 4 * rows * T * d * w + 2 * rows * T * T * w + self._feeding(rows * T, shape.num_tgt_tokens)
        cross = 2 * rows * T * d * w + 2 * rows * S * d * w + 2 * rows * T * S * w  # W^K and W^V see the source
        output = shape.num_tgt_tokens * self.output_weight.numel()
        return config.encoder_layers * encoder + config.decoder_layers * (decoder + cross) + output

    def _feeding(self, num_positions: int, num_tokens: int) -> int:
        """Of one layer's feed-forward network at all positions, or of its experts, to whom no padding is sent."""
        if self.config.experts:
            mixture = self._decoder_layers()[0].feed_forward
            assert isinstance(mixture, MixtureOfExperts)
            return mixture.multiply_adds(num_tokens)
        return num_positions * 2 * self.config.d_model * self.config.d_ff

    def _run(
        self, src: Tensor, tgt: Tensor, is_causal: bool = True, return_notes: bool = False
    ) -> tuple[Tensor, PassNotes]:
        mask = padding_mask(src, self.pad_id)
        src_embedded = self._embed_src(src)
        memory, of_encoder = self.encoder(src_embedded, mask, return_notes)
        tgt_embedded = self.dropout(self.tgt_position(self.tgt_embedding(tgt), lengths=self._lengths(tgt)))
        is_word = tgt != self.pad_id if self.config.experts else None
        hidden, of_decoder = self.decoder(tgt_embedded, is_word, memory, mask, is_causal, return_notes)
        return hidden, PassNotes(src_embedded, tgt_embedded, of_encoder, of_decoder)

    def _embed_src(self, src: Tensor) -> Tensor:
        x: Tensor = self.dropout(self.src_position(self.src_embedding(src), lengths=self._lengths(src)))
        return x

    @property
    def _scales_counts(self) -> bool:
        return self.config.position == "scaled_counts"

    def _lengths(self, ids: Tensor) -> Tensor | None:
        """How many pieces each sentence has (B,), where positions depend on it."""
        return (ids != self.pad_id).sum(dim=1) if self._scales_counts else None

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


def _positions(config: TransformerConfig) -> nn.Module:
    if config.position == "sinusoidal":
        return SinusoidalPositions(config.d_model)
    if config.position == "learned":
        return LearnedPositions(config.d_model, config.max_length)
    return SimplePositions(config.d_model, config.position)
