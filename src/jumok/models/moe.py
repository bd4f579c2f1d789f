"""A recurrent translator with a mixture of experts between its layers, read top to bottom.

Paper: Shazeer et al. 2017, "Outrageously Large Neural Networks", section 5.3 and appendix E; Wu et al. 2016 for GNMT,
which it shortens.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from jumok.architectures.moe import MoeConfig
from jumok.models.embedded import AttentiveModel
from jumok.models.interface import BatchShape, DecoderState
from jumok.models.state import RowState
from jumok.nn.attending_layer import AttendingLayer, Source
from jumok.nn.dropout import Dropout
from jumok.nn.mixture import MixtureOfExperts
from jumok.nn.recurrent import BidirectionalLayer, CellState, RecurrentLayer, recurrent_layers
from jumok.nn.recurrent_stack import flat, layered


class Encoder(nn.Module):
    """A layer that reads both ways, layers that read forwards, and the mixture before the last of these.

    Paper: Shazeer et al. 2017, appendix E: between the second and the third of three layers.
    Differs: of two layers it stands between them, of one behind it. A mapping joins what the first layer says of both
    directions to one width, of which the paper says nothing.
    """

    def __init__(self, config: MoeConfig) -> None:
        super().__init__()
        d = config.d_model
        self.first = BidirectionalLayer("lstm", d, d)
        self.join = nn.Linear(2 * d, d, bias=False)
        self.layers = nn.ModuleList(RecurrentLayer("lstm", d, d) for _ in range(config.encoder_layers - 1))
        self.mixture = _mixture(config)
        self.dropout = Dropout(config.dropout)

    def forward(self, x: Tensor, is_word: Tensor) -> tuple[Tensor, Tensor]:
        """From embedded source to memory, and the mixture's penalty."""
        x = self.dropout(self.join(self.first(x, is_word)))
        for layer in self.layers[:-1]:
            x = self.dropout.add(layer(x, is_word=is_word)[0], x)
        y, penalty = self.mixture(x, is_word)
        x = self.dropout.add(y, x)
        for layer in self.layers[-1:]:
            x = self.dropout.add(layer(x, is_word=is_word)[0], x)
        return x, penalty

    def multiply_adds(self, num_rows: int, length: int, num_tokens: int) -> int:
        """Recurrence goes over padding too, the mixture does not."""
        positions = num_rows * length
        layers = sum(layer.multiply_adds(positions) for layer in recurrent_layers(self.layers))
        first = self.first.multiply_adds(positions) + positions * self.join.weight.numel()
        return first + layers + self.mixture.multiply_adds(num_tokens)


