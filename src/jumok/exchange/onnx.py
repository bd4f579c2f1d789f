"""A trained Transformer as two ONNX graphs: the encoder, and one step of the decoder with its caches.

The graphs are written node by node, in the order of `models/transformer.py`, instead of being traced: a trace would
fix the numbers that differ from call to call (sentences, rows, lengths) or need a rule for each of them.

Shapes: R is the rows of the decoder, equally many for each of B sentences and side by side; L is the pieces so far.
"""

from __future__ import annotations

import math
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor, nn

from jumok.errors import UsageError
from jumok.exchange.usual_transformer import usual_transformer
from jumok.models.transformer import DecoderLayer, EncoderLayer, Transformer
from jumok.nn.attention import MultiHeadAttention
from jumok.nn.embedding import ScaledEmbedding
from jumok.nn.feed_forward import FeedForward
from jumok.nn.mixture import MixtureOfExperts
from jumok.nn.normalization import LayerNorm, Norm
from jumok.nn.position import LearnedPositions
from jumok.nn.residual import Residual
from jumok.storage.folders import new_folder
from jumok.storage.run_directory import RunDirectory

try:
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ImportError:
    raise UsageError("ONNX needs packages that are not installed: pip install 'jumok[onnx]'") from None

_OPSET, _IR_VERSION = 20, 9  # onnxruntime 1.17 and later
_MAX_FILE_BYTES = 2_000_000_000  # a protobuf ends at 2 GiB: above this the weights stand in a file of their own


def export_onnx(run: RunDirectory, folder: Path) -> None:
    """Write a folder that onnxruntime runs: the two graphs, configuration, tokenizer and a README."""
    model = usual_transformer(run, "ONNX")
    with new_folder(folder) as unfinished:
        write_graphs(model, unfinished)
        for file in run.files_beside_the_weights():
            shutil.copy(file, unfinished / file.name)
        (unfinished / "README.md").write_text(_readme(run, model, Path(folder).name), encoding="utf-8")


def write_graphs(model: Transformer, folder: Path) -> None:
    """Write encoder.onnx and decoder.onnx into an existing folder."""
    _encoder(model).save(folder / "encoder.onnx", model.max_length)
    _decoder(model).save(folder / "decoder.onnx", model.max_length)


# --- a graph ----------------------------------------------------------------------------------------------------


