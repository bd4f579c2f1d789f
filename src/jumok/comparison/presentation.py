"""The table of a comparison as words and figures: for the terminal, for Markdown, and as rows for the page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from jumok.comparison.layers import LayerMeasure
from jumok.comparison.paper import LABEL, PUBLISHED, SOURCE, WARNING
from jumok.comparison.results import Comparison, SystemResult
from jumok.evaluation.cost import BY_TIME, COUNTED
from jumok.text.languages import language

NOTHING = "–"


class Column(NamedTuple):
    """A figure of every system."""

    name: str
    show: Callable[[Comparison, SystemResult], str]


QUALITY = (
    Column("BLEU", lambda _, system: score(system.bleu, system.bleu_interval)),
    Column("to baseline", lambda comparison, system: _difference(comparison, system)),
    Column("perplexity", lambda _, system: number(system.perplexity)),
    Column("parameters", lambda _, system: count(system.params)),
)
COST = (
    Column("FLOPs, counted", lambda _, system: scientific(system.train_flops)),
    Column("FLOPs, by time", lambda comparison, system: scientific(comparison.paper_flops(system))),
    Column("time", lambda _, system: duration(system.train_seconds)),
    Column("trained tokens/s", lambda _, system: count(system.tokens_per_second)),
    Column("translated sent./s", lambda _, system: number(system.sentences_per_second)),
)
PAPER_COLUMNS = ("BLEU EN-DE", "BLEU EN-FR", "FLOPs EN-DE", "FLOPs EN-FR")
LAYER_COLUMNS = ("length", "sequential steps", "path length", "time of a layer")


@dataclass(frozen=True)
class Row:
    """One system: its figures in the order of the columns, or why it has none."""

    title: str
    paper: str
    is_baseline: bool
    cells: tuple[str, ...]
    error: str | None = None


def table_rows(comparison: Comparison, columns: Sequence[Column] = QUALITY + COST) -> list[Row]:
    """Every system in the order of the table."""
    return [
        Row(
            system.title,
            system.paper,
            system.name == comparison.baseline,
            tuple(column.show(comparison, system) for column in columns) if system.is_done else (),
            None if system.is_done else system.error or "failed",
        )
        for system in comparison.systems
    ]


def paper_rows() -> list[tuple[str, ...]]:
    """The published table: title and four figures."""
    return [
        (
            row.title,
            *(NOTHING if bleu is None else f"{bleu:g}" for bleu in (row.bleu_en_de, row.bleu_en_fr)),
            *(scientific(flops) for flops in (row.flops_en_de, row.flops_en_fr)),
        )
        for row in PUBLISHED
    ]


def layer_rows(measures: Sequence[LayerMeasure]) -> list[tuple[str, ...]]:
    """Table 1 as measured: a row for each kind of layer and length."""
    return [
        (
            measure.layer,
            f"{measure.length:,}",
            f"{measure.sequential_steps:,}  {measure.sequential_formula}",
            f"{measure.path_length:,}  {measure.path_formula}",
            f"{milliseconds(measure.seconds)}  {measure.complexity_formula}",
        )
        for measure in measures
    ]


def caption(comparison: Comparison) -> str:
    """What was compared, in one line."""
    return (
        f"{comparison.source} → {comparison.target}, {comparison.budget} for each system; "
        f"scored on {comparison.test_set}"
    )


def definitions(comparison: Comparison) -> list[str]:
    """What each figure means, and how it was made."""
    machine = comparison.machine
    baseline = [system.title for system in comparison.done if system.name == comparison.baseline]
    lines = [
        f"BLEU: sacreBLEU, {comparison.signature}; ± is half of the 95 % confidence interval (bootstrap).",
        *(_about_baseline(title) for title in baseline),
        "Perplexity: of the validation set, a piece; – where the pieces are others than those of most systems.",
        f"FLOPs, {COUNTED}.",
        f"FLOPs, {BY_TIME} (here {machine.num_devices} × {scientific(machine.sustained_flops)} a second: "
        f"{machine.device}).",
        "Tokens are target pieces in training, validations left out; sentences a second in translation with the "
        "torch engine and the configured beam.",
    ]
    return [*lines, comparison.remark] if comparison.remark else lines


def _about_baseline(title: str) -> str:
    return (
        f"To baseline: BLEU less that of {title}, with the 95 % interval of the difference (paired bootstrap); an "
        "interval without 0 is a difference that is not chance."
    )


def notes(comparison: Comparison) -> list[tuple[str, str]]:
    """Title and note of the systems that have one; of failed ones the reason."""
    found = []
    for system in comparison.systems:
        if not system.is_done:
            found.append((system.title, f"failed: {system.error or 'no reason was given'}"))
        if system.note:
            found.append((system.title, system.note))
    return found


# --- terminal ----------------------------------------------------------------------------------------------------


def print_comparison(comparison: Comparison, console: Console, measures: Sequence[LayerMeasure] = ()) -> None:
    """The tables, as wide as the terminal allows; what does not fit side by side stands below each other."""
    console.print(Text(f"{comparison.name}: {caption(comparison)}", style="bold"))
    table = _terminal_table(comparison, QUALITY + COST)
    if Measurement.get(console, console.options.update(max_width=1000), table).maximum > console.width:
        console.print(_terminal_table(comparison, QUALITY))
        console.print()
        table = _terminal_table(comparison, COST)
    console.print(table)
    console.print()
    for title, note in notes(comparison):
        console.print(Text.assemble((title, "bold"), f": {note}"))
    for line in definitions(comparison):
        console.print(Text(line, style="dim"))
    if comparison.with_paper:
        _print_plain(console, f"{SOURCE} ({LABEL})", ("", *PAPER_COLUMNS), paper_rows())
        console.print(Text(WARNING, style="dim"))
    if measures:
        title = f"The paper's Table 1 on this machine, d = {measures[0].d_model}"
        _print_plain(console, title, ("", *LAYER_COLUMNS), layer_rows(measures))


def _terminal_table(comparison: Comparison, columns: Sequence[Column]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), show_edge=False)
    table.add_column("system", overflow="fold")
    for column in columns:
        table.add_column(column.name.replace(" ", "\n"), justify="right", vertical="top", no_wrap=True)
    for row in table_rows(comparison, columns):
        title = Text(row.title + (" (baseline)" if row.is_baseline else ""), style="bold" if row.is_baseline else "")
        cells = [Text(cell) for cell in row.cells] if row.error is None else [Text("failed", style="red")]
        table.add_row(title, *cells)
    return table


def _print_plain(console: Console, title: str, names: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    console.print()
    console.print(Text(title, style="bold"))
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), show_edge=False)
    for i, name in enumerate(names):
        table.add_column(name, justify="right" if i else "left", overflow="fold")
    last = None
    for first, *others in rows:
        table.add_row(Text(first if first != last else ""), *map(Text, others))
        last = first
    console.print(table)


# --- Markdown ----------------------------------------------------------------------------------------------------


def to_markdown(comparison: Comparison, measures: Sequence[LayerMeasure] = ()) -> str:
    """The whole comparison as a Markdown document."""
    columns = QUALITY + COST
    rows: list[tuple[str, ...]] = []
    for row in table_rows(comparison):
        title = f"**{_plain(row.title)}** (baseline)" if row.is_baseline else _plain(row.title)
        cells = row.cells if row.error is None else ("failed", *[NOTHING] * (len(columns) - 1))
        rows.append((title, *cells))
    parts = [
        f"# {_plain(comparison.name)}",
        caption(comparison) + ".",
        _markdown_table(("system", *(column.name for column in columns)), rows),
    ]
    if found := notes(comparison):
        parts.append("\n".join(f"- **{_plain(title)}**: {_plain(note)}" for title, note in found))
    parts.append("\n".join(f"- {_plain(line)}" for line in definitions(comparison)))
    if comparison.with_paper:
        parts += [f"## {SOURCE} ({LABEL})", _markdown_table(("system", *PAPER_COLUMNS), paper_rows()), WARNING]
    if any(system.bleu_by_length for system in comparison.done):
        head, scores_by_title = length_table(comparison)
        escaped = [(_plain(title), *scores) for title, *scores in scores_by_title]
        unit = language(comparison.source).unit_of_length
        parts += [f"## BLEU by {unit} of the source", _markdown_table(head, escaped)]
    if measures:
        parts += [
            f"## The paper's Table 1 on this machine, d = {measures[0].d_model}",
            _markdown_table(("layer", *LAYER_COLUMNS), layer_rows(measures)),
        ]
    return "\n\n".join(parts) + "\n"


def length_table(comparison: Comparison) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Head and rows: BLEU of every system by the words of the source."""
    scored = [system for system in comparison.done if system.bleu_by_length]
    parts = sorted((part for system in scored for part in system.bleu_by_length), key=lambda part: part.from_words)
    ranges = {part.words: f"{part.words} ({part.num_sentences:,})" for part in parts}
    head = ("system", *ranges.values())
    rows = []
    for system in scored:
        bleu = {part.words: part.bleu for part in system.bleu_by_length}
        rows.append((system.title, *(score(bleu.get(words)) for words in ranges)))
    return head, rows


