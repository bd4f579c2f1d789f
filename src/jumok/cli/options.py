"""Arguments that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ConfigFile = Annotated[Path, typer.Argument(metavar="CONFIG", help="The TOML file of a run; recipes/ has examples.")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="SECTION.KEY=VALUE", help="Change a setting of CONFIG; can be repeated."),
]
RunArgument = Annotated[Path, typer.Argument(metavar="RUN", help="A run directory, such as runs/demo.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")]
