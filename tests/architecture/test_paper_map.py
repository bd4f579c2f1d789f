"""The map of the paper and the guides: what they name is there, what they quote is so, what they state is computed."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
MAP = DOCS / "paper-map.md"
GUIDES = [DOCS / "guide.md", DOCS / "ko" / "guide.md"]
PAGES = [MAP, *GUIDES]
VIEWS = ROOT / "src" / "jumok" / "serving" / "web" / "views"

SECTIONS = ["1", "2", "3", "3.1", "3.2", "3.2.1", "3.2.2", "3.2.3", "3.3", "3.4", "3.5", "4"]
SECTIONS += ["5", "5.1", "5.2", "5.3", "5.4", "6", "6.1", "6.2", "6.3", "7"]


def load(name: str) -> ModuleType:
    """A script of docs/, which is no package."""
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def name_of(page: Path) -> str:
    return str(page.relative_to(DOCS))


def headings(text: str) -> list[str]:
    """The numbers of the paper's sections that head the parts of a guide, in order."""
    return re.findall(r"^## (\d[\d.]*)", text, re.MULTILINE)


@pytest.fixture(scope="module")
def numbers() -> dict[str, str]:
    found: dict[str, str] = {}
    for part in load("guide_numbers").PARTS:
        found |= {f"{part.__name__}: {name}": value for name, value in part().items()}
    return found


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_symbols_stand_on_the_lines_that_the_page_says(page: Path) -> None:
    build = load("build_paper_map")
    renewed = build.with_lines(page)  # raises where a file or a symbol is not there
    assert page in build.PAGES
    assert renewed == page.read_text(encoding="utf-8"), "code has moved: run python docs/build_paper_map.py"
    assert len(build.LINK.findall(renewed)) >= 30


def test_a_symbol_that_is_not_there_is_named(tmp_path: Path) -> None:
    build = load("build_paper_map")
    (tmp_path / "code.py").write_text("x = 1\n\n\nclass A:\n    def f(self) -> None: ...\n", encoding="utf-8")
    page = tmp_path / "page.md"
    page.write_text("[`x`](code.py) and [`A.f`](code.py#L77)", encoding="utf-8")
    assert build.with_lines(page) == "[`x`](code.py#L1) and [`A.f`](code.py#L5)"
    page.write_text("[`A.g`](code.py#L5)", encoding="utf-8")
    with pytest.raises(LookupError, match=r"^page.md: code.py has no A.g$"):
        build.with_lines(page)
    page.write_text("[`A`](other.py)", encoding="utf-8")
    with pytest.raises(LookupError, match=r"^page.md: there is no file other.py$"):
        build.with_lines(page)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_file_and_view_that_a_page_names_is_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
        assert "://" in target or (page.parent / target).exists(), target
    for path in re.findall(r"\b(?:src/jumok|recipes|docs)/[\w./-]+\.\w+", text):
        assert (ROOT / path).is_file(), path
    views = set(re.findall(r"#view=([a-z]+)", text))
    assert {view for view in views if not (VIEWS / f"{view}.js").is_file()} == set()


@pytest.mark.parametrize("page", GUIDES, ids=name_of)
def test_what_a_guide_quotes_is_in_the_code(page: Path) -> None:
    files = (ROOT / "src" / "jumok").rglob("*.py")
    code = {line.strip() for file in files for line in file.read_text(encoding="utf-8").splitlines()}
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    for line in "".join(blocks).splitlines():
        assert line.strip() in code, line


@pytest.mark.parametrize("page", GUIDES, ids=name_of)
def test_every_number_of_the_guide_is_what_the_code_computes(page: Path, numbers: dict[str, str]) -> None:
    text = page.read_text(encoding="utf-8")
    assert {name: value for name, value in numbers.items() if value not in text} == {}


def test_both_guides_have_the_same_parts_views_and_code() -> None:
    english, korean = (page.read_text(encoding="utf-8") for page in GUIDES)
    assert headings(english) == headings(korean)
    assert set(re.findall(r"#view=([a-z]+)", english)) == set(re.findall(r"#view=([a-z]+)", korean))
    assert {path.stem for path in VIEWS.glob("*.js")} == set(re.findall(r"#view=([a-z]+)", english))
    link = load("build_paper_map").LINK
    assert {symbol for symbol, _ in link.findall(english)} == {symbol for symbol, _ in link.findall(korean)}


def test_the_map_has_every_part_of_the_paper() -> None:
    named = re.findall(r"^\| ([^|]+?) \|", MAP.read_text(encoding="utf-8"), re.MULTILINE)
    expected = [f"section {number}" for number in SECTIONS]
    expected += [f"equation {number}" for number in (1, 2, 3)]
    expected += [f"figure {number}" for number in range(1, 6)]
    expected += [f"Table {number}" for number in range(1, 5)]
    assert [part for part in expected if part not in named] == []
