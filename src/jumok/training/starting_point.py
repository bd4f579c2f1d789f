"""Fine-tuning: a training that begins with the weights and the vocabulary of another run.

What the configuration does not say is taken from that run. What would not fit its weights is refused: a row of an
embedding belongs to a piece, so that with other pieces every row would mean something else.

The other run is read only at the beginning. A training that has saved a checkpoint has its own copy of vocabulary and
numbers, and goes on though the other run be gone.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from jumok.architectures import ModelConfig
from jumok.config import Config, parse_config
from jumok.errors import ConfigError, RunError
from jumok.storage.compatibility import fixed_numbers
from jumok.storage.run_directory import RunDirectory

_VOCABULARY_KEYS = ("kind", "vocab_size", "joint")


def starting_point(
    config: Config, directory: RunDirectory, say: Callable[[str], None], allow_change: bool = False
) -> tuple[Config, Path | None]:
    """The configuration completed by the run that the training starts from, and the folder of the vocabulary to use.

    A training that starts from nothing keeps its configuration and has no vocabulary yet: None.
    """
    start_from = config.training.start_from
    if start_from is not None:
        start_from = str(Path(start_from).expanduser().resolve())
        _refuse_itself(start_from, directory)
    has_begun = bool(directory.checkpoints.steps())
    if has_begun and not allow_change:
        _refuse_other_start(directory, start_from)
    if start_from is None:
        return config, None
    run = directory if has_begun else RunDirectory(start_from)
    if not has_begun:
        run.require_model()
        run.tokenizers()  # damaged ones are named
        _say_other_languages(run, config, say)
    known = run.config()
    _refuse_other_vocabulary(run, config, known)
    _refuse_other_numbers(run, config, known)
    values = config.model_dump()
    values["tokenizer"] = {**known.tokenizer.model_dump(), **_given(config.tokenizer)}
    values["model"] = {**known.model.model_dump(), **_given(config.model)}
    values["training"]["start_from"] = start_from
    return parse_config(values, where=f"with the model of {run.path}"), run.path


def _given(section: Any) -> dict[str, Any]:
    """What the configuration itself says in a section, not the defaults."""
    return {key: getattr(section, key) for key in section.model_fields_set}


def _refuse_other_start(directory: RunDirectory, start_from: str | None) -> None:
    before = directory.config().training.start_from
    if before != start_from:
        was, now = (f"from {start}" if start else "from nothing" for start in (before, start_from))
        raise RunError(
            f"{directory.path}: was started {was}, and is to start {now} now; give the same --from as before, or "
            "choose another --run"
        )


def _refuse_itself(start_from: str, directory: RunDirectory) -> None:
    if Path(start_from) == directory.path.resolve():
        raise RunError(
            f"{directory.path}: cannot start from itself; choose another --run or name, or leave --from out to train "
            "it further"
        )


def _say_other_languages(run: RunDirectory, config: Config, say: Callable[[str], None]) -> None:
    before, now = ((data.source, data.target) for data in (run.config().data, config.data))
    if before != now:
        say(
            f"{run.path} was trained from {before[0]} to {before[1]}, this goes from {now[0]} to {now[1]}: its "
            "vocabulary stays, and may cut the new language into many pieces"
        )


def _refuse_other_vocabulary(run: RunDirectory, config: Config, known: Config) -> None:
    for key, value in _given(config.tokenizer).items():
        before = getattr(known.tokenizer, key)
        if key in _VOCABULARY_KEYS and value != before:
            raise ConfigError(
                f"tokenizer.{key} = {value}, but {run.path} has {before}: its weights belong to its own pieces, one "
                "row each, and fit no new vocabulary; leave the key out, or train without --from"
            )


def _refuse_other_numbers(run: RunDirectory, config: Config, known: Config) -> None:
    given = set(_given(config.model))
    if "preset" in given:
        given |= _keys_of_presets(config.model)  # who names a preset names its numbers
    for key, before in fixed_numbers(known.model).items():
        value = getattr(config.model, key, None)  # another architecture may not have it, and is refused as such
        if key in given and value != before:
            by_preset = f' (preset "{config.model.preset}")' if _is_of_preset(config, key) else ""
            raise ConfigError(
                f"model.{key} = {value}{by_preset}, but {run.path} has {before}: its weights fit no other model; "
                "leave the key out, or train without --from"
            )


def _is_of_preset(config: Config, key: str) -> bool:
    """Whether a number is the one of the preset that the configuration names."""
    model = config.model
    if "preset" not in model.model_fields_set or key not in _keys_of_presets(model):
        return False
    default = type(model).model_fields[key].default
    return bool(getattr(model, key) == model.presets[model.preset].get(key, default))


def _keys_of_presets(model: ModelConfig) -> set[str]:
    return {key for numbers in model.presets.values() for key in numbers}
