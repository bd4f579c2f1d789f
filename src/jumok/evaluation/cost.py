"""What a training cost, in floating-point operations of its matrix products.

A product of (a, b) and (b, c) counts 2·a·b·c. Backward costs twice forward: one product for the gradient of
each factor. Sums, norms and softmax are left out, as is usual; they are a small part of the arithmetic.
"""

from __future__ import annotations

from jumok.config import ModelConfig
from jumok.data.batching import Batch


def training_flops(config: ModelConfig, tgt_vocab_size: int, batch: Batch) -> int:
    """Forward and backward of one batch, padding included where it is computed."""
    num_rows, src_length = batch.src.shape
    forward = transformer_forward_flops(
        config, tgt_vocab_size, num_rows, src_length, batch.tgt_in.shape[1], batch.num_tgt_tokens
    )
    return 3 * forward


def transformer_forward_flops(
    config: ModelConfig, tgt_vocab_size: int, num_rows: int, src_length: int, tgt_length: int, num_projected: int
) -> int:
    """The matrix products of one forward pass.

    `num_projected` target tokens reach the vocabulary: padding does not.
    """
    d, d_ff = config.d_model, config.d_ff
    num_src, num_tgt = num_rows * src_length, num_rows * tgt_length
    projections = 4 * d * d  # W^Q, W^K, W^V and W^O, for one token
    feed_forward = 2 * d * d_ff
    encoder = num_src * (projections + feed_forward) + 2 * num_rows * src_length * src_length * d
    decoder = (
        num_tgt * (projections + feed_forward)
        + 2 * num_rows * tgt_length * tgt_length * d
        + num_tgt * 2 * d * d  # cross-attention: W^Q and W^O see the target,
        + num_src * 2 * d * d  # W^K and W^V the source
        + 2 * num_rows * tgt_length * src_length * d
    )
    output = num_projected * d * tgt_vocab_size
    return 2 * (config.encoder_layers * encoder + config.decoder_layers * decoder + output)
