"""The program `jumok`: its commands, and how it fails."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Annotated

import typer

from jumok import __version__
from jumok.cli import demo, evaluate, prepare, train, translate
from jumok.errors import JumokError

app = typer.Typer(
    name="jumok",
    help="Train a translator from sentence pairs with the Transformer, and look inside it.\n\n"
    "New here? Type [bold]jumok demo[/]: in a few minutes it trains a Korean-English translator on this machine. "
    "With sentence pairs of your own: copy a file of recipes/, name your files in it, "
    "then [bold]jumok train[/] and [bold]jumok translate[/].",
    rich_markup_mode="rich",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("demo")(demo.demo)
app.command("prepare")(prepare.prepare)
app.command("train")(train.train)
app.command("translate")(translate.translate)
app.command("evaluate")(evaluate.evaluate)


def _print_version(is_wanted: bool) -> None:
    if is_wanted:
        print(f"jumok {__version__}")
        raise typer.Exit


@app.callback()
def options(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Options that go before the command."""


def main() -> None:
    """Run, and turn what went wrong into one line and an exit code: 2 for wrong usage or input, 1 for a failure."""
    is_debug = "--debug" in sys.argv
    if not is_debug:
        warnings.filterwarnings("ignore")  # of the libraries; ours are printed
    try:
        app()
    except JumokError as error:
        if is_debug:
            raise
        _fail(str(error), error.exit_code)
    except KeyboardInterrupt:
        _fail("stopped", 130)
    except BrokenPipeError:  # `jumok translate … | head` has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)


def _fail(message: str, exit_code: int) -> None:
    for line in message.splitlines():
        print(f"jumok: {line}", file=sys.stderr)
    sys.exit(exit_code)
