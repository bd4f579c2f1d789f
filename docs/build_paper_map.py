"""Brings the line numbers of paper-map.md and the guides up to date: `python docs/build_paper_map.py`.

A link [`symbol`](…/file.py#L1-L2) names what it points to, so that its lines can be looked up; a test holds pages and
code together.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

DOCS = Path(__file__).resolve().parent
PAGES = [DOCS / "paper-map.md", DOCS / "guide.md", DOCS / "ko" / "guide.md"]
LINK = re.compile(r"\[`([\w.]+)`\]\(([\w./-]+\.py)(?:#[\w-]*)?\)")


@cache
def symbols(file: Path) -> dict[str, tuple[int, int]]:
    """First and last line of every class, function, method and named value of a file, members as `Class.member`."""
    found: dict[str, tuple[int, int]] = {}

    def note(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            names: list[str] = []
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                names = [node.name]
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names = [target.id for target in targets if isinstance(target, ast.Name)]
            for name in names:
                found[prefix + name] = (node.lineno, node.end_lineno or node.lineno)
            if isinstance(node, ast.ClassDef):
                note(node.body, f"{prefix}{node.name}.")

    note(ast.parse(file.read_text(encoding="utf-8")).body, "")
    return found


def with_lines(page: Path) -> str:
    """The page's text, every link to a symbol with the lines where it is now."""

    def renew(link: re.Match[str]) -> str:
        symbol, target = link.groups()
        file = (page.parent / target).resolve()
        if not file.is_file():
            raise LookupError(f"{page.name}: there is no file {target}")
        if symbol not in symbols(file):
            raise LookupError(f"{page.name}: {target} has no {symbol}")
        first, last = symbols(file)[symbol]
        lines = f"#L{first}" if first == last else f"#L{first}-L{last}"
        return f"[`{symbol}`]({target}{lines})"

    return LINK.sub(renew, page.read_text(encoding="utf-8"))


if __name__ == "__main__":
    for path in PAGES:
        path.write_text(with_lines(path), encoding="utf-8")
