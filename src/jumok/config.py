"""One run as one validated schema, read from TOML: field, meaning and check stand together.

`docs/configuration.md` is generated from this file.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, ValidationError, model_validator

from jumok.architectures import ARCHITECTURES, DEFAULT, AnyModelConfig, Section, TransformerConfig
from jumok.errors import ConfigError, nearest

Beta = Annotated[float, Field(ge=0, lt=1)]


class DataConfig(Section):
    """Where the sentence pairs are, and which of them are good enough to train on."""

    source: str = Field(description="Language to translate from, as a code: ko, en, de, ja …")
    target: str = Field(description="Language to translate into.")
    folder: str = Field(".", description="Where the relative paths below start; itself relative to where you are.")
    train: str | list[str] = Field(
        description="Training pairs: two aligned text files [source, target], one TSV file (source, tab, target), "
        'or "phrasebook:train" for the embedded corpus. Files may end in .gz.'
    )
    valid: str | list[str] = Field(description="Validation pairs, in the same forms.")
    test: str | list[str] | None = Field(None, description="Test pairs, scored once at the end of training.")
    composition: str | list[str] | None = Field(
        None, description="A second test, of word combinations that training never saw (the demo has one)."
    )
    max_length: int = Field(200, ge=1, description="Training pairs with more pieces on either side are left out.")
    max_length_ratio: float = Field(
        4.0,
        gt=1,
        description="Training pairs are left out where one side has so many times the other's pieces.",
    )
    keep_duplicates: bool = Field(False, description="Keep training pairs that occur more than once.")


class TokenizerConfig(Section):
    """How text becomes pieces."""

    kind: Literal["bpe", "unigram", "word"] = Field(
        "bpe", description="SentencePiece algorithm; word: whole words, the rare ones unknown, as before subwords."
    )
    vocab_size: int = Field(8000, ge=260, description="Pieces in the vocabulary, special ones and bytes included.")
    joint: bool = Field(True, description="One vocabulary for both languages; false: one each.")
    sampling: float = Field(
        0.0,
        ge=0,
        lt=1,
        description="Subword regularisation in training: probability that a piece is cut in two. 0 is off.",
    )


class TrainingConfig(Section):
    """How the model learns."""

    start_from: str | None = Field(
        None, description="A run whose weights and vocabulary the training starts from: fine-tuning."
    )
    max_steps: int = Field(100_000, ge=1, description="Updates of the weights.")
    max_minutes: float | None = Field(None, gt=0, description="Stop after so many minutes of training.")
    max_tokens: int | None = Field(None, ge=1, description="Stop after so many target pieces, end marks counted.")
    max_flops: float | None = Field(
        None, gt=0, description="Stop after so many floating-point operations of matrix products."
    )
    batch_tokens: int = Field(
        4096, ge=16, description="Source pieces, and target pieces, in a batch at most (sampling makes some more)."
    )
    accumulate: int = Field(1, ge=1, description="Batches whose gradients are added up before an update.")
    optimizer: Literal["adam", "adamw"] = Field("adam", description="Adam as in the paper, or with weight decay.")
    learning_rate: float | None = Field(
        None, gt=0, description="Highest rate, reached at the end of warm-up. Not given: the paper's, from d_model."
    )
    schedule: Literal["inverse_sqrt", "cosine", "linear", "constant"] = Field(
        "inverse_sqrt",
        description="After warm-up: fall with 1/√step (the paper), or to a hundredth at the end, or stay.",
    )
    warmup_steps: int = Field(4000, ge=1, description="Steps in which the rate rises.")
    adam_betas: tuple[Beta, Beta] = Field((0.9, 0.98), description="The paper's β₁ and β₂.")
    adam_eps: float = Field(1e-9, gt=0, description="The paper's ε.")
    weight_decay: float = Field(0.0, ge=0, description="For adamw.")
    label_smoothing: float = Field(0.1, ge=0, lt=1, description="The paper's ε_ls.")
    objective: Literal["likelihood", "reinforced"] = Field(
        "likelihood", description="What is learned: the references, or translations of a high GLEU (Wu et al. 2016)."
    )
    likelihood_weight: float = Field(
        0.017, ge=0, description="Weight of the likelihood beside the expected GLEU, for reinforced."
    )
    num_samples: int = Field(15, ge=2, description="Translations drawn for each sentence, for reinforced.")
    clip_norm: float = Field(1.0, ge=0, description="Gradients longer than this are shortened to it; 0 is off.")
    max_skipped: int = Field(
        10, ge=1, description="Stop after so many updates in a row whose loss or gradient is not a number."
    )
    validate_every: int = Field(1000, ge=1, description="Steps between validations; a checkpoint is saved each time.")
    validate_bleu: int = Field(
        200, ge=0, description="Validation sentences that are translated greedily and scored each time; 0: none."
    )
    patience: int | None = Field(None, ge=1, description="Stop after so many validations without a better loss.")
    save_every: int | None = Field(None, ge=1, description="Steps between checkpoints beside those of each validation.")
    keep_last: int = Field(
        2, ge=2, description="Checkpoints that stay at least; averaging keeps as many as it needs, and the best stays."
    )
    average_last: int = Field(
        1, ge=1, description="The mean of so many last checkpoints is tried as the model to use, beside the best."
    )
    log_every: int = Field(10, ge=1, description="Steps between lines in metrics.jsonl.")
    record_layers: bool = Field(
        False, description="At each validation, note the size of every layer's output and gradient in metrics.jsonl."
    )
    seed: int = Field(1, ge=0, description="Decides weights, order of the data and dropout.")
    device: Literal["auto", "cpu", "cuda", "mps"] = Field("auto", description="Where to compute.")
    threads: int | None = Field(None, ge=1, description="CPU threads; all cores if not given.")
    precision: Literal["auto", "float32", "bfloat16"] = Field(
        "auto", description="bfloat16 autocast; auto: on a GPU that has it."
    )

    @model_validator(mode="after")
    def _decay_is_used(self) -> TrainingConfig:
        if self.weight_decay and self.optimizer == "adam":
            raise ValueError(f'weight_decay = {self.weight_decay} needs optimizer = "adamw"')
        return self


class DecodingConfig(Section):
    """How a translation is searched for."""

    beam: int = Field(4, ge=1, description="Hypotheses kept side by side; 1 is greedy.")
    patience: float = Field(
        1.0, ge=1, description="The search of a sentence ends when beam × patience hypotheses have ended."
    )
    length_penalty: float = Field(0.6, ge=0, description="The paper's α.")
    coverage_penalty: float = Field(
        0.0, ge=0, description="β of Wu et al. 2016: ranks a translation lower that looked away from source pieces."
    )
    no_repeat_ngram: int = Field(
        0, ge=0, description="No so many pieces in a row occur twice in a translation; 0: off."
    )
    min_length: int = Field(0, ge=0, description="Pieces that a translation has at least.")
    replace_unknown: bool = Field(
        False, description="PosUnk: an unknown word is replaced by what the source word it looked at translates to."
    )
    max_extra_length: int = Field(
        50, ge=1, description="A translation ends this many pieces above the source's length."
    )
    batch_tokens: int = Field(4096, ge=1, description="Source pieces translated together, hypotheses counted.")


class DistributedConfig(Section):
    """Many processes, started by torchrun; a single one passes over this."""

    shard: bool = Field(
        False, description="FSDP2: each process holds a part of every layer; for models that do not fit one device."
    )


class Config(Section):
    """A run."""

    name: str = Field(
        pattern=r"^\w[\w.-]*$",
        description="Names the run directory, runs/NAME: letters, digits, dots, hyphens; a letter or digit first.",
    )
    data: DataConfig
    tokenizer: TokenizerConfig = TokenizerConfig()
    model: AnyModelConfig = TransformerConfig()
    training: TrainingConfig = TrainingConfig()
    decoding: DecodingConfig = DecodingConfig()
    distributed: DistributedConfig = DistributedConfig()

    @model_validator(mode="after")
    def _sections_agree(self) -> Config:
        limit = self.model.position_limit
        if limit is not None and self.data.max_length >= limit:
            raise ValueError(
                f"data.max_length = {self.data.max_length} pieces and an end mark need more than the "
                f"model.max_length = {limit} learned positions; raise the one or lower the other"
            )
        if self.decoding.replace_unknown and not self.model.has_attention:
            raise ValueError(
                f"decoding.replace_unknown needs attention to the source, which {self.model.architecture} does not have"
            )
        if self.decoding.coverage_penalty and not self.model.has_attention:
            raise ValueError(
                "decoding.coverage_penalty needs attention to the source, which "
                f"{self.model.architecture} does not have"
            )
        if self.tokenizer.kind == "word" and self.tokenizer.sampling:
            raise ValueError(
                f"tokenizer.sampling = {self.tokenizer.sampling} cuts pieces, but kind = word has none to cut"
            )
        if self.training.objective == "reinforced" and self.distributed.shard:
            raise ValueError("training.objective = reinforced draws translations of its own and cannot be sharded")
        return self


def load_config(path: str | Path, settings: list[str] | None = None) -> Config:
    """Read a TOML file; each of `settings` is a `section.key=value` that goes over it."""
    values = read_toml(path, settings)
    if "compare" in values:
        raise ConfigError(f"{path}: describes a comparison of several systems; `jumok compare {path}` runs it")
    return with_absolute_folder(parse_config(values, where=str(path)))


def read_toml(path: str | Path, settings: list[str] | None = None) -> dict[str, Any]:
    """What a file and the settings over it say, unchecked."""
    path = Path(path)
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise ConfigError(f"{path}: no such file; `recipes/` holds complete examples") from None
    except IsADirectoryError:
        raise ConfigError(f"{path}: is a directory; give the TOML file of a run") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8 at byte {error.start}; save it as UTF-8") from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: not TOML: {error}") from None
    for setting in settings or []:
        _apply_setting(values, setting)
    return values


def with_absolute_folder(config: Config) -> Config:
    """A run must find its data from anywhere."""
    folder = str(Path(config.data.folder).expanduser().resolve())
    return config.model_copy(update={"data": config.data.model_copy(update={"folder": folder})})


def parse_config(values: dict[str, Any], where: str = "config") -> Config:
    """Fill in the preset and validate."""
    model = values.get("model", {})
    if isinstance(model, dict):
        values = {**values, "model": {**_preset_numbers(model), **model}} if model else values
    try:
        return Config.model_validate(values)
    except ValidationError as error:
        raise ConfigError("\n".join(dict.fromkeys(_explain(problem, where) for problem in error.errors()))) from None


def _preset_numbers(model: dict[str, Any]) -> dict[str, Any]:
    """What the preset that a section names says, of the architecture that it names."""
    architecture, preset = model.get("architecture", DEFAULT), model.get("preset")
    if not isinstance(architecture, str) or architecture not in ARCHITECTURES or not isinstance(preset, str):
        return {}
    return ARCHITECTURES[architecture].presets.get(preset, {})


def dump_toml(config: Config) -> str:
    """The complete configuration as TOML, every default written out."""
    lines = [f"name = {_toml_value(config.name)}"]
    for section, values in config.model_dump().items():
        if isinstance(values, dict):
            lines += ["", f"[{section}]"]
            lines += [f"{key} = {_toml_value(value)}" for key, value in values.items() if value is not None]
    return "\n".join(lines) + "\n"


def _toml_value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")  # TOML escapes as JSON does, and DEL
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_toml_value(item) for item in value) + "]"
    return repr(value)


def _apply_setting(values: dict[str, Any], setting: str) -> None:
    key, equals, text = setting.partition("=")
    if not equals or not key.strip():
        raise ConfigError(f"--set {setting}: expected section.key=value, such as training.max_steps=120")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text  # a bare word is a string
    *sections, name = key.strip().split(".")
    for section in sections:
        values = values.setdefault(section, {})
        if not isinstance(values, dict):
            raise ConfigError(f"--set {setting}: {section} is not a section")
    values[name] = value


def _explain(problem: Any, where: str) -> str:
    """One line a mistake: what, where, what to do."""
    path, architecture = problem["loc"], DEFAULT
    if path[:1] == ("model",) and path[1:2] and path[1] in ARCHITECTURES:
        path, architecture = (path[0], *path[2:]), path[1]
    location = [part for part in path if isinstance(part, str)]
    section, key = (location[0], location[1]) if len(location) > 1 else ("", location[0] if location else "")
    place = f"{where}: [{section}] {key}" if section else f"{where}: {key}"
    if len(location) > 2:  # data.train and the like: pydantic complains once for each form that would do
        return f"{place}: expected a file name, or a list of two"
    match problem["type"]:
        case "extra_forbidden":
            known = list(_section_fields(section, architecture))
            of = f" of the architecture {architecture}" if section == "model" and architecture != DEFAULT else ""
            return f"{place} is not a known key{of}; {nearest(key, known, 'known keys')}"
        case "union_tag_invalid":
            name = problem["ctx"]["tag"]
            advice = nearest(name, ARCHITECTURES, "known architectures")
            return f'{where}: [model] architecture = "{name}" is not known; {advice}'
        case "missing" if len(path) > 2:
            return f"{place} = {problem['input']!r}: expected {path[-1] + 1} values"
        case "missing":
            return f"{place} is missing; {_describe(section, key, architecture)}"
        case "value_error":
            return f"{where}: {'[' + location[0] + '] ' if location else ''}{problem['ctx']['error']}"
        case "model_type" | "union_tag_not_found":
            return f"{place} = {problem['input']!r}: expected a section, [{key}]"
        case _:
            return f"{place} = {problem['input']!r}: {problem['msg'][0].lower()}{problem['msg'][1:]}"


def _section_fields(section: str, architecture: str) -> dict[str, Any]:
    if not section:
        return dict(Config.model_fields)
    if section == "model":
        return dict(ARCHITECTURES[architecture].model_fields)
    field = Config.model_fields.get(section)
    model = field.annotation if field else None
    return dict(model.model_fields) if isinstance(model, type) and issubclass(model, BaseModel) else {}


def _describe(section: str, key: str, architecture: str) -> str:
    field = _section_fields(section, architecture).get(key)
    return field.description if field is not None and field.description else "see docs/configuration.md"