class _Graph:
    """Inputs, nodes, weights and outputs, in the order in which they are called for. Values go by their names."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.inputs: list[onnx.ValueInfoProto] = []
        self.outputs: list[onnx.ValueInfoProto] = []

    def __call__(self, op: str, *inputs: str, **attributes: Any) -> str:
        """Add a node with one output."""
        return self._add(op, inputs, 1, attributes)[0]

    def split(self, value: str, parts: int) -> list[str]:
        """Cut the last dimension into equal parts."""
        return self._add("Split", (value,), parts, {"axis": -1, "num_outputs": parts})

    def _add(self, op: str, inputs: tuple[str, ...], num_outputs: int, attributes: dict[str, Any]) -> list[str]:
        names = [f"{op}_{len(self.nodes)}_{i}" for i in range(num_outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, **attributes))
        return names

    def weight(self, values: Tensor) -> str:
        """Add a tensor of the model."""
        return self.constant(values.detach().float().cpu().contiguous().numpy())

    def constant(self, values: Any) -> str:
        """Add numbers: integers as int64, an array as it is."""
        array = values if isinstance(values, np.ndarray) else np.array(values, dtype=np.int64)
        name = f"constant_{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(array, name))
        return name

    def input(self, name: str, kind: int, shape: list[str | int]) -> str:
        """Add an input; a dimension that is a word is free."""
        self.inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def output(self, name: str, value: str, kind: int, shape: list[str | int]) -> None:
        """Give a value out under this name."""
        self.nodes.append(helper.make_node("Identity", [value], [name]))
        self.outputs.append(helper.make_tensor_value_info(name, kind, shape))

    def save(self, path: Path, max_length: int | None) -> None:
        """Write the file, which also knows the longest sentence that it can take."""
        graph = helper.make_graph(self.nodes, self.name, self.inputs, self.outputs, self.weights)
        opset = helper.make_opsetid("", _OPSET)
        model = helper.make_model(graph, opset_imports=[opset], ir_version=_IR_VERSION, producer_name="jumok")
        if max_length is not None:
            helper.set_model_props(model, {"max_length": str(max_length)})
        is_large = sum(len(weight.raw_data) for weight in self.weights) > _MAX_FILE_BYTES
        onnx.save_model(model, path, save_as_external_data=is_large, location=f"{path.name}.data")


# --- the two graphs ---------------------------------------------------------------------------------------------


def _encoder(model: Transformer) -> _Graph:
    """From source ids (B, S) to what the decoder's cross-attentions look at: as `Transformer.start`."""
    g = _Graph("encoder")
    src = g.input("src", TensorProto.INT64, ["B", "S"])
    mask = g("Not", g("Equal", src, g.constant(model.pad_id)))  # (B, S)
    visible = g("Unsqueeze", mask, g.constant([1, 2]))  # (B, S) -> (B, 1, 1, S)
    length = g("Squeeze", g("Shape", src, start=1, end=2))
    positions = g("Range", g.constant(0), length, g.constant(1))
    x = _embed(g, src, positions, model.src_embedding, g.weight(model.src_embedding.weight), model.src_position)
    for layer in model.encoder.layers:
        assert isinstance(layer, EncoderLayer)
        heads = layer.self_attention
        projected = _project(g, _enter(g, x, layer.around_self_attention), heads, slice(None))
        q, k, v = (_heads(g, part, heads) for part in g.split(projected, 3))
        context = g("Transpose", _attend(g, q, k, v, heads, visible), perm=[0, 2, 1, 3])  # -> (B, S, H, K)
        y = _linear(g, g("Reshape", context, g.constant([0, 0, -1])), heads.project_out)
        x = _leave(g, x, y, layer.around_self_attention)
        x = _feed_forward(g, x, layer.feed_forward, layer.around_feed_forward)
    memory = _final_norm(g, x, model.encoder.final_norm)
    for i, cross in enumerate(_cross_attentions(model)):
        projected = _project(g, memory, cross, slice(cross.d_model, None))
        for kind, part in zip(("key", "value"), g.split(projected, 2), strict=True):
            g.output(f"memory.{i}.{kind}", _heads(g, part, cross), TensorProto.FLOAT, _cache(cross, "B", "S"))
    g.output("memory_mask", mask, TensorProto.BOOL, ["B", "S"])
    return g


def _decoder(model: Transformer) -> _Graph:
    """From the last id of each row, and the caches, to log-probabilities and longer caches: as `Transformer.step`."""
    g = _Graph("decoder")
    last_ids = g.input("last_ids", TensorProto.INT64, ["R"])
    crosses = _cross_attentions(model)
    caches = [
        [
            g.input(f"{of}.{i}.{kind}", TensorProto.FLOAT, _cache(cross, *free))
            for of, free in (("past", ("R", "L")), ("memory", ("B", "S")))
            for kind in ("key", "value")
        ]
        for i, cross in enumerate(crosses)
    ]
    mask = g.input("memory_mask", TensorProto.BOOL, ["B", "S"])
    visible = g("Unsqueeze", mask, g.constant([1, 2]))  # (B, S) -> (B, 1, 1, S)
    num_sentences = g("Shape", mask, start=0, end=1)
    length = g("Shape", caches[0][0], start=2, end=3)  # (1,): so many pieces so far, so this is the new one's position
    embedding = g.weight(model.tgt_embedding.weight)
    x = _embed(g, last_ids, length, model.tgt_embedding, embedding, model.tgt_position)  # (R, D)
    caches_after = []
    for layer, (past_keys, past_values, memory_keys, memory_values) in zip(model.decoder.layers, caches, strict=True):
        assert isinstance(layer, DecoderLayer)
        x, keys, values = _self_attention_step(g, x, past_keys, past_values, layer)
        caches_after.append((keys, values))
        x = _cross_attention_step(g, x, memory_keys, memory_values, visible, num_sentences, layer)
        x = _feed_forward(g, x, layer.feed_forward, layer.around_feed_forward)
    x = _final_norm(g, x, model.decoder.final_norm)
    output = embedding if model.config.tie_embeddings != "none" else g.weight(model.output_weight)
    bias = [] if model.output_bias is None else [g.weight(model.output_bias)]
    log_probs = g("LogSoftmax", g("Gemm", x, output, *bias, transB=1), axis=-1)
    g.output("log_probs", log_probs, TensorProto.FLOAT, ["R", model.output_weight.size(0)])
    for i, (cross, after) in enumerate(zip(crosses, caches_after, strict=True)):
        for kind, value in zip(("key", "value"), after, strict=True):
            g.output(f"new.{i}.{kind}", value, TensorProto.FLOAT, _cache(cross, "R", "L + 1"))
    return g