def _markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *([_cell(cell) for cell in row] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _plain(text: str) -> str:
    """Text of a user: nothing in it starts a tag or emphasis."""
    for sign in "\\`*_<>[]#":
        text = text.replace(sign, "\\" + sign)
    return " ".join(text.split())


# --- figures -----------------------------------------------------------------------------------------------------


def score(value: float | None, interval: float | None = None) -> str:
    """BLEU with its interval."""
    if value is None:
        return NOTHING
    return f"{value:.1f}" if interval is None else f"{value:.1f} ± {interval:.1f}"


def number(value: float | None) -> str:
    """Three figures, or all before the point; as a power of ten what nobody reads otherwise."""
    if value is None:
        return NOTHING
    if abs(value) >= 1_000_000:
        return scientific(value)
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def count(value: float | None) -> str:
    """Millions and thousands."""
    if value is None:
        return NOTHING
    if value >= 1_000_000:
        return f"{value / 1_000_000:.1f}M"
    return f"{value / 1000:.1f}k" if value >= 10_000 else f"{value:,.0f}"


def scientific(value: float | None) -> str:
    """3.3·10¹⁸, as the paper writes it."""
    if value is None:
        return NOTHING
    base, _, power = f"{value:.1e}".partition("e")
    return f"{base}·10{str(int(power)).translate(str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'))}"


def duration(seconds: float | None) -> str:
    """Hours and minutes, minutes and seconds."""
    if seconds is None:
        return NOTHING
    whole = round(seconds)
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours}:{minutes:02} h" if hours else f"{minutes}:{whole % 60:02} min"


def milliseconds(seconds: float) -> str:
    """Three figures."""
    return f"{number(seconds * 1000)} ms"


def _difference(comparison: Comparison, system: SystemResult) -> str:
    if system.name == comparison.baseline or system.difference is None:
        return NOTHING
    difference = system.difference
    return f"{_signed(difference.bleu)} [{_signed(difference.low)}, {_signed(difference.high)}]"


def _signed(value: float) -> str:
    text = f"{value:+.1f}".replace("-", "−")
    return "0.0" if text in ("+0.0", "−0.0") else text
