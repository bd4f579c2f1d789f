"""`jumok evaluate`."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from jumok.cli.options import Json, RunArgument


def evaluate(
    run: RunArgument,
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SOURCE TARGET]", help="Two aligned files or a TSV; the run's own test set if not given."
        ),
    ] = None,
    split: Annotated[str, typer.Option(help="Which of the run's own sets: valid, test or composition.")] = "test",
    beam: Annotated[int | None, typer.Option(min=1, help="Hypotheses kept side by side.")] = None,
    lowercase: Annotated[bool, typer.Option("--lowercase", help="Score without regard to case.")] = False,
    against: Annotated[
        Path | None, typer.Option(help="Another run, or a file of translations, to compare with by paired bootstrap.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Score a run with sacreBLEU and chrF, with signature and 95 % confidence interval.

    Example: jumok evaluate runs/demo --split composition
    """
    from jumok import pipeline
    from jumok.cli.progress import say

    result = pipeline.evaluate(run, split, files=files, beam=beam, lowercase=lowercase, against=against)
    if result.remark:
        say(f"jumok: {result.remark}")
    if as_json:
        figures = {
            "sentences": len(result.references),
            "bleu": asdict(result.bleu),
            "chrf": asdict(result.chrf),
            "comparison": [asdict(comparison) for comparison in result.comparison],
        }
        print(json.dumps(figures, ensure_ascii=False))
        return
    print(f"{len(result.references):,} sentences")
    print(result.bleu)
    print(result.chrf)
    for comparison in result.comparison:
        verdict = "a real difference" if comparison.p_value < 0.05 else "could be chance"
        print(
            f"{comparison.metric} {comparison.value:.1f} against {comparison.baseline:.1f} of {against}: "
            f"p = {comparison.p_value:.3f}, {verdict} at 95 %"
        )
