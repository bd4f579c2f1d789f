"""`jumok import`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Origin(StrEnum):
    """Where a model can come from."""

    HUGGINGFACE = "huggingface"


def import_(
    model: Annotated[
        str, typer.Argument(metavar="DIR|NAME", help="A folder, or the name of a model on the Hugging Face hub.")
    ],
    origin: Annotated[Origin, typer.Option("--from", help="Whose form it has.")] = Origin.HUGGINGFACE,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="RUN", help="The run directory; runs/NAME if not given.")
    ] = None,
    source: Annotated[str | None, typer.Option(help="The language it reads, where the folder does not say.")] = None,
    target: Annotated[str | None, typer.Option(help="The language it writes, where the folder does not say.")] = None,
) -> None:
    """Make a run of a Marian model of others, such as those of OPUS-MT: to translate, to fine-tune, to look inside.

    Example: jumok import --from huggingface Helsinki-NLP/opus-mt-de-en
    """
    from jumok.exchange.huggingface_import import Languages, import_huggingface

    run = output or Path("runs") / Path(model).absolute().name
    import_huggingface(model, run, Languages(source, target))
    print(run)
    typer.echo(f"try it: jumok translate {run}", err=True)