class Decoder(nn.Module):
    """A layer that looks at the source, the mixture, and more layers, which are told what the first one saw.

    Paper: Shazeer et al. 2017, appendix E: the mixture between the first and the second of two layers; Wu et al. 2016,
    section 3 and equation 4: the first layer's last state asks, and every layer is given the answer.
    """

    def __init__(self, config: MoeConfig) -> None:
        super().__init__()
        d = config.d_model
        self.first = AttendingLayer("lstm", d, d, d)
        self.mixture = _mixture(config)
        self.layers = nn.ModuleList(RecurrentLayer("lstm", 2 * d, d) for _ in range(config.decoder_layers - 1))
        self.dropout = Dropout(config.dropout)

    def forward(self, x: Tensor, source: Source, is_word: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """All target positions: hidden vectors, the mixture's penalty and what was looked at (B, T, S)."""
        looked = self.first(x, source)
        x = self.dropout(looked.output)
        y, penalty = self.mixture(x, is_word)
        x = self.dropout.add(y, x)
        for layer in self.layers:
            x = self.dropout.add(layer(torch.cat((x, looked.context), dim=-1))[0], x)
        return x, penalty, looked.attn_weights

    def step(self, x: Tensor, states: list[CellState], source: Source) -> tuple[Tensor, list[CellState]]:
        """One new position for each row (R, D), with as many states as there are layers."""
        looked, first = self.first.step(x, states[0], source)
        x = looked.output + self.mixture(looked.output)[0]
        new_states = [first]
        for layer, state in zip(recurrent_layers(self.layers), states[1:], strict=True):
            new_states.append(layer.step(torch.cat((x, looked.context), dim=-1), state))
            x = x + new_states[-1][0]
        return x, new_states

    def start(self, num_rows: int) -> list[CellState]:
        """The states of all layers before the first word."""
        return [layer.start(num_rows) for layer in (self.first.recurrent, *recurrent_layers(self.layers))]

    def multiply_adds(self, num_rows: int, length: int, src_length: int, num_tokens: int) -> int:
        """Recurrence goes over padding too, the mixture does not."""
        positions = num_rows * length
        first = self.first.multiply_adds(num_rows, src_length, length)
        others = sum(layer.multiply_adds(positions) for layer in recurrent_layers(self.layers))
        return first + others + self.mixture.multiply_adds(num_tokens)


class Moe(AttentiveModel):
    """GNMT with fewer layers, and a mixture of experts in the encoder and one in the decoder.

    Paper: Shazeer et al. 2017, section 5.3 and appendix E.
    Differs: gating is the noisy top-k of section 2.1, where appendix E takes the strictly balanced one of appendix F,
    and experts stand in one row, not in a hierarchy. LSTM layers are as wide as the model, without a projection of
    their output. What a mixture says is not passed through a sigmoid. The first layer of each stack has no residual
    connection: it would carry the embedding of the piece just read to the output, whose weights may be the same.
    Attention is GNMT's, a sum inside the tanh instead of a product of two (appendix G).
    """

    def __init__(self, config: MoeConfig, src_vocab_size: int, tgt_vocab_size: int, pad_id: int) -> None:
        super().__init__(config, src_vocab_size, tgt_vocab_size, pad_id)
        self.config = config
        self.encoder = Encoder(config)
        self.decoder = Decoder(config)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)

    def forward_with_penalty(self, src: Tensor, tgt: Tensor) -> tuple[Tensor, Tensor | None]:
        """The same pass, and how unevenly the experts of both mixtures are used."""
        hidden, penalty, _ = self._run(src, tgt)
        return hidden, penalty

    def start(self, src: Tensor) -> RowState:
        """Encode, and compute the keys of the attention once."""
        source, _ = self._encode(src)
        return RowState.begin(flat(self.decoder.start(src.size(0))), source)

    def step(self, last_ids: Tensor, state: DecoderState) -> tuple[Tensor, RowState]:
        """Log-probabilities (R, V) of the next piece of each row."""
        assert isinstance(state, RowState)
        states = layered(state.rows, self.config.decoder_layers)
        hidden, states = self.decoder.step(self.tgt_embedding(last_ids), states, Source(*state.memory))
        return self.log_probs(hidden), state.after(flat(states))

    def multiply_adds(self, shape: BatchShape) -> int:
        """Both stacks with their mixtures, and the output."""
        encoder = self.encoder.multiply_adds(shape.num_rows, shape.src_length, shape.num_src_tokens)
        decoder = self.decoder.multiply_adds(shape.num_rows, shape.tgt_length, shape.src_length, shape.num_tgt_tokens)
        return encoder + decoder + shape.num_tgt_tokens * self.output_weight.numel()

    def run(self, src: Tensor, tgt: Tensor) -> tuple[Tensor, Tensor]:
        """Hidden vectors (B, T, D), and what the first decoder layer looked at (B, T, S)."""
        hidden, _, attn_weights = self._run(src, tgt)
        return hidden, attn_weights

    def _run(self, src: Tensor, tgt: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        source, of_encoder = self._encode(src)
        x = self.embed_tgt(tgt)
        hidden, of_decoder, attn_weights = self.decoder(x, source, tgt != self.pad_id)
        return hidden, of_encoder + of_decoder, attn_weights

    def _encode(self, src: Tensor) -> tuple[Source, Tensor]:
        is_word = src != self.pad_id
        values, penalty = self.encoder(self.embed_src(src), is_word)
        return self.decoder.first.read(values, is_word), penalty


def _mixture(config: MoeConfig) -> MixtureOfExperts:
    return MixtureOfExperts(
        config.d_model,
        config.d_expert,
        config.experts,
        config.experts_used,
        config.importance_weight,
        config.load_weight,
    )
