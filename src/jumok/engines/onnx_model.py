"""An exported ONNX folder behind the seam of `models/interface.py`: onnxruntime computes, our own search decides."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

import torch
from torch import Tensor, nn

from jumok.errors import DataError, RunError, UsageError
from jumok.models.interface import BatchShape, DecoderState, TranslationModel
from jumok.models.transformer import TransformerState
from jumok.nn.attention import KeyValue


def is_onnx_folder(folder: Path) -> bool:
    """Whether this is what `jumok export --to onnx` writes."""
    return (folder / "encoder.onnx").exists() or (folder / "decoder.onnx").exists()


class OnnxModel(TranslationModel):
    """encoder.onnx and decoder.onnx of a folder; its state is the Transformer's."""

    def __init__(self, folder: str | Path, threads: int | None = None) -> None:
        super().__init__()
        self.folder = Path(folder)
        self.place = nn.Parameter(torch.empty(0), requires_grad=False)  # tells a search where the tensors are: on a CPU
        self.encoder = _open(self.folder / "encoder.onnx", threads)
        self.decoder = _open(self.folder / "decoder.onnx", threads)
        given = {value.name: value.shape for value in self.encoder.get_outputs()}
        taken = {value.name: value.shape for value in self.decoder.get_inputs()}
        if "past.0.key" not in taken or any(taken.get(name) != shape for name, shape in given.items()):
            raise RunError(f"{self.folder}: encoder.onnx and decoder.onnx do not fit each other; {_ADVICE}")
        self.num_layers = sum(name.startswith("past.") for name in taken) // 2
        self.heads = [size for size in taken["past.0.key"] if isinstance(size, int)]  # H, K
        self.limit = self.decoder.get_modelmeta().custom_metadata_map.get("max_length")

    @property
    def max_length(self) -> int | None:
        """Sinusoids have no end; learned positions do."""
        return None if self.limit is None else int(self.limit)

    @property
    def output_weight(self) -> Tensor:
        """Stays inside decoder.onnx."""
        self._refuse()

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        """Cannot be asked of the two graphs, which predict a step at a time."""
        self._refuse()

    def forward_with_alignment(self, src: Tensor, tgt: Tensor) -> tuple[Tensor, Tensor]:
        """The graphs keep their attention weights to themselves."""
        self._refuse()

    def multiply_adds(self, shape: BatchShape) -> int:
        """Nothing is trained here."""
        self._refuse()

    def start(self, src: Tensor) -> TransformerState:
        """Encode, and compute the keys and values of every cross-attention once."""
        self._check_length(src.size(1))
        found = _run(self.encoder, {"src": src})
        return TransformerState(
            length=0,
            past=[None] * self.num_layers,
            memory=_key_values(found, "memory"),
            memory_mask=found["memory_mask"][:, None, None],
            sentence_of_row=torch.arange(src.size(0)),
        )

    def step(self, last_ids: Tensor, state: DecoderState) -> tuple[Tensor, TransformerState]:
        """Log-probabilities (R, V) of the next piece of each row."""
        assert isinstance(state, TransformerState)
        self._check_length(state.length + 1)
        num_heads, d_k = self.heads
        nothing = torch.empty(last_ids.size(0), num_heads, 0, d_k)
        past = [KeyValue(nothing, nothing) if of_layer is None else of_layer for of_layer in state.past]
        inputs = {"last_ids": last_ids, "memory_mask": state.memory_mask[:, 0, 0]}
        inputs |= _by_name(past, "past") | _by_name(state.memory, "memory")
        found = _run(self.decoder, inputs)
        new = TransformerState(
            state.length + 1, list(_key_values(found, "new")), state.memory, state.memory_mask, state.sentence_of_row
        )
        return found["log_probs"], new

    def _check_length(self, length: int) -> None:
        if self.max_length is not None and length > self.max_length:
            raise DataError(
                f"a sentence of {length} pieces is longer than the {self.max_length} positions that {self.folder} "
                'learned; split it, or train again with a higher model.max_length or position = "sinusoidal"'
            )

    def _refuse(self) -> NoReturn:
        raise UsageError(
            f"{self.folder}: an ONNX folder only translates, without word alignments and coverage penalty; for more, "
            "use the run that it was exported from"
        )


_ADVICE = "export the run again: `jumok export RUN --to onnx`"


def _open(file: Path, threads: int | None) -> Any:
    try:
        import onnxruntime
    except ImportError:
        raise UsageError(f"{file}: needs packages that are not installed: pip install 'jumok[onnx]'") from None
    if not file.exists():
        raise RunError(f"{file}: no such file; {_ADVICE}")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads or 0  # 0: all cores
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # torch computes between two calls
    options.enable_mem_pattern = False  # it remembers a plan for each shape, and every step has another shape
    options.log_severity_level = 4  # what goes wrong is raised and said in one line
    try:
        return onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the library's errors have no base of their own
        raise RunError(f"{file}: is damaged or not an ONNX model; {_ADVICE}") from error


def _run(session: Any, inputs: dict[str, Tensor]) -> dict[str, Tensor]:
    arrays = {name: tensor.contiguous().numpy() for name, tensor in inputs.items()}
    names = [value.name for value in session.get_outputs()]
    try:
        outputs = session.run(names, arrays)
    except Exception as error:
        if "Failed to allocate memory" in str(error):
            raise MemoryError from error  # the search says what to lower
        raise
    return {name: torch.from_numpy(output) for name, output in zip(names, outputs, strict=True)}


def _by_name(layers: list[KeyValue], of: str) -> dict[str, Tensor]:
    return {f"{of}.{i}.{kind}": t for i, kv in enumerate(layers) for kind, t in zip(_KINDS, kv, strict=True)}


def _key_values(tensors: dict[str, Tensor], of: str) -> list[KeyValue]:
    num_layers = sum(name.startswith(f"{of}.") for name in tensors) // 2
    return [KeyValue(*(tensors[f"{of}.{i}.{kind}"] for kind in _KINDS)) for i in range(num_layers)]


_KINDS = ("key", "value")
