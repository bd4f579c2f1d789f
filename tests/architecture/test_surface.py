"""What others rely on: the public names, the recipes, the commands that the READMEs show."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

import jumok
from jumok.cli.app import app
from jumok.comparison.config import is_comparison, load_comparison
from jumok.config import load_config

ROOT = Path(__file__).resolve().parents[2]
READMES = [ROOT / "README.md", ROOT / "README.ko.md"]


def test_public_names() -> None:
    assert jumok.__all__ == [
        "Config",
        "Glossary",
        "JumokError",
        "Sampling",
        "Translation",
        "Translator",
        "evaluate",
        "load",
        "load_config",
        "prepare",
        "train",
        "__version__",
    ]


def test_every_public_name_is_there_and_others_are_not() -> None:
    for name in jumok.__all__:
        assert getattr(jumok, name) is not None
    with pytest.raises(AttributeError, match="^module 'jumok' has no attribute 'tarin'$"):
        _ = jumok.tarin


def test_importing_the_package_is_light() -> None:
    script = "import sys, jumok; print('torch' in sys.modules)"
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ended.stdout == "False\n"


@pytest.mark.parametrize("path", sorted((ROOT / "recipes").glob("*.toml")), ids=lambda path: path.name)
def test_recipe_parses(path: Path) -> None:
    load = load_comparison if is_comparison(path) else load_config
    assert load(path).name == path.stem


def shell_lines(path: Path) -> list[str]:
    """The commands of the fenced blocks of a page: comments and prompts gone, pipes taken apart."""
    if not path.exists():
        return []
    lines = []
    for language, block in re.findall(
        r"^ *```(\w*)\n(.*?)^ *```", path.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    ):
        if language in ("", "sh", "bash", "shell", "console"):
            lines += [line.strip().removeprefix("$ ") for line in block.replace("\\\n", " ").splitlines()]
    return [line for line in lines if line]


def commands(program: str) -> list[tuple[str, list[str]]]:
    """(page, arguments) of each call of a program in the READMEs."""
    found = []
    for path in READMES:
        for line in shell_lines(path):
            if not re.search(rf"(^|[\s|&;/]){program}\s", line + " "):
                continue
            words = shlex.split(line, comments=True)
            while words:
                rest = words
                for i, word in enumerate(words):
                    if word in ("|", "&&", ";", ">", "<", "||"):
                        words, rest = words[:i], words[i + 1 :]
                        break
                else:
                    rest = []
                while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
                    words = words[1:]
                if words and words[0].split("/")[-1] == program:
                    found.append((path.name, words[1:]))
                words = rest
    return found


@pytest.mark.parametrize("path", READMES, ids=lambda path: path.name)
def test_readme_shows_commands(path: Path) -> None:
    assert path.exists()
    assert any(page == path.name for page, _ in commands("jumok"))
    assert any(page == path.name for page, _ in commands("make"))


@pytest.mark.parametrize(("page", "arguments"), commands("jumok"), ids=lambda value: str(value))
def test_every_jumok_command_of_the_readme_is_real(page: str, arguments: list[str]) -> None:
    group = get_command(app)
    if not arguments or arguments[0].startswith("-"):
        assert arguments in ([], ["--help"], ["-h"], ["--version"])
        return
    command = group.commands.get(arguments[0])
    assert command is not None, f"{page}: there is no command {arguments[0]}"
    if {"--help", "-h"} & set(arguments):
        return
    command.make_context(arguments[0], list(arguments[1:]))  # raises where an option or argument is wrong
    for word in arguments:
        if word.startswith("recipes/"):
            assert (ROOT / word).is_file(), f"{page}: {word}"


@pytest.mark.parametrize(("page", "arguments"), commands("make"), ids=lambda value: str(value))
def test_every_make_target_of_the_readme_is_real(page: str, arguments: list[str]) -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert {word for word in arguments if "=" not in word and not word.startswith("-")} <= targets
