"""Writes docs/configuration.md from the schema: `python docs/build_configuration.py`; a test holds the two together."""

from __future__ import annotations

import types
import typing
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from jumok.architectures import ARCHITECTURES
from jumok.config import Config

HEAD = """# Configuration

One TOML file describes a run. This page is made from the schema (`src/jumok/config.py`) by
`python docs/build_configuration.py`. A key that is not listed here is refused, and the nearest valid one named;
`--set section.key=value` changes a setting on the command line.

"""


def type_name(annotation: Any) -> str:
    """A type as a person would say it."""
    if annotation is type(None):
        return "nothing"
    if get_origin(annotation) is Literal:
        return " or ".join(f'`"{value}"`' for value in get_args(annotation))
    if get_origin(annotation) in (typing.Union, types.UnionType):
        return " or ".join(type_name(part) for part in get_args(annotation) if part is not type(None))
    if get_origin(annotation) is list:
        return "list of texts"
    if get_origin(annotation) is tuple:
        return "two numbers"
    return {str: "text", int: "whole number", float: "number", bool: "true or false"}[annotation]


def default(field: FieldInfo) -> str:
    """The default as it would stand in TOML."""
    if field.is_required():
        return "**required**"
    if field.default is None:
        return ""
    if isinstance(field.default, bool):
        return f"`{str(field.default).lower()}`"
    if isinstance(field.default, str):
        return f'`"{field.default}"`'
    if isinstance(field.default, tuple):
        return f"`{list(field.default)}`"
    return f"`{field.default}`"


def row(name: str, field: FieldInfo) -> str:
    """One line of a table."""
    return f"| `{name}` | {type_name(field.annotation)} | {default(field)} | {field.description} |"


def table(model: type[BaseModel], without: set[str]) -> list[str]:
    """The keys of a section, but those that stand elsewhere."""
    rows = [row(key, field) for key, field in model.model_fields.items() if key not in without]
    return ["| key | type | default | meaning |", "| --- | --- | --- | --- |", *rows]


def architectures() -> list[str]:
    """The keys and presets of every architecture; those that mean the same in all of them stand with the first."""
    lines = []
    first = next(iter(ARCHITECTURES.values()))
    for name, model in ARCHITECTURES.items():
        same = {
            key
            for key, field in model.model_fields.items()
            if model is not first and key in first.model_fields and str(field) == str(first.model_fields[key])
        }
        lines += ["", f'### architecture = "{name}"', "", (model.__doc__ or "").strip(), ""]
        lines += table(model, {"architecture", *same})
        lines += ["", "Presets (what differs from the defaults):", ""]
        lines += [
            f"- `{preset}`: " + (", ".join(f"{key} {value}" for key, value in numbers.items()) or "the defaults")
            for preset, numbers in model.presets.items()
        ]
    return lines


def page() -> str:
    """The whole page."""
    lines = [HEAD, "| key | type | default | meaning |", "| --- | --- | --- | --- |"]
    lines.append(row("name", Config.model_fields["name"]))
    for name, section in Config.model_fields.items():
        model = section.annotation
        if name == "model":
            known = " or ".join(f'`"{architecture}"`' for architecture in ARCHITECTURES)
            lines += ["", "## [model]", "", "The architecture and its numbers. A preset fills in what is not given."]
            lines += [
                f'`architecture` is {known}; `"transformer"` if not given. The keys of the Transformer come first;'
            ]
            lines += ["of the others only those are listed that it does not have, or that start with another value."]
            lines += architectures()
        elif isinstance(model, type) and issubclass(model, BaseModel):
            lines += ["", f"## [{name}]", "", (model.__doc__ or "").strip(), ""]
            lines += table(model, set())
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    Path(__file__).with_name("configuration.md").write_text(page(), encoding="utf-8")
