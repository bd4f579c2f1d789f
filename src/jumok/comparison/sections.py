"""The two sections that only a comparison has, as they stand in its TOML file.

[compare]                 systems, budget, amount, baseline
[systems.NAME]            base, title, note, start_from, ensemble
[systems.NAME.model]      goes over [model]; so do training, decoding and tokenizer
"""

from __future__ import annotations

import re
from typing import Any, Literal, TypeVar

from pydantic import Field, ValidationError

from jumok.architectures import Section
from jumok.comparison.catalogue import CATALOGUE, Values
from jumok.errors import ConfigError, nearest

AnySection = TypeVar("AnySection", bound=Section)
BudgetKind = Literal["steps", "tokens", "flops", "minutes"]


class CompareSection(Section):
    """Which systems, and how much each may use up."""

    systems: list[str] = Field([], description="Names, in the order of the table; every [systems.NAME] if not given.")
    budget: BudgetKind = Field("steps", description="What each system has equally much of.")
    amount: float = Field(gt=0, description="How much of it.")
    baseline: str | None = Field(
        None, description="The system that the others are measured against; the Transformer or the last if not given."
    )
    with_paper: bool = Field(False, description="Show the rows of the paper's own Table 2 beside.")


class SystemSection(Section):
    """What is a system's own."""

    base: str | None = Field(None, description="A system of the catalogue; the one of the same name if not given.")
    title: str | None = Field(None, description="How the table calls it.")
    note: str = Field("", description="What a reader of its row should know.")
    start_from: str | None = Field(None, description="Another system, whose weights it begins with.")
    ensemble: list[str] = Field([], description="Systems whose probabilities are averaged; nothing is trained.")
    model: Values = Field({}, description="Goes over [model].")
    training: Values = Field({}, description="Goes over [training].")
    decoding: Values = Field({}, description="Goes over [decoding].")
    tokenizer: Values = Field({}, description="Goes over [tokenizer].")


def own_sections(values: Values, where: str) -> tuple[CompareSection, dict[str, SystemSection]]:
    """[compare], and a section for each system in the order of the table."""
    if "compare" not in values:
        raise ConfigError(f"{where}: has no [compare] section, it describes one run; `jumok train {where}` trains it")
    compare = _parsed(CompareSection, values["compare"], f"{where}: [compare]")
    tables = values.get("systems", {})
    if not isinstance(tables, dict):
        raise ConfigError(f"{where}: systems = {tables!r}: expected sections, [systems.NAME]")
    names = compare.systems or list(tables)
    if not names:
        raise ConfigError(f'{where}: [compare] systems names none; for example ["lstm", "transformer"]')
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"{where}: [compare] systems names {name} twice")
        if not re.fullmatch(r"\w[\w.-]*", name):
            raise ConfigError(f"{where}: system {name!r}: a name has letters, digits, dots, hyphens; no dot first")
        if name not in CATALOGUE and name not in tables:
            raise ConfigError(
                f"{where}: [compare] systems: {name} is not known; {nearest(name, [*CATALOGUE, *tables])}"
            )
    for name in tables:
        if name not in names:
            raise ConfigError(
                f"{where}: [systems.{name}] is not among the systems of [compare]; {nearest(name, names)}"
            )
    sections = {name: _parsed(SystemSection, tables.get(name, {}), f"{where}: [systems.{name}]") for name in names}
    return compare, sections


def _parsed(schema: type[AnySection], values: Any, where: str) -> AnySection:
    try:
        return schema.model_validate(values)
    except ValidationError as error:
        lines = []
        for problem in error.errors():
            key = str(problem["loc"][0]) if problem["loc"] else ""
            match problem["type"]:
                case "extra_forbidden":
                    lines.append(f"{where} {key} is not a known key; {nearest(key, schema.model_fields)}")
                case "missing":
                    lines.append(f"{where} {key} is missing; {schema.model_fields[key].description}")
                case "model_type":
                    lines.append(f"{where} = {values!r}: expected a section")
                case _:
                    message = problem["msg"][0].lower() + problem["msg"][1:]
                    lines.append(f"{where} {key} = {problem['input']!r}: {message}")
        raise ConfigError("\n".join(dict.fromkeys(lines))) from None
