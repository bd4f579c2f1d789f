"""The one rule: a package imports only what stands above it in DESIGN.md's list."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src" / "jumok"

# From top to bottom. What stands on one line may not import each other.
ORDER = [
    ["errors"],
    ["architectures"],
    ["config", "recipes"],
    ["text"],
    ["data"],
    ["nn"],
    ["models"],
    ["storage"],
    ["decoding"],
    ["evaluation"],
    ["training"],
    ["exchange"],
    ["engines"],
    ["inspection"],
    ["translation"],
    ["translator"],
    ["pipeline", "bulk"],
    ["comparison"],
    ["serving"],
    ["cli"],
]
LEVEL = {name: level for level, names in enumerate(ORDER) for name in names}
ONLY_THE_LIGHT = {
    "typer",
    "rich",
    "jumok",
    "jumok.errors",
    "jumok.cli",
}  # what a command may import before it is called
FILES = sorted(SOURCE.rglob("*.py"))


def part_of(path: Path) -> str:
    return path.relative_to(SOURCE).with_suffix("").parts[0]


def imports(path: Path, only_top_level: bool = False) -> set[str]:
    """Every module that a file imports, by its full name; not those for type checking alone."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found: set[str] = set()
    pending: list[ast.AST] = list(tree.body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                package = ("jumok", *path.relative_to(SOURCE).parts[: -node.level])
                found.add(".".join((*package, *([node.module] if node.module else []))))
            elif node.module == "jumok":
                found |= {"jumok" if alias.name.startswith("__") else f"jumok.{alias.name}" for alias in node.names}
            elif node.module is not None:
                found.add(node.module)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if only_top_level and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        pending.extend(ast.iter_child_nodes(node))
    return found


def test_every_part_has_its_place_in_the_order() -> None:
    assert {part_of(path) for path in FILES} - {"__init__", "__main__"} <= set(LEVEL)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_only_what_stands_above(path: Path) -> None:
    part = part_of(path)
    if part in ("__init__", "__main__"):
        return
    for name in imports(path):
        pieces = name.split(".")
        if pieces[0] != "jumok" or len(pieces) == 1 or pieces[1] == part:
            continue
        assert LEVEL[pieces[1]] < LEVEL[part], f"{path.relative_to(SOURCE)} imports {name}"


def test_recipes_import_nothing_but_errors() -> None:
    assert {name for name in imports(SOURCE / "recipes.py") if name.startswith("jumok")} == {"jumok.errors"}


@pytest.mark.parametrize("path", sorted((SOURCE / "cli").glob("*.py")), ids=lambda path: path.name)
def test_commands_import_heavy_modules_only_when_called(path: Path) -> None:
    import sys

    for name in imports(path, only_top_level=True):
        is_light = name.split(".")[0] in sys.stdlib_module_names or name.split(".")[0] in ("typer", "rich")
        is_own = name in ONLY_THE_LIGHT or name.startswith("jumok.cli")
        assert is_light or is_own, f"{path.name} imports {name} before it is called"


def test_package_itself_imports_nothing_before_it_is_asked() -> None:
    assert {name for name in imports(SOURCE / "__init__.py") if name.startswith("jumok")} == set()


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_file_is_too_long_to_read(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 450


def test_nothing_in_the_source_can_unpickle() -> None:
    for path in FILES:
        names = {name.split(".")[0] for name in imports(path)}
        assert not names & {"pickle", "marshal", "shelve", "dill", "joblib", "cloudpickle"}, path
        assert "torch.load(" not in path.read_text(encoding="utf-8"), path
