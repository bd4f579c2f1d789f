"""Two stacks of dilated convolutions, the one that writes standing on the one that reads.

Paper: Kalchbrenner et al. 2016, "Neural Machine Translation in Linear Time", section 3.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from jumok.architectures.bytenet import ByteNetConfig
from jumok.models.embedded import EmbeddedModel
from jumok.models.interface import BatchShape, DecoderState
from jumok.models.state import RowState
from jumok.nn.convolution import Convolution
from jumok.nn.dropout import Dropout
from jumok.nn.normalization import LayerNorm


def dilations(num_blocks: int, max_dilation: int) -> list[int]:
    """1, 2, 4 … doubled from block to block up to the largest, then anew: the field of view grows exponentially.

    Paper: Kalchbrenner et al. 2016 (second version), section 3.5; section 6 (rounds of 1 to 16).
    """
    one_round = [2**i for i in range(max_dilation.bit_length())]
    return [one_round[i % len(one_round)] for i in range(num_blocks)]


class ResidualBlock(nn.Module):
    """To half the width, a dilated convolution, back to the full width; norm and ReLU before each of the three.

    Paper: Kalchbrenner et al. 2016, section 3.6 and figure 3, left. d_model is its 2d (section 3.3).
    """

    def __init__(self, config: ByteNetConfig, dilation: int, is_causal: bool) -> None:
        super().__init__()
        d, half = config.d_model, config.d_model // 2
        self.enter_norm, self.inner_norm, self.leave_norm = LayerNorm(d), LayerNorm(half), LayerNorm(half)
        self.narrow = nn.Linear(d, half)
        self.convolution = Convolution(nn.Linear(config.kernel * half, half), config.kernel, dilation, is_causal)
        self.widen = nn.Linear(half, d)
        self.dropout = Dropout(config.dropout)

    def forward(self, x: Tensor, is_column: Tensor | None = None) -> Tensor:
        """All positions; the convolution sees only columns of the sentence, which are not the same in every row."""
        y = self._enter(x)
        if is_column is not None:
            y = y * is_column
        return self._leave(x, self.convolution(y))

    def step(self, x: Tensor, window: Tensor) -> tuple[Tensor, Tensor]:
        """One position of every row, and the window for the next."""
        y, window = self.convolution.step(self._enter(x), window)
        return self._leave(x, y), window

    def multiply_adds(self, num_rows: int, length: int) -> int:
        """Of the three products."""
        outer = self.narrow.weight.numel() + self.widen.weight.numel()
        return num_rows * length * outer + self.convolution.multiply_adds(num_rows, length)

    def _enter(self, x: Tensor) -> Tensor:
        y: Tensor = self.inner_norm(self.narrow(self.enter_norm(x).relu_())).relu_()
        return y

    def _leave(self, x: Tensor, y: Tensor) -> Tensor:
        return self.dropout.add(self.widen(self.leave_norm(y).relu_()), x)


class ByteNet(EmbeddedModel):
    """A network over the source makes one column a position; the one over the target takes a column at each step.

    Dynamic unfolding: a sentence of |s| pieces has |t̂| = a·|s| + b columns, the last of them beyond its end. The
    target goes on until it ends: a piece behind the last column is predicted from the pieces before it alone.

    Paper: Kalchbrenner et al. 2016, sections 3.1 and 3.2.
    Differs: column and target embedding are joined by a linear mapping of both. The blocks are followed by norm, ReLU
    and one mapping before the output, which may share its weights with the embeddings; the paper has the mapping first.
    Dropout on embeddings and blocks, for corpora that are small. Pieces may be anything; the paper's are characters.
    """

    def __init__(self, config: ByteNetConfig, src_vocab_size: int, tgt_vocab_size: int, pad_id: int) -> None:
        super().__init__(config, src_vocab_size, tgt_vocab_size, pad_id)
        self.config = config
        d = config.d_model
        self.encoder = _blocks(config, config.encoder_layers, is_causal=False)
        self.join_source = nn.Linear(d, d, bias=False)
        self.join_target = nn.Linear(d, d)
        self.decoder = _blocks(config, config.decoder_layers, is_causal=True)
        self.final_norm = LayerNorm(d)
        self.final = nn.Linear(d, d)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)

    def num_columns(self, length: int) -> int:
        """|t̂| = a·|s| + b, rounded up: how many columns a sentence of so many pieces unfolds to."""
        return math.ceil(round(self.config.length_slope * length, 6)) + self.config.length_offset

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        """Hidden vectors (B, T, D), teacher-forced."""
        columns = self._encode(src)
        num_missing = tgt.size(1) - columns.size(1)  # negative: more columns than are needed
        x = self.join_target(self.embed_tgt(tgt)) + F.pad(columns, (0, 0, 0, num_missing))
        for block in self._decoder_blocks():
            x = block(x)
        return self._leave(x)

    def start(self, src: Tensor) -> RowState:
        """Make the columns; no block of the decoder has seen anything."""
        windows = tuple(block.convolution.start(src.size(0)) for block in self._decoder_blocks())
        return RowState.begin(windows, (self._encode(src),))

    def step(self, last_ids: Tensor, state: DecoderState) -> tuple[Tensor, RowState]:
        """Log-probabilities (R, V) of the next piece of each row."""
        assert isinstance(state, RowState)
        x = self.join_target(self.tgt_embedding(last_ids))  # (R, D)
        columns = state.memory[0]
        if state.length < columns.size(1):
            x = x + columns[:, state.length][state.sentence_of_row]
        windows: list[Tensor] = []
        for block, window in zip(self._decoder_blocks(), state.rows, strict=True):
            x, new = block.step(x, window)
            windows.append(new)
        return self.log_probs(self._leave(x)), state.after(tuple(windows))

    def multiply_adds(self, shape: BatchShape) -> int:
        """Blocks, the mappings before and after the decoder, and the output."""
        d, rows, T = self.config.d_model, shape.num_rows, shape.tgt_length
        num_columns = self.num_columns(shape.src_length)
        encoder = sum(block.multiply_adds(rows, num_columns) for block in self._encoder_blocks())
        decoder = sum(block.multiply_adds(rows, T) for block in self._decoder_blocks())
        mappings = rows * (num_columns + 2 * T) * d * d
        return encoder + decoder + mappings + shape.num_tgt_tokens * self.output_weight.numel()

    def _encode(self, src: Tensor) -> Tensor:
        """What each column adds to the decoder's input (B, |t̂|, D), zero where a sentence has no such column."""
        is_word = src != self.pad_id
        lengths = is_word.sum(dim=1).tolist()
        columns_of_row = torch.tensor([self.num_columns(length) for length in lengths], device=src.device)
        width = self.num_columns(src.size(1))
        is_column = torch.arange(width, device=src.device) < columns_of_row[:, None]
        mask = is_column[:, :, None]  # (B, |t̂|, 1)
        x = self.embed_src(src) * is_word[:, :, None]
        x = F.pad(x, (0, 0, 0, width - src.size(1)))  # behind its end a sentence is unfolded as zeros
        for block in self._encoder_blocks():
            x = block(x, mask)
        columns: Tensor = self.join_source(x) * mask
        return columns

    def _leave(self, x: Tensor) -> Tensor:
        hidden: Tensor = self.final(self.final_norm(x).relu_())
        return hidden

    def _encoder_blocks(self) -> list[ResidualBlock]:
        return [block for block in self.encoder if isinstance(block, ResidualBlock)]

    def _decoder_blocks(self) -> list[ResidualBlock]:
        return [block for block in self.decoder if isinstance(block, ResidualBlock)]


def _blocks(config: ByteNetConfig, num_blocks: int, is_causal: bool) -> nn.ModuleList:
    return nn.ModuleList(
        ResidualBlock(config, dilation, is_causal) for dilation in dilations(num_blocks, config.max_dilation)
    )
