"""`jumok average`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def average(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN [RUN …]", help="One run, or several of one shape.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="NEW", help="The run directory to write.")],
    last: Annotated[int | None, typer.Option(min=1, help="So many last checkpoints of one run.")] = None,
    steps: Annotated[str | None, typer.Option(metavar="A,B,C", help="The checkpoints of these steps.")] = None,
) -> None:
    """Write the mean of several models as a new run: checkpoints of one run, or the models of several runs.

    Of one run all checkpoints are taken where neither --last nor --steps chooses.

    Example: jumok average runs/demo --last 3 -o runs/demo-mean
    """
    from jumok.errors import UsageError
    from jumok.storage.averaging import average_checkpoints, average_models
    from jumok.storage.run_directory import RunDirectory

    directories = [RunDirectory(run) for run in runs]
    if last is not None and steps is not None:
        raise UsageError("--last and --steps choose the same thing; give one of them")
    if len(directories) == 1:
        chosen = average_checkpoints(directories[0], output, last, _numbers(steps))
        print(f"{output}: the mean of steps {', '.join(map(str, chosen))} of {runs[0]}")
    elif last is not None or steps is not None:
        raise UsageError("--last and --steps choose checkpoints of one run; of several runs the models are averaged")
    else:
        average_models(directories, output)
        print(f"{output}: the mean of the models of {', '.join(map(str, runs))}")
    print(f"next: jumok evaluate {output}")


def _numbers(text: str | None) -> list[int]:
    from jumok.errors import UsageError

    try:
        return [] if text is None else [int(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(f"--steps {text}: expected steps with commas between them, such as 1000,2000") from None
