"""The program `jumok`: its commands, and how it fails."""

from __future__ import annotations

import io
import os
import sys
import warnings
from typing import Annotated, Any

import typer

from jumok import __version__
from jumok.cli import attend, average, compare, demo, evaluate, export, import_, prepare, serve, train, translate
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
app.command("attend")(attend.attend)
app.command("evaluate")(evaluate.evaluate)
app.command("compare")(compare.compare)
app.command("serve")(serve.serve)
app.command("average")(average.average)
app.command("export")(export.export)
app.command("import")(import_.import_)


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
    if is_debug:
        sys.argv.remove("--debug")  # it may stand anywhere: people append it after an error
    if not is_debug:
        warnings.filterwarnings("ignore")  # of the libraries; ours are printed
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # text comes in as UTF-8 and goes out so, whatever the terminal is
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        if app(prog_name="jumok", standalone_mode=False, obj={"debug": is_debug}) == 130:  # how typer reports Ctrl-C
            raise KeyboardInterrupt
        sys.stdout.flush()
    except JumokError as error:
        if is_debug:
            raise
        _fail(str(error), error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        _fail("stopped", 130)
    except BrokenPipeError:  # `jumok translate … | head` has read enough
        _close_output()
        sys.exit(0)
    except OSError as error:  # such as a full disk behind standard output
        if is_debug:
            raise
        _close_output()
        _fail(str(error), 1)
    except Exception as error:
        if not hasattr(error, "format_message"):  # what typer has to say about arguments
            raise
        _explain_usage(error)


def _explain_usage(error: Any) -> None:
    """A wrong option or argument in one line, with where to read on; `jumok` alone shows the help."""
    context, message = error.ctx, error.format_message()
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()
        sys.exit(error.exit_code)
    command = context.command_path if context is not None else "jumok"
    message = message if message.endswith("?") else message.rstrip(".") + ";"
    _fail(f"{message} `{command} --help` shows how", error.exit_code)


def _close_output() -> None:
    """What is still to be printed goes nowhere: the last flush of the interpreter must not fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str, exit_code: int) -> None:
    for line in message.splitlines():
        print(f"jumok: {line}", file=sys.stderr)
    sys.exit(exit_code)
