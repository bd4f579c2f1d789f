"""`jumok export`."""

from __future__ import annotations

from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from jumok.cli.options import RunArgument
from jumok.errors import UsageError


class Format(StrEnum):
    """What a run can be written as."""

    CTRANSLATE2 = "ctranslate2"
    HUGGINGFACE = "huggingface"
    ONNX = "onnx"


_USES = {
    Format.CTRANSLATE2: 'ctranslate2.Translator("{folder}").translate_batch([pieces])',
    Format.HUGGINGFACE: 'transformers.AutoModelForSeq2SeqLM.from_pretrained("{folder}"), see {folder}/README.md',
    Format.ONNX: "jumok translate {folder}, or any onnxruntime, see {folder}/README.md",
}


def export(
    run: RunArgument,
    to: Annotated[Format, typer.Option("--to", help="The library that is to run it.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="DIR", help="Where to; RUN/export/FORMAT if not given.")
    ] = None,
    compute: Annotated[
        str | None, typer.Option(help="ctranslate2: how the weights are stored, float32 or int8, say.")
    ] = None,
    vocabulary_map: Annotated[
        bool,
        typer.Option("--vocabulary-map", help="ctranslate2: learn from the training pairs which words can occur."),
    ] = False,
) -> None:
    """Write a trained run in the form of another library: CTranslate2, Hugging Face transformers or ONNX.

    Example: jumok export runs/demo --to huggingface
    """
    if to is not Format.CTRANSLATE2 and (compute is not None or vocabulary_map):
        raise UsageError("--compute and --vocabulary-map go with --to ctranslate2")
    from jumok.storage.run_directory import RunDirectory

    directory = RunDirectory(run)
    directory.require()
    folder = output or run / "export" / to.value
    match to:
        case Format.CTRANSLATE2:
            from jumok.exchange.ctranslate2 import export_ctranslate2

            export_ctranslate2(directory, folder, compute or "float32", vocabulary_map)
        case Format.HUGGINGFACE:
            from jumok.exchange.huggingface_export import export_huggingface

            export_huggingface(directory, folder)
        case Format.ONNX:
            if find_spec("onnx") is None:
                raise UsageError("--to onnx needs the package onnx; pip install 'jumok[onnx]'")
            from jumok.exchange.onnx import export_onnx

            export_onnx(directory, folder)
    print(folder)
    typer.echo(f"use it: {_USES[to].format(folder=folder)}", err=True)
