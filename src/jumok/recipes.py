"""Where the recipes are: beside the program when it is installed, at the root of the repository in development."""

from __future__ import annotations

from pathlib import Path

from jumok.errors import ConfigError


def recipe(name: str) -> Path:
    """The path of a recipe by its name without `.toml`."""
    here = Path(__file__).resolve()
    for folder in (here.parent / "recipes_data", here.parents[2] / "recipes"):
        if (folder / f"{name}.toml").is_file():
            return folder / f"{name}.toml"
    raise ConfigError(f"the recipe {name} is not installed with jumok")
