"""A trained Transformer as a CTranslate2 model: the same weights under that library's names.

https://opennmt.net/CTranslate2
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
from ctranslate2.specs import TransformerSpec
from ctranslate2.specs.common_spec import Activation
from numpy.typing import NDArray
from torch import Tensor, nn

from jumok.exchange.usual_transformer import usual_transformer
from jumok.exchange.vocabulary_map import write_vocabulary_map
from jumok.models.transformer import DecoderLayer, EncoderLayer, Transformer
from jumok.nn.attention import MultiHeadAttention
from jumok.nn.feed_forward import FeedForward
from jumok.nn.normalization import LayerNorm, Norm
from jumok.nn.position import LearnedPositions, sinusoids
from jumok.storage.folders import new_folder
from jumok.storage.run_directory import RunDirectory
from jumok.text.tokenizer import Tokenizer

VOCABULARY_MAP = "vmap.txt"  # the name that the library looks for
_ACTIVATIONS = {"relu": Activation.RELU, "swish": Activation.SWISH, "gelu": Activation.GELU}


def export_ctranslate2(
    run: RunDirectory, folder: Path, compute: str = "float32", use_vocabulary_map: bool = False
) -> None:
    """Write a folder that `ctranslate2.Translator` opens, and `jumok translate` too.

    The run's SentencePiece files and its configuration lie beside the model.
    """
    model = usual_transformer(run, "a CTranslate2 model")
    src_tokenizer, tgt_tokenizer = run.tokenizers()
    with new_folder(folder) as unfinished:
        convert(model, src_tokenizer, tgt_tokenizer, unfinished, compute)
        for file in run.files_beside_the_weights():
            shutil.copy(file, unfinished / file.name)
        if use_vocabulary_map:
            write_vocabulary_map(run, unfinished / VOCABULARY_MAP)


def is_ctranslate2_folder(folder: Path) -> bool:
    """Whether this is what `jumok export --to ctranslate2` writes."""
    return (folder / "model.bin").exists()


def convert(
    model: Transformer,
    src_tokenizer: Tokenizer,
    tgt_tokenizer: Tokenizer,
    folder: Path,
    compute: str = "float32",
    num_positions: int = 4096,
) -> None:
    """Write the model and its vocabularies into an existing folder; `compute` is how the weights are stored.

    Sinusoids have no end, but a table of them has: no sentence may be longer than `num_positions`.
    """
    config = model.config
    spec = TransformerSpec.from_config(
        (config.encoder_layers, config.decoder_layers),
        config.num_heads,
        pre_norm=config.norm == "pre",
        activation=_ACTIVATIONS[config.activation],
    )
    _set_stack(spec.encoder, model.encoder, model.src_position, sinusoids(num_positions, config.d_model))
    _set_stack(spec.decoder, model.decoder, model.tgt_position, sinusoids(num_positions, config.d_model))
    spec.encoder.embeddings[0].weight = _array(model.src_embedding.weight)
    spec.decoder.embeddings.weight = _array(model.tgt_embedding.weight)
    spec.encoder.scale_embeddings = spec.decoder.scale_embeddings = True
    spec.decoder.projection.weight = _array(model.output_weight)
    if model.output_bias is not None:
        spec.decoder.projection.bias = _array(model.output_bias)
    for of_spec, layer in zip(spec.encoder.layer, model.encoder.layers, strict=True):
        assert isinstance(layer, EncoderLayer)
        _set_self_attention(of_spec.self_attention, layer.self_attention, layer.around_self_attention.norm)
        _set_feed_forward(of_spec.ffn, layer)
    for of_spec, layer in zip(spec.decoder.layer, model.decoder.layers, strict=True):
        assert isinstance(layer, DecoderLayer)
        _set_self_attention(of_spec.self_attention, layer.self_attention, layer.around_self_attention.norm)
        _set_cross_attention(of_spec.attention, layer.cross_attention, layer.around_cross_attention.norm)
        _set_feed_forward(of_spec.ffn, layer)

    spec.register_source_vocabulary(src_tokenizer.all_pieces())
    spec.register_target_vocabulary(tgt_tokenizer.all_pieces())
    spec.config.add_source_eos = True
    spec.config.bos_token, spec.config.eos_token, spec.config.unk_token = "<s>", "</s>", "<unk>"
    spec.config.decoder_start_token = spec.config.bos_token
    spec.config.layer_norm_epsilon = LayerNorm(2).eps
    spec.validate()
    spec.optimize(quantization=None if compute == "float32" else compute)
    spec.save(str(folder))


def _set_stack(spec: Any, stack: nn.Module, position: nn.Module, table: Tensor) -> None:
    if isinstance(position, LearnedPositions):
        table = position.embedding.weight
    spec.position_encodings.encodings = _array(table)
    if isinstance(stack.final_norm, LayerNorm):
        _set_norm(spec.layer_norm, stack.final_norm)


def _set_self_attention(spec: Any, attention: MultiHeadAttention, norm: Norm) -> None:
    """W^Q, W^K and W^V are one matrix there too."""
    _set_linear(spec.linear[0], attention.project_in)
    _set_linear(spec.linear[1], attention.project_out)
    _set_norm(spec.layer_norm, norm)


def _set_cross_attention(spec: Any, attention: MultiHeadAttention, norm: Norm) -> None:
    """W^Q sees the target, W^K and W^V the source."""
    _set_linear(spec.linear[0], attention.project_in, slice(attention.d_model))
    _set_linear(spec.linear[1], attention.project_in, slice(attention.d_model, None))
    _set_linear(spec.linear[2], attention.project_out)
    _set_norm(spec.layer_norm, norm)


def _set_feed_forward(spec: Any, layer: EncoderLayer | DecoderLayer) -> None:
    network = layer.feed_forward
    assert isinstance(network, FeedForward), "experts are refused"
    _set_linear(spec.linear_0, network.expand)
    _set_linear(spec.linear_1, network.contract)
    _set_norm(spec.layer_norm, layer.around_feed_forward.norm)


def _set_linear(spec: Any, linear: nn.Linear, rows: slice = slice(None)) -> None:
    spec.weight = _array(linear.weight[rows])
    if linear.bias is not None:
        spec.bias = _array(linear.bias[rows])


def _set_norm(spec: Any, norm: Norm) -> None:
    spec.gamma, spec.beta = _array(norm.gain), _array(norm.bias)


def _array(tensor: Tensor) -> NDArray[np.float32]:
    array: NDArray[np.float32] = tensor.detach().cpu().float().contiguous().numpy()
    return array
