"""Gated convolutions that read and write, with attention in every layer that writes.

Paper: Gehring et al. 2017, "Convolutional Sequence to Sequence Learning", section 3.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch.nn.functional as F
from torch import Tensor, nn

from jumok.architectures.convs2s import ConvS2SConfig
from jumok.models.interface import AttentionWeights, BatchShape, DecoderState, TranslationModel
from jumok.models.state import RowState
from jumok.nn.convolution import Convolution, NormalizedLinear
from jumok.nn.dropout import Dropout
from jumok.nn.position import LearnedPositions
from jumok.nn.source_attention import SourceAttention

HALF = math.sqrt(0.5)  # the sum of two vectors times this varies as much as each of them (section 3.4)
EMBEDDING_STD = 0.1  # section 3.5


class Memory(NamedTuple):
    """What the decoder looks at, of every sentence."""

    keys: Tensor  # (B, S, D): z, the encoder's output
    values: Tensor  # (B, S, D): z + e, the encoder's output and input, scaled
    is_word: Tensor  # (B, S)


# --- layers -----------------------------------------------------------------------------------------------------


def mapping(d_in: int, d_out: int, dropout: float = 0.0) -> NormalizedLinear:
    """A linear mapping whose input had this dropout: N(0, √(p/n)), p the part that is kept.

    Paper: Gehring et al. 2017, section 3.5.
    """
    return NormalizedLinear(d_in, d_out, std=math.sqrt((1 - dropout) / d_in))


class GatedConvolution(nn.Module):
    """Dropout, a convolution to 2·D numbers, and half of them as gates of the other half: [A B] -> A ⊗ σ(B).

    Paper: Gehring et al. 2017, section 3.2; initialised with N(0, √(4p/n)) as in section 3.5, because a gate makes the
    variance a quarter.
    """

    def __init__(self, config: ConvS2SConfig, is_causal: bool) -> None:
        super().__init__()
        d, kernel, dropout = config.d_model, config.kernel, config.dropout
        std = math.sqrt(4 * (1 - dropout) / (kernel * d))
        self.dropout = Dropout(dropout)
        self.convolution = Convolution(NormalizedLinear(kernel * d, 2 * d, std), kernel, is_causal=is_causal)

    def forward(self, x: Tensor) -> Tensor:
        """All positions."""
        return F.glu(self.convolution(self.dropout(x)))

    def step(self, x: Tensor, window: Tensor) -> tuple[Tensor, Tensor]:
        """One position of every row, and the window for the next."""
        y, window = self.convolution.step(x, window)
        return F.glu(y), window


class EncoderLayer(nn.Module):
    """A gated convolution that looks to both sides, and its residual connection."""

    def __init__(self, config: ConvS2SConfig) -> None:
        super().__init__()
        self.gated = GatedConvolution(config, is_causal=False)

    def forward(self, x: Tensor, is_word: Tensor) -> Tensor:
        """Padding is made zero first: the words next to it must not see it."""
        y: Tensor = self.gated(x * is_word[:, :, None])
        return (y + x) * HALF


class DecoderLayer(nn.Module):
    """A gated convolution that looks back only, attention to the source, and the residual connection.

    d = W·h + b + g compares with the keys z; g is the embedding of the piece before. The context is added to h.

    Paper: Gehring et al. 2017, section 3.3, equations 1 and 2.
    """

    def __init__(self, config: ConvS2SConfig) -> None:
        super().__init__()
        self.gated = GatedConvolution(config, is_causal=True)
        self.map_query = mapping(config.d_model, config.d_model)
        self.attention = SourceAttention("dot", config.d_model, config.d_model)

    def forward(self, x: Tensor, embedded: Tensor, memory: Memory) -> tuple[Tensor, Tensor]:
        """All positions, and what they looked at (B, T, S)."""
        h = self.gated(x)
        context, attn_weights = self.attention(self._query(h, embedded), *memory)
        return self._leave(x, h, context), attn_weights

    def step(self, x: Tensor, embedded: Tensor, window: Tensor, state: RowState) -> tuple[Tensor, Tensor]:
        """One position of every row; the rows of a sentence are so many queries to its one memory."""
        h, window = self.gated.step(x, window)
        context, _ = self.attention(state.by_sentence(self._query(h, embedded)), *state.memory)
        return self._leave(x, h, context.flatten(0, 1)), window

    def _query(self, h: Tensor, embedded: Tensor) -> Tensor:
        query: Tensor = (self.map_query(h) + embedded) * HALF
        return query

    def _leave(self, x: Tensor, h: Tensor, context: Tensor) -> Tensor:
        return ((h + context) * HALF + x) * HALF


# --- the model --------------------------------------------------------------------------------------------------


class ConvS2S(TranslationModel):
    """Embeddings with learned positions, a stack of convolutions each side, attention from every layer of the decoder.

    Linear mappings stand before and after each stack. Every weight but the embeddings is learned as length and
    direction.

    Paper: Gehring et al. 2017, section 3, and section 4.2 (weight normalisation, where there is dropout).
    Differs: one width for embeddings and convolutions, so that no mapping is needed after attention, and one kernel for
    all layers. The sum of two vectors is scaled by √0.5 in equations 1 and 2 and where the context is added too, as the
    paper's authors do in their code, not in residual connections only. The output may share its weights with the
    embeddings, and is then not weight-normalised.
    """

    has_attention = True

    def __init__(self, config: ConvS2SConfig, src_vocab_size: int, tgt_vocab_size: int, pad_id: int) -> None:
        super().__init__()
        self.config = config
        self.pad_id = pad_id
        d = config.d_model
        self.src_embedding = _embedding(src_vocab_size, d)
        if config.tie_embeddings == "three-way":
            assert src_vocab_size == tgt_vocab_size, "three-way tying needs one vocabulary"
            self.tgt_embedding = self.src_embedding
        else:
            self.tgt_embedding = _embedding(tgt_vocab_size, d)
        self.src_position = _positions(config)
        self.tgt_position = _positions(config)
        self.dropout = Dropout(config.dropout)
        self.enter_encoder = mapping(d, d, config.dropout)
        self.encoder = nn.ModuleList(EncoderLayer(config) for _ in range(config.encoder_layers))
        self.leave_encoder = mapping(d, d)
        self.enter_decoder = mapping(d, d, config.dropout)
        self.decoder = nn.ModuleList(DecoderLayer(config) for _ in range(config.decoder_layers))
        self.leave_decoder = mapping(d, d)
        if config.tie_embeddings == "none":
            self.output = mapping(d, tgt_vocab_size, config.dropout)
        else:
            self.piece_bias = nn.Parameter(self.tgt_embedding.weight.new_zeros(tgt_vocab_size))

    @property
    def output_weight(self) -> Tensor:
        """The projection to the vocabulary: its own, or the target embedding's."""
        return self.output.weight if self.config.tie_embeddings == "none" else self.tgt_embedding.weight

    @property
    def output_bias(self) -> Tensor | None:
        """How readily each piece is said whatever was read."""
        return self.output.bias if self.config.tie_embeddings == "none" else self.piece_bias

    @property
    def max_length(self) -> int | None:
        """Learned positions end."""
        return self.config.position_limit

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        """Hidden vectors (B, T, D), teacher-forced."""
        return self._run(src, tgt)[0]

    def forward_with_weights(self, src: Tensor, tgt: Tensor) -> tuple[Tensor, AttentionWeights]:
        """The same pass, and what every layer of the decoder looked at; each has one head."""
        hidden, weights = self._run(src, tgt)
        return hidden, AttentionWeights(cross=[attn_weights[:, None] for attn_weights in weights])

    def start(self, src: Tensor) -> RowState:
        """Encode; no layer of the decoder has seen anything."""
        windows = tuple(layer.gated.convolution.start(src.size(0)) for layer in self._decoder_layers())
        return RowState.begin(windows, self._encode(src))

    def step(self, last_ids: Tensor, state: DecoderState) -> tuple[Tensor, RowState]:
        """Log-probabilities (R, V) of the next piece of each row."""
        assert isinstance(state, RowState)
        embedded = self.tgt_position(self.tgt_embedding(last_ids[:, None]), start=state.length)[:, 0]  # (R, D)
        x = self.enter_decoder(embedded)
        windows: list[Tensor] = []
        for layer, window in zip(self._decoder_layers(), state.rows, strict=True):
            x, new = layer.step(x, embedded, window, state)
            windows.append(new)
        log_probs = self.project(self.leave_decoder(x)).float().log_softmax(dim=-1)
        return log_probs, state.after(tuple(windows))

    def multiply_adds(self, shape: BatchShape) -> int:
        """Convolutions, attention and mappings, and the output."""
        d, rows, S, T = self.config.d_model, shape.num_rows, shape.src_length, shape.tgt_length
        mappings = 2 * rows * (S + T) * d * d
        encoder = sum(layer.gated.convolution.multiply_adds(rows, S) for layer in self._encoder_layers())
        decoder = sum(
            layer.gated.convolution.multiply_adds(rows, T)
            + rows * T * d * d
            + layer.attention.multiply_adds(rows, S, T)
            for layer in self._decoder_layers()
        )
        return mappings + encoder + decoder + shape.num_tgt_tokens * self.output_weight.numel()

    def _run(self, src: Tensor, tgt: Tensor) -> tuple[Tensor, list[Tensor]]:
        memory = self._encode(src)
        embedded = self.dropout(self.tgt_position(self.tgt_embedding(tgt)))
        x = self.enter_decoder(embedded)
        weights = []
        for layer in self._decoder_layers():
            x, attn_weights = layer(x, embedded, memory)
            weights.append(attn_weights)
        return self.dropout(self.leave_decoder(x)), weights

    def _encode(self, src: Tensor) -> Memory:
        """Keys z and values z + e.

        A context is a weighted mean of m values, and varies less the larger m is: m·√(1/m) makes up for that. Every
        attention sends its gradient back to z: it is divided by how many they are, but for the way past the encoder.

        Paper: Gehring et al. 2017, sections 3.3 and 3.4.
        """
        is_word = src != self.pad_id
        embedded = self.dropout(self.src_position(self.src_embedding(src)))
        z = self.enter_encoder(embedded)
        for layer in self._encoder_layers():
            z = layer(z, is_word)
        z = self.leave_encoder(z)
        if z.requires_grad:
            z.register_hook(lambda grad: grad / len(self.decoder))
        m = is_word.sum(dim=1)[:, None, None]  # of each sentence, not of the longest one
        return Memory(z, (z + embedded) * (HALF * m.to(z.dtype).sqrt()), is_word)

    def _encoder_layers(self) -> list[EncoderLayer]:
        return [layer for layer in self.encoder if isinstance(layer, EncoderLayer)]

    def _decoder_layers(self) -> list[DecoderLayer]:
        return [layer for layer in self.decoder if isinstance(layer, DecoderLayer)]


def _embedding(vocab_size: int, d_model: int) -> nn.Embedding:
    embedding = nn.Embedding(vocab_size, d_model)
    nn.init.normal_(embedding.weight, std=EMBEDDING_STD)
    return embedding


def _positions(config: ConvS2SConfig) -> LearnedPositions:
    positions = LearnedPositions(config.d_model, config.max_length)
    nn.init.normal_(positions.embedding.weight, std=EMBEDDING_STD)
    return positions