def _self_attention_step(g: _Graph, x: str, past_keys: str, past_values: str, layer: DecoderLayer) -> tuple[str, ...]:
    """One new position for each row: (R, D) -> (R, D), and the keys and values with its own behind the others."""
    heads = layer.self_attention
    projected = _project(g, _enter(g, x, layer.around_self_attention), heads, slice(None))
    one_position = g.constant([-1, heads.num_heads, 1, heads.d_model // heads.num_heads])
    q, k, v = (
        g("Reshape", part, one_position)  # (R, D) -> (R, H, 1, K)
        for part in g.split(projected, 3)
    )
    keys, values = g("Concat", past_keys, k, axis=2), g("Concat", past_values, v, axis=2)
    context = _attend(g, q, keys, values, heads)
    y = _linear(g, g("Reshape", context, g.constant([-1, heads.d_model])), heads.project_out)
    return _leave(g, x, y, layer.around_self_attention), keys, values


def _cross_attention_step(
    g: _Graph, x: str, keys: str, values: str, visible: str, num_sentences: str, layer: DecoderLayer
) -> str:
    """The rows of one sentence share its memory: they are so many queries to one set of keys."""
    heads = layer.cross_attention
    q = _project(g, _enter(g, x, layer.around_cross_attention), heads, slice(heads.d_model))
    grouped = g("Concat", num_sentences, g.constant([-1, heads.d_model]), axis=0)
    q = _heads(g, g("Reshape", q, grouped), heads)  # (R, D) -> (B, N, D) -> (B, H, N, K)
    context = g("Transpose", _attend(g, q, keys, values, heads, visible), perm=[0, 2, 1, 3])  # -> (B, N, H, K)
    y = _linear(g, g("Reshape", context, g.constant([-1, heads.d_model])), heads.project_out)
    return _leave(g, x, y, layer.around_cross_attention)


# --- the paper's parts ------------------------------------------------------------------------------------------


def _embed(g: _Graph, ids: str, positions: str, embedding: ScaledEmbedding, weight: str, position: nn.Module) -> str:
    x = g("Mul", g("Gather", weight, ids), g.constant(np.float32(embedding.scale).reshape(1)))
    if isinstance(position, LearnedPositions):
        return g("Add", x, g("Gather", g.weight(position.embedding.weight), positions))
    return g("Add", x, _sinusoids(g, positions, embedding.weight.size(1)))


def _sinusoids(g: _Graph, positions: str, d_model: int) -> str:
    """The sinusoids of any positions, as in `nn/position.py`; a cosine is a sine a quarter of a turn ahead."""
    frequency = np.exp(-math.log(10000.0) * np.arange(0, d_model, 2) / d_model).repeat(2)  # float64, as there
    phase = np.tile([0.0, math.pi / 2], d_model // 2)
    column = g("Cast", g("Unsqueeze", positions, g.constant([1])), to=TensorProto.DOUBLE)  # (T,) -> (T, 1)
    angle = g("Add", g("Mul", column, g.constant(frequency)), g.constant(phase))  # (T, D)
    return g("Cast", g("Sin", angle), to=TensorProto.FLOAT)


def _attend(g: _Graph, q: str, k: str, v: str, heads: MultiHeadAttention, visible: str | None = None) -> str:
    """Equation 1 for every head: (B, H, Q, K) and (B, H, M, K) -> (B, H, Q, K)."""
    scale = g.constant(np.float32(1 / math.sqrt(heads.d_model // heads.num_heads)).reshape(1))
    scores = g("Mul", g("MatMul", q, g("Transpose", k, perm=[0, 1, 3, 2])), scale)
    if visible is not None:
        scores = g("Where", visible, scores, g.constant(np.float32(-math.inf).reshape(1)))
    return g("MatMul", g("Softmax", scores, axis=-1), v)


def _project(g: _Graph, x: str, heads: MultiHeadAttention, rows: slice) -> str:
    """Multiply by these rows of the one matrix that holds W^Q, W^K and W^V."""
    bias = heads.project_in.bias
    return _affine(g, x, heads.project_in.weight[rows], None if bias is None else bias[rows])


def _heads(g: _Graph, x: str, heads: MultiHeadAttention) -> str:
    """(B, T, D) -> (B, H, T, K)."""
    parts = g("Reshape", x, g.constant([0, 0, heads.num_heads, -1]))
    return g("Transpose", parts, perm=[0, 2, 1, 3])


def _feed_forward(g: _Graph, x: str, network: FeedForward | MixtureOfExperts, residual: Residual) -> str:
    assert isinstance(network, FeedForward), "experts are refused"
    y = _linear(g, _enter(g, x, residual), network.expand)
    if network.activation == "swish":
        y = g("Mul", y, g("Sigmoid", y))
    else:
        y = g({"relu": "Relu", "gelu": "Gelu"}[network.activation], y)
    return _leave(g, x, _linear(g, y, network.contract), residual)


def _enter(g: _Graph, x: str, residual: Residual) -> str:
    return _norm(g, x, residual.norm) if residual.is_pre_norm else x


def _leave(g: _Graph, x: str, y: str, residual: Residual) -> str:
    x = g("Add", x, y)
    return x if residual.is_pre_norm else _norm(g, x, residual.norm)


def _norm(g: _Graph, x: str, norm: Norm) -> str:
    return g("LayerNormalization", x, g.weight(norm.gain), g.weight(norm.bias), axis=-1, epsilon=norm.eps)


def _final_norm(g: _Graph, x: str, norm: nn.Module) -> str:
    return _norm(g, x, norm) if isinstance(norm, LayerNorm) else x


def _linear(g: _Graph, x: str, linear: nn.Linear) -> str:
    return _affine(g, x, linear.weight, linear.bias)


def _affine(g: _Graph, x: str, weight: Tensor, bias: Tensor | None) -> str:
    y = g("MatMul", x, g.weight(weight.t()))
    return y if bias is None else g("Add", y, g.weight(bias))


def _cross_attentions(model: Transformer) -> list[MultiHeadAttention]:
    return [layer.cross_attention for layer in model.decoder.layers if isinstance(layer, DecoderLayer)]


def _cache(heads: MultiHeadAttention, rows: str, length: str) -> list[str | int]:
    return [rows, heads.num_heads, length, heads.d_model // heads.num_heads]


# --- the README -------------------------------------------------------------------------------------------------


def _readme(run: RunDirectory, model: Transformer, name: str) -> str:
    config = run.config()
    num_heads, d_k = model.config.num_heads, model.config.d_model // model.config.num_heads
    limit = "" if model.max_length is None else f" A sentence has up to {model.max_length} pieces, its end included."
    return f"""# {config.name}: {config.data.source} → {config.data.target}, ONNX

`jumok translate {name} FILE` translates with it (`pip install 'jumok[onnx]'`).

Without jumok: run `encoder.onnx` once, then `decoder.onnx` once a piece. Ids are SentencePiece's. The source ends with
id 3 and is filled up with id 0; the translation begins with id 2 and ends with id 3.{limit}

| `encoder.onnx` | | |
| --- | --- | --- |
| in | `src` | (B, S) int64 |
| out | `memory.i.key`, `memory.i.value` | (B, {num_heads}, S, {d_k}) |
| out | `memory_mask` | (B, S) |

| `decoder.onnx` | | |
| --- | --- | --- |
| in | `last_ids` | (R) int64 |
| in | `past.i.key`, `past.i.value` | (R, {num_heads}, L, {d_k}) |
| in | `memory.i.key`, `memory.i.value`, `memory_mask` | as they came out of the encoder |
| out | `log_probs` | (R, {model.output_weight.size(0)}) |
| out | `new.i.key`, `new.i.value` | (R, {num_heads}, L + 1, {d_k}), the `past` of the next step |

i = 0 … {config.model.decoder_layers - 1} is the decoder's layer. B sentences of S pieces; R rows, equally many for each
sentence and side by side; L pieces so far, 0 at first.
"""
