"""`jumok compare`."""

from __future__ import annotations

import json
import sys
import time
import traceback
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from jumok.cli.options import Json, Settings
from jumok.cli.progress import TrainingProgress, say

_PARTS = 100  # of a budget, as the bar shows them
_SECONDS_BETWEEN_LINES = 10.0


def compare(
    context: typer.Context,
    config: Annotated[
        Path | None, typer.Argument(metavar="CONFIG", help="The TOML file of a comparison; recipes/compare-demo.toml.")
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", "--systems", metavar="NAME,…", help="Train these systems only; can be repeated."),
    ] = None,
    settings: Settings = None,
    with_paper: Annotated[
        bool, typer.Option("--with-paper", help="Show the rows of the paper's own Table 2 (WMT14) beside.")
    ] = False,
    layers: Annotated[
        bool, typer.Option("--layers/--no-layers", help="Measure the paper's Table 1 on this machine, too.")
    ] = True,
    list_systems: Annotated[bool, typer.Option("--list", help="Print every system that has a name, and end.")] = False,
    as_json: Json = False,
) -> None:
    """Train several systems on the same data under an equal budget, and write the paper's Table 2 of them.

    Each system is an ordinary run, runs/NAME/SYSTEM. Ctrl-C saves and stops; the same command goes on, and does not
    train again what is finished. A system that fails is marked, and the others go on.

    Example: jumok compare recipes/compare-demo.toml
    """
    from jumok.errors import UsageError

    if list_systems:
        _print_catalogue(as_json)
        return
    if config is None:
        raise UsageError("name the TOML file of a comparison, such as recipes/compare-demo.toml; --list shows systems")
    from jumok.comparison.config import load_comparison
    from jumok.comparison.runner import Runner
    from jumok.training.interruption import Interrupted

    plan = load_comparison(config, settings)
    is_debug = bool((context.find_root().obj or {}).get("debug"))
    names = [name for group in only or [] for name in group.replace(",", " ").split()]
    runner = Runner(plan, names, say, _watch, lambda system, error: _say_failure(system, error, is_debug))
    try:
        comparison = runner.run()
    except Interrupted as interruption:
        say(f"jumok: {interruption}; finished systems are not trained again")
        sys.exit(interruption.exit_code)
    except KeyboardInterrupt:
        say("jumok: stopped; the same command goes on, finished systems are not trained again")
        sys.exit(130)
    if with_paper:
        comparison = replace(comparison, with_paper=True)
    _show(comparison, plan.folder, layers, as_json)
    if any(not system.is_done for system in comparison.systems):
        sys.exit(1)


def _watch(system: Any) -> TrainingProgress:
    """How one training of the comparison is shown."""
    training = system.config.training
    if training.max_minutes is None and training.max_tokens is None and training.max_flops is None:
        return TrainingProgress(training.max_steps)
    return BudgetProgress(training)


def _say_failure(system: Any, error: Exception, is_debug: bool) -> None:
    if is_debug:
        traceback.print_exception(error)
    text = next(iter(str(error).splitlines()), "") or type(error).__name__
    say(f"jumok: {system.name} failed: {text}")


def _show(comparison: Any, folder: Path, with_layers: bool, as_json: bool) -> None:
    """Write the table in every form, print it, and say where it is."""
    from rich.console import Console

    from jumok.comparison.page import write_page
    from jumok.comparison.plots import write_plots
    from jumok.comparison.presentation import print_comparison, to_markdown
    from jumok.storage.files import replace_durably

    table_file = folder / "comparison.json"
    table = json.dumps(comparison.to_json(), indent=2, ensure_ascii=False)
    replace_durably(table_file, f"{table}\n".encode())
    measured = _measured_layers(folder / "layers.json") if with_layers else []
    replace_durably(folder / "comparison.md", to_markdown(comparison, measured).encode())
    write_page(comparison, folder / "comparison.html", measured)
    pictures = write_plots(comparison, folder, measured)
    if as_json:
        print(json.dumps(comparison.to_json(), ensure_ascii=False))
        return
    print_comparison(comparison, Console(), measured)
    print()
    print(f"page:     {folder / 'comparison.html'}   (open it in a browser)")
    print(f"table:    {folder / 'comparison.md'}, {table_file}")
    for picture in pictures:
        print(f"picture:  {picture}")


def _measured_layers(file: Path) -> list[Any]:
    """The paper's Table 1 on this machine, measured once."""
    from jumok.comparison.layers import from_json, measure_layers, to_json
    from jumok.storage.files import replace_durably

    if not file.exists():
        say("measuring the paper's Table 1: steps, paths and time of each kind of layer")
        replace_durably(file, json.dumps(to_json(measure_layers())).encode())
    return from_json(json.loads(file.read_text(encoding="utf-8")))


def _print_catalogue(as_json: bool) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from jumok.comparison.catalogue import CATALOGUE

    if as_json:
        print(
            json.dumps(
                {
                    name: {"title": entry.title, "paper": entry.paper, "summary": entry.summary}
                    for name, entry in CATALOGUE.items()
                },
                ensure_ascii=False,
            )
        )
        return
    table = Table(box=None, header_style="bold")
    for column in ("system", "paper", "what it is"):
        table.add_column(column, overflow="fold")
    for name, entry in CATALOGUE.items():
        table.add_row(name, entry.paper, Text(entry.summary))  # brackets are not markup
    Console().print(table)


class BudgetProgress(TrainingProgress):
    """A training that ends with its minutes, tokens or FLOPs, and not with its steps."""

    def __init__(self, training: Any) -> None:
        super().__init__(_PARTS)
        limits = {"seconds": training.max_minutes and training.max_minutes * 60, "tgt_tokens": training.max_tokens}
        self._limits = {**limits, "flops": training.max_flops}

    def _show_step(self, event: dict[str, Any]) -> None:
        figures = (
            f"step {event['step']:,}  loss {event['loss']:.3f}  rate {event['learning_rate']:.1e}  "
            f"{event['tokens_per_second']:,.0f} tokens/s"
        )
        used = max((event[key] / limit for key, limit in self._limits.items() if limit and key in event), default=0.0)
        if self._bar is not None:
            self._bar.update(
                self._task, completed=round(_PARTS * min(1.0, used)), figures=f"% of the budget  {figures}"
            )
        elif time.monotonic() - self._last_line > _SECONDS_BETWEEN_LINES:
            self._last_line = time.monotonic()
            self._say(f"{figures}  {used:.0%} of the budget" if used else figures)
