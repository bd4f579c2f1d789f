"""The comparison as one page that opens offline: Table 2, its pictures, Table 1, and what each layer did."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

from jumok.comparison import presentation as shown
from jumok.comparison.charts import Line, Mark, draw_lines, draw_marks, draw_profile, power_of_ten
from jumok.comparison.layers import LayerMeasure
from jumok.comparison.paper import LABEL, PUBLISHED, SOURCE, WARNING
from jumok.comparison.results import Comparison, SystemResult
from jumok.inspection.page import render_page
from jumok.storage.files import replace_durably
from jumok.text.languages import language


def write_page(comparison: Comparison, path: Path, measures: Sequence[LayerMeasure] = ()) -> None:
    """Write the page in one step."""
    replace_durably(path, render_comparison(comparison, measures))


def render_comparison(comparison: Comparison, measures: Sequence[LayerMeasure] = ()) -> bytes:
    """The page as bytes of UTF-8."""
    source, target = language(comparison.source).name, language(comparison.target).name
    sections = [
        _headline(comparison, f"{source} → {target}"),
        _table(comparison),
        _cost(comparison),
        _lengths(comparison),
        _layers_of_systems(comparison),
        _table_one(measures),
        _published() if comparison.with_paper else "",
    ]
    return render_page(f"{comparison.name}: {source} → {target}", sections)


def _headline(comparison: Comparison, languages: str) -> str:
    scored = [system for system in comparison.done if system.bleu is not None]
    best = max(scored, key=lambda system: system.bleu or 0, default=None)
    tiles = ""
    if best is not None:
        cheapest = min(scored, key=lambda system: system.train_flops or float("inf"))
        tiles = f"""<dl class="tiles">
<div><dt>Best</dt><dd>{shown.score(best.bleu)}</dd><dd class="note">BLEU, {escape(best.title)}</dd></div>
<div><dt>Fewest operations</dt><dd>{shown.score(cheapest.bleu)}</dd>
<dd class="note">BLEU, {escape(cheapest.title)}, {shown.scientific(cheapest.train_flops)} FLOPs</dd></div>
<div><dt>Systems</dt><dd>{len(comparison.done)}</dd>
<dd class="note">of {len(comparison.systems)} trained and scored</dd></div></dl>"""
    facts = {
        "Each system had": comparison.budget,
        "Scored on": comparison.test_set,
        "Machine": comparison.machine.device,
        "Sustained": f"{shown.scientific(comparison.machine.sustained_flops)} FLOPS",
    }
    entries = "".join(f"<div><dt>{name}</dt><dd>{escape(value)}</dd></div>" for name, value in facts.items())
    return f"""<header><p class="kicker">Jumok · the paper’s Table 2 on this corpus</p>
<h1>{escape(comparison.name)}</h1><p class="languages">{escape(languages)}</p>
{tiles}<dl class="facts">{entries}</dl></header>"""


def _table(comparison: Comparison) -> str:
    with_notes = [system for system in comparison.systems if system.note]
    notes = "".join(f"<li><strong>{escape(s.title)}</strong>: {escape(s.note)}</li>" for s in with_notes)
    meanings = "".join(f"<li>{escape(line)}</li>" for line in shown.definitions(comparison))
    return f"""<section><h2>Quality and cost</h2>
<p class="lead">Every system trained on the same sentences, with the same trainer, search and score.</p>
{_systems(comparison, shown.QUALITY)}
{_systems(comparison, shown.COST)}
{f"<ul>{notes}</ul>" if notes else ""}
<details open><summary>What the figures mean</summary><ul class="note">{meanings}</ul></details></section>"""


def _systems(comparison: Comparison, columns: Sequence[shown.Column]) -> str:
    """A row for every system; the paper that it comes from stands where its quality does."""
    rows = ""
    for row in shown.table_rows(comparison, columns):
        about = f'<br><span class="note">{escape(row.paper)}</span>' if columns is shown.QUALITY else ""
        mark = ' <span class="same">baseline</span>' if row.is_baseline else ""
        cells = "".join(f"<td>{_unbroken(cell)}</td>" for cell in row.cells)
        if row.error is not None:
            cells = f'<td colspan="{len(columns)}"><mark>failed</mark> {escape(row.error)}</td>'
        rows += f'<tr><th scope="row">{escape(row.title)}{mark}{about}</th>{cells}</tr>'
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in ("System", *(c.name for c in columns)))
    return f"""<div class="scroll"><table class="figures links"><thead><tr>{head}</tr></thead>
