"""`jumok train`."""

from __future__ import annotations

import json
import os
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from jumok.cli.options import ConfigFile, Json, Settings

StartFrom = Annotated[
    Path | None, typer.Option("--from", metavar="RUN", help="Start from this run's weights and vocabulary.")
]


def train(
    config: ConfigFile,
    run: Annotated[Path | None, typer.Option(help="Run directory; runs/NAME if not given.")] = None,
    settings: Settings = None,
    start_from: StartFrom = None,
    allow_change: Annotated[
        bool, typer.Option("--allow-change", help="Go on although data, tokenizer or batching have changed.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Train a translator, or go on where its training stopped.

    Ctrl-C saves and stops; the same command goes on. With --from it fine-tunes another run on new data.

    On many devices: torchrun --nproc-per-node 2 -m jumok train CONFIG

    Example: jumok train recipes/multi30k-de-en.toml --set training.max_steps=120
    """
    from jumok.config import load_config

    result = train_with_progress(load_config(config, with_start(settings, start_from)), run, allow_change)
    if result is None:  # one of many processes: another one speaks
        return
    directory = run or Path("runs") / result["name"]
    if as_json:
        print(json.dumps(result, ensure_ascii=False))
        return
    minutes = result["train_seconds"] / 60
    print(f"BLEU {result['bleu']:.1f}  chrF {result['chrf']:.1f}  on the {result['scored_on']} set")
    print(f"({result['signature']}, beam {result['beam']})")
    print(f"{result['params']:,} parameters, {result['steps']:,} steps, {minutes:.1f} minutes")
    print(f"report: {directory / 'report.html'}")
    print(f"next:   jumok translate {directory}")


def with_start(settings: list[str] | None, start_from: Path | None) -> list[str]:
    """The settings, and the run to start from as one of them."""
    own = [] if start_from is None else [f"training.start_from={json.dumps(str(start_from), ensure_ascii=False)}"]
    return [*(settings or []), *own]


def train_with_progress(config: Any, run: Path | None, allow_change: bool = False) -> dict[str, Any] | None:
    """Train with the progress shown; an interruption ends the program with its exit code."""
    from jumok import pipeline
    from jumok.cli.progress import TrainingProgress, say
    from jumok.training.interruption import Interrupted

    is_main = os.environ.get("RANK", "0") == "0"
    try:
        with TrainingProgress(config.training.max_steps) if is_main else nullcontext() as progress:
            return pipeline.train(config, run, [progress] if progress else [], say, allow_change)
    except Interrupted as interruption:
        if is_main:
            say(f"jumok: {interruption}")
        sys.exit(interruption.exit_code)
