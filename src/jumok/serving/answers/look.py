"""A loaded run as the views look at it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jumok.inspection.subject import Subject
from jumok.models.transformer import Transformer
from jumok.storage.run_directory import RunDirectory
from jumok.translator import Translator

Answer = dict[str, Any]


@dataclass(frozen=True)
class Look:
    """The model with its vocabularies, and the directory where its history lies."""

    subject: Subject
    run: RunDirectory


def look_into(translator: Translator, run: Path) -> Look:
    """The run behind a translator."""
    subject = Subject(translator.model, translator.src_tokenizer, translator.tgt_tokenizer, translator.config)
    return Look(subject, RunDirectory(run))


def attentions_of(subject: Subject) -> list[str]:
    """Those of the three attentions that a model has."""
    if isinstance(subject.model, Transformer):
        return ["encoder", "decoder", "cross"]
    return ["cross"] if subject.model.has_attention else []
