"""The run directory: everything that a training makes, in one place.

config.toml         complete, resolved
tokenizer.model     SentencePiece (or source.model and target.model)
lexicon.tsv         translations of single words, where the vocabulary has unknown ones
checkpoints/        see checkpoints.py
model.safetensors   the model to use: best or averaged
metrics.jsonl       one line an event; TensorBoard's files beside it
result.json         scores and cost
report.html         curves, scores, sample translations, attention
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from safetensors.torch import save

from jumok.config import Config, dump_toml, load_config
from jumok.data.lexicon import LEXICON_FILE
from jumok.data.prepared import PreparedCorpus, open_tokenizers, tokenizer_files
from jumok.errors import RunError, TokenizerError
from jumok.models import TranslationModel, build_model
from jumok.storage.checkpoints import Checkpoints, Tensors, load_tensors, load_weights
from jumok.storage.files import explain_full_disk, replace_durably
from jumok.text.tokenizer import PAD_ID, Tokenizer


class RunDirectory:
    """Paths and contents of one run."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.config_file = self.path / "config.toml"
        self.model_file = self.path / "model.safetensors"
        self.metrics_file = self.path / "metrics.jsonl"
        self.lexicon_file = self.path / LEXICON_FILE
        self.result_file = self.path / "result.json"
        self.report_file = self.path / "report.html"
        self.checkpoints = Checkpoints(self.path / "checkpoints")

    def create(self, config: Config, tokenizer_folder: Path) -> None:
        """Lay the directory out: tokenizer, lexicon if there is one, and configuration."""
        with explain_full_disk(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
            files = tokenizer_files(tokenizer_folder)
            files += [file for file in [tokenizer_folder / LEXICON_FILE] if file.exists()]
            for file in files:
                replace_durably(self.path / file.name, file.read_bytes())
            for name in {"tokenizer.model", "source.model", "target.model", LEXICON_FILE} - {
                file.name for file in files
            }:
                (self.path / name).unlink(missing_ok=True)  # of an earlier attempt, joint where this one is not
        replace_durably(self.config_file, dump_toml(config).encode())

    def config(self) -> Config:
        """The configuration that the run was made with."""
        self.require()
        return load_config(self.config_file)

    def require(self) -> None:
        """Refuse a path that is not a run."""
        if not self.path.exists():
            raise RunError(f"{self.path}: no such run directory; `jumok train CONFIG` makes one under runs/")
        if not self.config_file.exists():
            raise RunError(f"{self.path}: is not a run directory (no config.toml in it)")

    def changed_data(self, corpus: PreparedCorpus) -> list[str]:
        """How a prepared corpus differs from the one that the run was begun with, a line a difference."""
        changes = [
            f"{file.name} is not the one of {corpus.folder}"
            for file in tokenizer_files(corpus.folder)
            if not self._holds_the_same(file)
        ]
        begun_on = self.checkpoints.corpus()
        if begun_on not in (None, corpus.fingerprint):
            changes.append(
                f"{corpus.folder} holds other data (fingerprint {corpus.fingerprint[:12]}) than the run was begun on "
                f"({begun_on[:12]})"
            )
        return changes

    def _holds_the_same(self, tokenizer_file: Path) -> bool:
        try:
            return Tokenizer(self.path / tokenizer_file.name).is_same_as(Tokenizer(tokenizer_file))
        except TokenizerError:
            return False

    def files_beside_the_weights(self) -> list[Path]:
        """What a copy needs beside the weights to translate as the run does; lexicon and result where there are any."""
        files = [self.config_file, *tokenizer_files(self.path), self.lexicon_file, self.result_file]
        return [file for file in files if file.exists()]

    def tokenizers(self) -> tuple[Tokenizer, Tokenizer]:
        """Source and target tokenizer."""
        return open_tokenizers(self.path)

    def require_model(self) -> None:
        """Refuse a run that has no trained model yet."""
        self.require()
        if not self.model_file.exists():
            steps = self.checkpoints.steps()
            advice = (
                f"its training stands at step {steps[-1]}; give the same `jumok train` again to finish it"
                if steps
                else "`jumok train` has not saved anything here yet"
            )
            raise RunError(f"{self.path}: holds no trained model (no model.safetensors); {advice}")

    def load_model(self) -> TranslationModel:
        """The trained model to use, ready to predict."""
        self.require_model()
        src_tokenizer, tgt_tokenizer = self.tokenizers()
        model = build_model(self.config().model, src_tokenizer.vocab_size, tgt_tokenizer.vocab_size, PAD_ID)
        load_weights(model, load_tensors(self.model_file), str(self.model_file))
        return model.eval()

    def save_model(self, tensors: Tensors) -> None:
        """Write the model to use."""
        replace_durably(self.model_file, save(tensors))

    def write_result(self, result: dict[str, Any]) -> None:
        """Write the scores and the cost."""
        replace_durably(self.result_file, (json.dumps(result, indent=2, ensure_ascii=False) + "\n").encode())

    def result(self) -> dict[str, Any] | None:
        """Scores and cost, where they have been written."""
        if not self.result_file.exists():
            return None
        result: dict[str, Any] = json.loads(self.result_file.read_text(encoding="utf-8"))
        return result

    def metrics(self) -> list[dict[str, Any]]:
        """The events of the training, in order; a half-written line is passed over."""
        events = []
        if self.metrics_file.exists():
            for line in self.metrics_file.read_bytes().split(b"\n"):
                try:
                    events.append(json.loads(line))
                except ValueError:
                    continue
        return events

    def forget_metrics_after(self, step: int) -> None:
        """Drop what was noted after the checkpoint that the training goes on from: it comes again."""
        events = [event for event in self.metrics() if event.get("step", 0) <= step]
        lines = "".join(json.dumps(event, ensure_ascii=False) + "\n" for event in events)
        if self.metrics_file.exists():
            replace_durably(self.metrics_file, lines.encode())

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the directory for one training; a second one is refused."""
        self.path.mkdir(parents=True, exist_ok=True)
        with (self.path / ".lock").open("a") as file:
            if os.name == "posix":
                import fcntl

                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError:
                    raise RunError(
                        f"{self.path}: another training is at work here; wait for it or choose another --run"
                    ) from None
            yield