<tbody>{rows}</tbody></table></div>"""


def _cost(comparison: Comparison) -> str:
    scored = [system for system in comparison.done if system.bleu is not None]
    by_flops = [_mark(system, system.train_flops) for system in scored if system.train_flops]
    by_time = [_mark(system, comparison.paper_flops(system)) for system in scored if system.train_seconds]
    figures = ""
    if by_flops:
        chart = draw_marks("BLEU against counted FLOPs", by_flops, "training FLOPs, counted", power_of_ten)
        figures += _figure("BLEU against arithmetic", "the matrix products that the model did", chart)
    if by_time:
        chart = draw_marks("BLEU against FLOPs by time", by_time, "training FLOPs, by time", power_of_ten)
        figures += _figure("BLEU against time", "time × devices × sustained FLOPS, as in the paper", chart)
    if not figures:
        return ""
    rows = [
        (s.title, shown.score(s.bleu, s.bleu_interval), shown.scientific(s.train_flops),
         shown.scientific(comparison.paper_flops(s)), shown.duration(s.train_seconds))
        for s in scored
    ]  # fmt: skip
    head = ("System", "BLEU", "FLOPs, counted", "FLOPs, by time", "Time")
    return f"""<section><h2>BLEU against training cost</h2>
<p class="lead">Up is better, left is cheaper; the bars are 95 % intervals.</p>
<div class="curves">{figures}</div>{_details(head, rows)}</section>"""


def _lengths(comparison: Comparison) -> str:
    scored = [system for system in comparison.done if system.bleu_by_length]
    if not scored:
        return ""
    baseline = next((system for system in scored if system.name == comparison.baseline), None)
    high = max(part.bleu for system in scored for part in system.bleu_by_length)
    figures, units = "", f"{language(comparison.source).unit_of_length} of the source"
    for system in scored:
        lines = [] if baseline is None or baseline is system else [_length_line(baseline, is_quiet=True)]
        lines.append(_length_line(system))
        names = [part.words for part in system.bleu_by_length]
        first, last = system.bleu_by_length[0].bleu, system.bleu_by_length[-1].bleu
        chart = draw_profile(f"{system.title}: BLEU by source length", lines, names, high, units)
        figures += _figure(system.title, f"shortest {first:.1f}, longest {last:.1f}", chart)
    faint = "" if baseline is None else f" The faint line is {escape(baseline.title)}."
    return f"""<section><h2>BLEU by the length of the source</h2>
<p class="lead">A system that keeps the source in one vector forgets as sentences grow; one that looks back does
not.{faint}</p><div class="curves">{figures}</div>{_details(*shown.length_table(comparison))}</section>"""


def _layers_of_systems(comparison: Comparison) -> str:
    """Size of outputs and gradients by layer, where training.record_layers noted them."""
    parts = ""
    for system in comparison.done:
        layers = (system.layers or {}).get("layers") or {}
        if not layers:
            continue
        rows = [(name, _size(f, "output_rms"), _size(f, "gradient_norm")) for name, f in layers.items()]
        entropy = (system.layers or {}).get("attention_entropy") or {}
        sharpness = [(kind, *map(_number, values)) for kind, values in entropy.items() if values]
        depth = max((len(row) - 1 for row in sharpness), default=0)
        padded = [(*row, *[shown.NOTHING] * (depth + 1 - len(row))) for row in sharpness]
        head = ("Attention entropy", *(f"layer {i + 1}" for i in range(depth)))
        note = f'<p class="note">{escape(system.note)}</p>' if system.note else ""
        bleu = shown.score(system.bleu, system.bleu_interval)
        parts += f"""<details><summary>{escape(system.title)}: BLEU {bleu}</summary>{note}
{_plain_table(("Layer", "Output, root mean square", "Gradient, norm"), rows)}
{_plain_table(head, padded) if padded else ""}</details>"""
    if not parts:
        return ""
    return f"""<section><h2>What happened in the layers</h2>
