"""`jumok attend`."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jumok.cli.options import Json, RunArgument

if TYPE_CHECKING:
    from jumok.inspection.selection import ChosenWord, Link, Selection
    from jumok.inspection.trace import AttentionTrace
    from jumok.translator import Translator

_DEFAULT_FILE = Path("attention.png")
_ENDINGS = (".png", ".svg", ".html", ".htm")


class AttentionKind(StrEnum):
    """The three attentions of the paper, section 3.2.3."""

    cross = "cross"
    encoder = "encoder"
    decoder = "decoder"


def attend(
    run: RunArgument,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="A sentence to translate.")],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="A .png, an .svg or an .html page; attention.png if not given."
        ),
    ] = None,
    target: Annotated[
        str | None, typer.Option(metavar="TEXT", help="A translation of your own in place of the model's.")
    ] = None,
    kind: Annotated[
        AttentionKind,
        typer.Option(
            help="cross: the translation looks at the sentence; encoder: the sentence at itself; decoder: the "
            "translation at itself."
        ),
    ] = AttentionKind.cross,
    layers: Annotated[
        str | None, typer.Option(metavar="1,2 or 1-3", help="Only these layers; a page shows them first.")
    ] = None,
    heads: Annotated[str | None, typer.Option(metavar="1,2 or 1-3", help="Only these heads.")] = None,
    word: Annotated[
        str | None,
        typer.Option(
            metavar="WORD", help="Draw what this word, or the word of this number, looks at: arcs in head colours."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show where a translator looks: a picture of every head, of one head, or of one word.

    It also prints the translation and what each of its words looks at most.

    With --json a picture is written only where -o asks for one.

    Example: jumok attend runs/demo "어제 카페에 갔어요." -o attention.html
    """
    from jumok.errors import UsageError
    from jumok.inspection.kinds import weights_of
    from jumok.inspection.selection import Selection, choose_word, strongest_links
    from jumok.text.languages import language

    for name, given in (("TEXT", text), ("--target", target or ""), ("--word", word or "")):
        if any("\ud800" <= character <= "\udfff" for character in given):
            raise UsageError(f"{name}: not UTF-8; is the terminal set to another encoding?")
    file = output if output is not None or as_json else _DEFAULT_FILE
    if file is not None:
        _require_writable(file)
    wanted = _numbers(layers, "--layers"), _numbers(heads, "--heads")

    from jumok.translator import Translator

    translator = Translator.load(run)
    trace = translator.trace(text, target)
    selection = Selection.of(trace, kind.value, *wanted)
    sides = {"cross": ("target", "source"), "encoder": ("source", "source"), "decoder": ("target", "target")}
    has_spaces = [language(getattr(translator.config.data, side)).has_spaces for side in sides[kind]]
    chosen = choose_word(trace, kind.value, word, *has_spaces) if word is not None else None
    # Where no layer was chosen, that one speaks for all which `jumok translate --alignment` reads.
    told = selection
    if wanted[0] is None:
        told = Selection.of(trace, kind.value, [max(0, len(weights_of(trace, kind.value)) - 2)], wanted[1])
    links = strongest_links(trace, told, *has_spaces)
    if file is not None:
        _draw(translator, trace, selection, chosen, file)
    _print_json(trace, told, links, file) if as_json else _print(trace, told, links, file)


def _require_writable(file: Path) -> None:
    from jumok.errors import UsageError

    if file.suffix.lower() not in _ENDINGS:
        raise UsageError(f"{file}: attention is written as .png, .svg or .html; let the name end in one of them")
    if file.is_dir() or not file.parent.is_dir():
        raise UsageError(f"{file}: {'is a directory' if file.is_dir() else 'its directory does not exist'}")


def _numbers(text: str | None, option: str) -> list[int] | None:
    """Numbers from 0 of what people count from 1: `1,3` or `2-4` or both."""
    from jumok.errors import UsageError

    if text is None:
        return None
    numbers: list[int] = []
    for part in text.split(","):
        first, dash, last = (piece.strip() for piece in part.partition("-"))
        last = last if dash else first
        is_range = first.isdecimal() and last.isdecimal() and 1 <= int(first) <= int(last) <= 1000
        if not is_range:
            raise UsageError(f"{option} {text}: expected numbers from 1 on, such as 2 or 1,3 or 1-3")
        numbers += range(int(first) - 1, int(last))
    return sorted(set(numbers))


def _draw(
    translator: Translator, trace: AttentionTrace, selection: Selection, chosen: ChosenWord | None, file: Path
) -> None:
    from jumok.inspection.arcs import arcs_sheet
    from jumok.inspection.attention_page import render_attention_page
    from jumok.inspection.kinds import weights_of
    from jumok.inspection.pictures import draw_attention_grid, draw_attention_map
    from jumok.storage.files import replace_durably

    arcs = None
    if chosen is not None:
        arcs = arcs_sheet(trace, selection, chosen, num_heads=weights_of(trace, selection.kind)[0].shape[0])
    if file.suffix.lower() in (".html", ".htm"):
        config = translator.config
        picture = arcs.render("svg") if arcs is not None else None
        languages = config.data.source, config.data.target
        replace_durably(file, render_attention_page(trace, selection, config.name, *languages, picture))
    elif arcs is not None:
        arcs.save(file)
    elif len(selection.layers) == len(selection.heads) == 1:
        draw_attention_map(trace, selection, file)
    else:
        draw_attention_grid(trace, selection, file)


# --- what is printed ----------------------------------------------------------------------------------------------


def _print(trace: AttentionTrace, told: Selection, links: list[Link], file: Path | None) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from jumok.inspection.labels import join_pieces

    print(join_pieces(trace.src_pieces))
    print(f"→ {join_pieces(trace.tgt_out_pieces)}\n")
    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
    for name in ("word", "looks most at"):
        table.add_column(name, overflow="fold")
    table.add_column("weight", justify="right")
    for link in links:
        table.add_row(Text(link.word.text), Text(link.looks_at.text), f"{link.weight:.2f}")  # brackets are not markup
    Console().print(table)
    print(f"\nweights: {told.kind} attention, {_named('layer', told.layers)}, {_named('head', told.heads)}")
    if file is not None:
        page = file.suffix.lower() in (".html", ".htm")
        print(f"page: {file}   (open it in a browser)" if page else f"picture: {file}")


def _named(what: str, numbers: list[int]) -> str:
    if len(numbers) == 1:
        return f"{what} {numbers[0] + 1}"
    is_run = numbers == list(range(numbers[0], numbers[-1] + 1))
    which = f"{numbers[0] + 1}-{numbers[-1] + 1}" if is_run else ",".join(str(number + 1) for number in numbers)
    return f"mean of {what}s {which}"


def _print_json(trace: AttentionTrace, told: Selection, links: list[Link], file: Path | None) -> None:
    from jumok.inspection.kinds import pieces_of
    from jumok.inspection.labels import Span, join_pieces

    def span(of: Span) -> dict[str, Any]:
        return {"text": of.text, "start": of.start, "end": of.end}

    rows, columns = pieces_of(trace, told.kind)
    answer = {
        "source": join_pieces(trace.src_pieces),
        "translation": join_pieces(trace.tgt_out_pieces),
        "kind": told.kind,
        "layers": [layer + 1 for layer in told.layers],
        "heads": [head + 1 for head in told.heads],
        "row_pieces": rows,
        "column_pieces": columns,
        "links": [
            {"word": span(link.word), "looks_at": span(link.looks_at), "weight": round(link.weight, 4)}
            for link in links
        ],
        "file": None if file is None else str(file),
    }
    print(json.dumps(answer, ensure_ascii=False))
