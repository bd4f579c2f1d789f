"""Which engine translates: CTranslate2 where it can, torch for the rest; each is opened when it is first needed.

A folder that `jumok export` wrote for CTranslate2 or ONNX is opened like a run, for what its engine can do.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from jumok.architectures import TransformerConfig
from jumok.config import DecodingConfig
from jumok.decoding.sampling import Sampling
from jumok.decoding.sentence import Sentence
from jumok.engines.ctranslate2_engine import CTranslate2Engine, beyond_it, converted
from jumok.engines.interface import Engine
from jumok.engines.onnx_model import OnnxModel, is_onnx_folder
from jumok.engines.torch_engine import TorchEngine
from jumok.errors import UsageError
from jumok.exchange.ctranslate2 import is_ctranslate2_folder
from jumok.models import TranslationModel
from jumok.models.ensemble import Ensemble
from jumok.nn.device import choose_device
from jumok.storage.compatibility import require_same_vocabulary
from jumok.storage.run_directory import RunDirectory

ENGINES = ("auto", "ctranslate2", "torch")
COMPUTES = ("auto", "float32", "int8", "int8_float32", "int16", "bfloat16", "float16", "int8_float16")


def is_export(folder: Path) -> bool:
    """Whether a folder holds a model for one engine alone."""
    return is_onnx_folder(folder) or is_ctranslate2_folder(folder)


class Engines:
    """The engines of a run, or of several that translate together."""

    def __init__(
        self,
        runs: Sequence[RunDirectory],
        name: str = "auto",
        compute: str = "auto",
        device: str = "auto",
        threads: int | None = None,
    ) -> None:
        if name not in ENGINES:
            raise UsageError(f"engine {name}: expected {', '.join(ENGINES)}")
        if compute not in COMPUTES:
            raise UsageError(f"compute {compute}: expected {', '.join(COMPUTES)}")
        is_plain = compute in ("auto", "float32")
        if name == "torch" and not is_plain:
            raise UsageError(f"the torch engine computes in float32; --compute {compute} needs --engine ctranslate2")
        require_same_vocabulary(runs)
        self._runs = runs
        self._name = name
        self._compute = compute
        self._is_onnx = any(is_onnx_folder(run.path) for run in runs)
        self._device = choose_device("cpu" if self._is_onnx else device)
        self._threads = threads
        reason = self._unfit_for_ctranslate2()
        if reason is not None and (name == "ctranslate2" or not is_plain):
            raise UsageError(f"the ctranslate2 engine cannot run {reason}; use --engine torch")
        self._can_use_ctranslate2 = name != "torch" and reason is None

    def choose(self, sentences: Sequence[Sentence], config: DecodingConfig, sampling: Sampling | None = None) -> Engine:
        """The fastest engine that does what is asked for."""
        if self._name == "ctranslate2" or (
            self._can_use_ctranslate2 and beyond_it(sentences, config, sampling) is None
        ):
            return self.ctranslate2
        return self.torch

    @property
    def max_length(self) -> int | None:
        """The longest source in pieces, None where there is no limit."""
        return self.ctranslate2.max_length if self._can_use_ctranslate2 else self.torch.max_length

    @cached_property
    def torch(self) -> TorchEngine:
        """Our own search over the model, or over the models' mean."""
        models = [self._load(run) for run in self._runs]
        model: TranslationModel = models[0] if len(models) == 1 else Ensemble(models)
        return TorchEngine(model, self._device, use_workers=not self._is_onnx)  # ONNX has threads of its own

    @cached_property
    def ctranslate2(self) -> CTranslate2Engine:
        """The converted model."""
        run = self._runs[0]
        model = run.config().model
        is_exported = is_ctranslate2_folder(run.path)
        return CTranslate2Engine(
            run.path if is_exported else converted(run),
            *run.tokenizers(),
            max_length=model.position_limit,
            compute="default" if is_exported and self._compute == "auto" else self._compute,
            device=self._device.type,
            threads=self._threads,
        )

    def _load(self, run: RunDirectory) -> TranslationModel:
        if is_onnx_folder(run.path):
            return OnnxModel(run.path, self._threads)
        if is_ctranslate2_folder(run.path):
            raise UsageError(f"{run.path}: holds a CTranslate2 model only; for this, use the run that it was made from")
        return run.load_model()

    def _unfit_for_ctranslate2(self) -> str | None:
        if len(self._runs) > 1:
            return "several runs together"
        run = self._runs[0]
        if is_onnx_folder(run.path):
            return "an ONNX folder"
        model = run.config().model
        if not isinstance(model, TransformerConfig):
            return f"the architecture {model.architecture}"
        unusual = model.unusual()
        if unusual is not None:
            return f"a Transformer with {unusual}"
        if self._device.type == "mps":
            return "on this device"
        return None
