"""Which runs belong together: the same pieces in their vocabularies, the same numbers in their models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jumok.architectures import ModelConfig
from jumok.errors import RunError
from jumok.storage.run_directory import RunDirectory


def fixed_numbers(config: ModelConfig) -> dict[str, Any]:
    """The settings that weights belong to, by key: with another number they do not fit, or mean something else."""
    values = config.model_dump(exclude={"preset"})  # a preset is a name for other keys
    if config.position_limit is None:
        values.pop("max_length", None)  # nothing is that long
    return {key: value for key, value in values.items() if not key.endswith("dropout")}


def require_same_vocabulary(runs: Sequence[RunDirectory]) -> None:
    """Refuse runs of which one cuts text into other pieces than the first, on either side."""
    first, *others = runs
    expected = first.tokenizers()
    for run in others:
        if not all(one.is_same_as(other) for one, other in zip(expected, run.tokenizers(), strict=True)):
            raise RunError(
                f"{run.path}: has another vocabulary than {first.path}; runs that are used together need the same one, "
                "as those have that were trained --from one run"
            )


def require_same_model(runs: Sequence[RunDirectory]) -> None:
    """Refuse runs of which one has a model of another shape than the first."""
    first, *others = runs
    expected = fixed_numbers(first.config().model)
    for run in others:
        found = fixed_numbers(run.config().model)
        for key in expected:  # a key that only one of them has goes with another that differs
            if key in found and found[key] != expected[key]:
                raise RunError(
                    f"{run.path}: has model.{key} = {found[key]} where {first.path} has {expected[key]}; only models "
                    "of one shape have a mean"
                )
