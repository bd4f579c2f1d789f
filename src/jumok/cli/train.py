"""`jumok train`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from jumok.cli.options import ConfigFile, Json, Settings


def train(
    config: ConfigFile,
    run: Annotated[Path | None, typer.Option(help="Run directory; runs/NAME if not given.")] = None,
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Train a translator, or go on where its training stopped.

    Ctrl-C saves and stops; the same command goes on.

    Example: jumok train recipes/multi30k-de-en.toml --set training.max_steps=120
    """
    from jumok.config import load_config

    result = train_with_progress(load_config(config, settings), run)
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


def train_with_progress(config: Any, run: Path | None) -> dict[str, Any]:
    """Train with the progress shown; an interruption ends the program with its exit code."""
    from jumok import pipeline
    from jumok.cli.progress import TrainingProgress, say
    from jumok.training.trainer import Interrupted

    try:
        with TrainingProgress(config.training.max_steps) as progress:
            return pipeline.train(config, run, [progress], say)
    except Interrupted as interruption:
        say(f"jumok: {interruption}")
        sys.exit(interruption.exit_code)