<p class="lead">At the last validation. Gradients that vanish downwards, outputs that grow upwards, or an entropy near 0
(a softmax that has become a choice of one) say where a variant fails.</p>{parts}</section>"""


def _table_one(measures: Sequence[LayerMeasure]) -> str:
    if not measures:
        return ""
    kinds = list(dict.fromkeys(measure.layer for measure in measures))
    figures = ""
    for title, note, field, show in (
        (
            "Time",
            f"milliseconds, forward and backward, {measures[0].num_rows} sentences side by side",
            "ms",
            shown.number,
        ),
        ("Sequential steps", "matrix products that wait for each other", "steps", shown.number),
        ("Path length", "from the first position to the last, in layers or steps", "path", shown.number),
    ):
        lines = [Line(kind, [(m.length, _measured(m, field)) for m in measures if m.layer == kind]) for kind in kinds]
        chart = draw_lines(f"{title} by length", lines, "length n", lambda n: f"{n:g}", show, log=True)
        figures += _figure(title, note, chart)
    formulas = [
        (m.layer, m.complexity_formula, m.sequential_formula, m.path_formula)
        for m in {measure.layer: measure for measure in measures}.values()
    ]
    head = ("Layer", *shown.LAYER_COLUMNS)
    return f"""<section><h2>The paper’s Table 1, measured</h2>
<p class="lead">One layer of width d = {measures[0].d_model} as the sentence grows. Steps are counted in the graph of a
forward pass, paths by derivatives, time on this machine. Both axes are logarithmic.</p>
<div class="curves">{figures}</div>
{_plain_table(("Layer", "Complexity of a layer", "Sequential operations", "Longest path"), formulas)}
<p class="note">The formulas are those of Vaswani et al. 2017, section 4, with n positions, width d, kernel k and
neighbourhood r. They leave out the projections of attention, O(n·d²), which the time has.</p>
{_details(head, shown.layer_rows(measures))}</section>"""


def _published() -> str:
    points = [Mark(r.title, r.flops_en_de, r.bleu_en_de) for r in PUBLISHED if r.flops_en_de and r.bleu_en_de]
    french = [Mark(r.title, r.flops_en_fr, r.bleu_en_fr) for r in PUBLISHED if r.flops_en_fr and r.bleu_en_fr]
    figures = "".join(
        _figure(name, LABEL, draw_marks(f"{name}, {LABEL}", marks, "training FLOPs, by time", power_of_ten))
        for name, marks in (("English → German", points), ("English → French", french))
    )
    return f"""<section><h2>The paper’s own Table 2</h2>
<p class="lead">{escape(WARNING)}</p><div class="curves">{figures}</div>
{_plain_table((SOURCE, *shown.PAPER_COLUMNS), shown.paper_rows())}</section>"""


# --- small parts -------------------------------------------------------------------------------------------------


def _mark(system: SystemResult, x: float | None) -> Mark:
    assert x is not None and system.bleu is not None
    return Mark(system.title, x, system.bleu, system.bleu_interval)


def _length_line(system: SystemResult, is_quiet: bool = False) -> Line:
    return Line(system.title, [(float(i), part.bleu) for i, part in enumerate(system.bleu_by_length)], is_quiet)


def _measured(measure: LayerMeasure, field: str) -> float:
    return {
        "ms": measure.seconds * 1000,
        "steps": float(measure.sequential_steps),
        "path": float(measure.path_length),
    }[field]


def _figure(title: str, note: str, chart: str) -> str:
    caption = f"<figcaption><strong>{escape(title)}</strong> <span>{escape(note)}</span></figcaption>"
    return f"<figure>{caption}{chart}</figure>"


def _details(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return f"<details><summary>The figures as a table</summary>{_plain_table(head, rows)}</details>"


def _plain_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    names = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    body = "".join(
        f'<tr><th scope="row">{escape(first)}</th>'
        + "".join(f"<td>{_unbroken(cell)}</td>" for cell in others)
        + "</tr>"
        for first, *others in rows
    )
    return f"""<div class="scroll"><table class="figures links"><thead><tr>{names}</tr></thead>
<tbody>{body}</tbody></table></div>"""


def _unbroken(text: str) -> str:
    """On one line: a wide table scrolls."""
    return escape(text).replace(" ", "\u00a0")


def _size(figures: dict[str, float | None], key: str) -> str:
    return _number(figures[key]) if key in figures else shown.NOTHING


def _number(value: float | None) -> str:
    return "not a number" if value is None else f"{value:.3g}"
