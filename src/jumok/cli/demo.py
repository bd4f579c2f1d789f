"""`jumok demo`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from jumok.cli.options import Settings

_NUM_EXAMPLES = 4


def demo(
    run: Annotated[Path, typer.Option(help="Run directory.")] = Path("runs/demo"),
    settings: Settings = None,
) -> None:
    """Train a Korean-English Transformer from nothing, in a few minutes on two CPU cores.

    A second time it shows what was trained.

    Example: jumok demo
    """
    from rich.console import Console
    from rich.panel import Panel
    from rich.table import Table

    from jumok.cli.train import train_with_progress
    from jumok.config import load_config
    from jumok.data import phrasebook
    from jumok.recipes import recipe
    from jumok.translator import Translator

    config = load_config(recipe("demo"), settings)
    result = train_with_progress(config, run)
    if result is None:  # one of many processes: another one speaks
        return

    console = Console()
    table = Table(title="What it says to sentences it was never trained on", show_lines=True, expand=True)
    for column in ("Korean", "Jumok", "expected"):
        table.add_column(column, ratio=1, overflow="fold")
    pairs = [phrasebook.SAMPLE_SENTENCE, *_spread(phrasebook.split("test"), _NUM_EXAMPLES)]
    translations = Translator.load(run).translate([korean for korean, _ in pairs])
    for (korean, english), translation in zip(pairs, translations, strict=True):
        table.add_row(korean, translation, english)
    num_test, num_composition = (len(phrasebook.split(name)) for name in ("test", "composition"))
    console.print()
    console.print(
        Panel(
            f"[bold]BLEU {result['bleu']:.1f}[/] on {num_test} test sentences, "
            f"[bold]{result['bleu_composition']:.1f}[/] on {num_composition} of word combinations it never saw\n"
            f"{result['params']:,} parameters, {result['steps']:,} steps, "
            f"{result['train_seconds'] / 60:.1f} minutes of training on this machine",
            title="You have trained a Transformer",
        )
    )
    console.print(table)
    console.print(f"\nreport             {run / 'report.html'}   (open it in a browser)", highlight=False)
    console.print(f"attention picture  {run / 'attention.png'}\n", highlight=False)
    console.print("Next:", highlight=False)
    for command in (
        f'jumok translate {run} --text "내일 친구와 영화를 볼 거예요."',
        f"jumok evaluate {run} --split composition",
        "jumok train recipes/multi30k-de-en.toml      # or a copy of it with files of your own",
    ):
        console.print(f"  {command}", highlight=False, markup=False, soft_wrap=True)


def _spread(pairs: list[tuple[str, str]], count: int) -> list[tuple[str, str]]:
    """A few pairs from all over the list."""
    return pairs[:: max(1, len(pairs) // count)][:count]
