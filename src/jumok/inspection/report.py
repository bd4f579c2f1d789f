"""The report of a run: scores, curves, sample translations and attention in one file that opens offline."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple

from jumok.config import Config, dump_toml
from jumok.inspection.attention_section import attention_data, attention_section
from jumok.inspection.curves import draw_curve, points_of
from jumok.inspection.difference import Marked, mark_differences
from jumok.inspection.page import render_page
from jumok.inspection.trace import AttentionTrace, trace_attention
from jumok.models import TranslationModel
from jumok.storage.files import replace_durably
from jumok.storage.run_directory import RunDirectory
from jumok.text.languages import language
from jumok.text.tokenizer import Tokenizer

Event = dict[str, Any]

_NUM_TRACED = 3  # sentences whose attention the page holds
_MAX_TRACED_PIECES = 40  # weights grow with the square of it, and longer ones are hard to read
_NUM_LAST_FIGURES = 12  # rows of the tables behind the curves


@dataclass(frozen=True)
class Sample:
    """A sentence, what the model made of it, and what was expected."""

    source: str
    translation: str
    reference: str


def write_report(
    run: RunDirectory,
    model: TranslationModel,
    src_tokenizer: Tokenizer,
    tgt_tokenizer: Tokenizer,
    samples: Sequence[Sample],
) -> None:
    """Write report.html into the run, and attention.png where the model has attention to show."""
    config, result, events = run.config(), run.result() or {}, run.metrics()
    traces = _trace_samples(model, src_tokenizer, tgt_tokenizer, samples)
    source, target = language(config.data.source).name, language(config.data.target).name
    sections = [
        _headline(config, result, events, f"{source} → {target}"),
        _curves(config, events),
        _progress(config, events),
        _translations(config, samples),
        attention_section(traces, config.data.source, config.data.target),
        _configuration(config),
    ]
    data = attention_data(traces, config.data.source, config.data.target)
    page = render_page(f"{config.name}: {source} → {target}", sections, data)
    replace_durably(run.report_file, page)
    if traces:
        from jumok.inspection.pictures import draw_attention  # matplotlib is slow to import: only where it draws

        draw_attention(traces[0], run.path / "attention.png")


def _trace_samples(
    model: TranslationModel, src_tokenizer: Tokenizer, tgt_tokenizer: Tokenizer, samples: Sequence[Sample]
) -> list[AttentionTrace]:
    """The first sentences that are short enough to look at."""
    if not model.has_attention:
        return []
    limit = min(_MAX_TRACED_PIECES, model.max_length or _MAX_TRACED_PIECES)
    traces: list[AttentionTrace] = []
    for sample in samples:
        lengths = (
            len(src_tokenizer.pieces(sample.source)) + 1,  # and </s>
            len(tgt_tokenizer.pieces(sample.translation)) + 1,
        )
        if max(lengths) <= limit and len(traces) < _NUM_TRACED:
            texts = sample.source, sample.translation
            traces.append(trace_attention(model, src_tokenizer, tgt_tokenizer, *texts))
    return traces


# --- the parts of the page ---------------------------------------------------------------------------------


def _headline(config: Config, result: dict[str, Any], events: Sequence[Event], languages: str) -> str:
    scored_on = f"{result.get('scored_on', 'test')} set"
    tiles = _definitions(
        "tiles",
        [
            ("BLEU", _show(result.get("bleu"), _score), scored_on),
            ("chrF", _show(result.get("chrf"), _score), scored_on),
            ("BLEU, new combinations", _show(result.get("bleu_composition"), _score), "never seen in training"),
        ],
    )
    chosen = next((event.get("chosen") for event in reversed(events) if event.get("event") == "model"), None)
    facts = _definitions(
        "facts",
        [
            ("Parameters", _show(result.get("params"), _count), ""),
            ("Training time", _show(result.get("train_seconds"), _duration), ""),
            ("Updates", _show(result.get("steps"), _count), ""),
            ("Target tokens read", _show(result.get("train_tokens"), _count), ""),
            ("Training FLOPs", _show(result.get("train_flops"), _scientific), ""),
            ("Weights used", _show(chosen, str), ""),
        ],
    )
    return f"""<header>
<p class="kicker">Jumok · report of a run</p>
<h1>{escape(config.name)}</h1>
<p class="languages">{escape(languages)}</p>
{tiles or "<p>This run has not been scored yet.</p>"}
{_how_scored(result)}
{facts}
</header>"""


def _definitions(kind: str, entries: Sequence[tuple[str, str, str]]) -> str:
    """A list of name, figure and remark; what has no figure is left out."""
    items = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{figure}</dd>"
        + (f'<dd class="note">{escape(remark)}</dd>' if remark else "")
        + "</div>"
        for name, figure, remark in entries
        if figure
    )
    return f'<dl class="{kind}">{items}</dl>' if items else ""


def _how_scored(result: dict[str, Any]) -> str:
    """A number carries its recipe."""
    if "signature" not in result:
        return ""
    names = {"beam": "beam", "length_penalty": "length penalty α =", "bleu_lowercase": "lower-cased BLEU"}
    made = ", ".join(f"{name} {result[key]}" for key, name in names.items() if key in result)
    signature = f"<code>{escape(str(result['signature']))}</code>"
    return f'<p class="note">How the scores were made: {escape(made)}.<br>sacreBLEU {signature}</p>'


class _Curve(NamedTuple):
    title: str
    note: str
    event: str
    figure: str
    show: Callable[[float], str]


def _curves(config: Config, events: Sequence[Event]) -> str:
    training = config.training
    smoothing = f"a token, with label smoothing {training.label_smoothing:g}"
    greedy = f"greedy, {training.validate_bleu} sentences at most"
    schedule = f"{training.schedule}, {training.warmup_steps:,} steps of warm-up"
    wanted = [
        _Curve("Training loss", smoothing, "train", "loss", _number),
        _Curve("Validation loss", "a token, without smoothing", "validate", "loss", _number),
        _Curve("Validation BLEU", greedy, "validate", "bleu", _number),
        _Curve("Learning rate", schedule, "train", "learning_rate", _number),
        _Curve("Speed", "target tokens a second", "train", "tokens_per_second", _count),
    ]
    figures = []
    for curve in wanted:
        if points := points_of(events, curve.event, curve.figure):
            caption = f"<figcaption><strong>{curve.title}</strong> <span>{escape(curve.note)}</span></figcaption>"
            last = f'<p class="last">{escape(curve.show(points[-1][1]))}</p>'
            figures.append(f"<figure>{caption}{last}{draw_curve(curve.title, points, curve.show)}</figure>")
    if not figures:
        return '<section><h2>Training</h2><p class="lead">No figures were recorded.</p></section>'
    of_validation = {"loss": "Validation loss", "perplexity": "Perplexity", "bleu": "BLEU"}
    of_training = {
        "loss": "Training loss",
        "learning_rate": "Learning rate",
        "tokens_per_second": "Tokens a second",
        "grad_norm": "Gradient norm",
    }
    return f"""<section><h2>Training</h2>
<p class="lead">Every curve over the updates of the weights; the large figure is the last one.</p>
<div class="curves">{"".join(figures)}</div>
<details><summary>The last figures as tables</summary>
{_figure_table(events, "validate", of_validation)}
{_figure_table(events, "train", of_training)}
</details></section>"""


def _figure_table(events: Sequence[Event], kind: str, names: dict[str, str]) -> str:
    found = {name: dict(points_of(events, kind, figure)) for figure, name in names.items()}
    columns = {name: values for name, values in found.items() if values}
    steps = sorted({step for values in columns.values() for step in values})[-_NUM_LAST_FIGURES:]
    if not steps:
        return ""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in ("Step", *columns))
    rows = ""
    for step in steps:
        cells = (_show(values.get(step), _number) for values in columns.values())
        rows += f'<tr><th scope="row">{step:,.0f}</th>' + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
    return f"""<div class="scroll"><table class="figures">
<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"""


def _progress(config: Config, events: Sequence[Event]) -> str:
    """The same validation sentence, translated at each validation."""
    validations = (event for event in events if event.get("event") == "validate" and event.get("example"))
    examples = {int(event["step"]): event["example"] for event in validations}
    if not examples:
        return ""
    steps = sorted(examples)
    shown = steps[:4] + steps[4:][-4:]  # most happens early
    source, _, reference = examples[shown[-1]]
    has_spaces = language(config.data.target).has_spaces
    rows = "".join(
        f"<li><span>step {step:,}</span> "
        + _spoken(config.data.target, mark_differences(examples[step][1], reference, has_spaces)[0])
        + "</li>"
        for step in shown
    )
    return f"""<section><h2>One sentence while it learned</h2>
<p class="lead">{_spoken(config.data.source, [(source, False)])}</p>
<ol class="progress">{rows}<li><span>reference</span> {_spoken(config.data.target, [(reference, False)])}</li></ol>
</section>"""


def _translations(config: Config, samples: Sequence[Sample]) -> str:
    if not samples:
        return ""
    source, target = config.data.source, config.data.target
    has_spaces = language(target).has_spaces
    rows = []
    for sample in samples:
        translation, reference = mark_differences(sample.translation, sample.reference, has_spaces)
        is_same = all(not differs for _, differs in translation + reference)
        remark = ' <span class="same">✓ same</span>' if is_same else ""
        rows.append(
            f'<tr><td data-name="Source">{_spoken(source, [(sample.source, False)])}</td>'
            f'<td data-name="Translation">{_spoken(target, translation)}{remark}</td>'
            f'<td data-name="Reference">{_spoken(target, reference)}</td></tr>'
        )
    return f"""<section><h2>Translations</h2>
<p class="lead">Beside the reference; words that differ are <mark>marked</mark>. Another word is not always
a wrong one.</p>
<table class="samples"><thead><tr><th scope="col">Source</th><th scope="col">Translation</th>
<th scope="col">Reference</th></tr></thead><tbody>{"".join(rows)}</tbody></table></section>"""


def _configuration(config: Config) -> str:
    return f"""<section><h2>Configuration</h2>
<details><summary>The complete configuration, every default written out</summary>
<pre>{escape(dump_toml(config))}</pre></details></section>"""


# --- text and numbers --------------------------------------------------------------------------------------


def _spoken(code: str, parts: Marked) -> str:
    """A text in its language, differences marked."""
    inside = "".join(f"<mark>{escape(text)}</mark>" if differs else escape(text) for text, differs in parts)
    return f'<span lang="{escape(code)}" dir="auto">{inside}</span>'


def _show(value: Any, show: Callable[[Any], str]) -> str:
    """The figure as HTML, nothing where there is none."""
    if value is None:
        return ""
    base, has_power, power = escape(show(value)).partition("^")
    return f"{base}<sup>{power}</sup>" if has_power else base


def _score(value: float) -> str:
    return f"{value:.1f}"


def _count(value: float) -> str:
    return f"{value:,.0f}"


def _number(value: float) -> str:
    if value == 0 or abs(value) >= 1000:
        return f"{value:,.0f}"
    if abs(value) >= 0.001:
        return f"{value:.3g}"
    digits, _, power = f"{value:.1e}".partition("e")
    return f"{digits}e{int(power)}"


def _duration(seconds: float) -> str:
    whole = round(seconds)
    hours, minutes = divmod(whole // 60, 60)
    if hours:
        return f"{hours:,} h {minutes} min"
    return f"{minutes} min {whole % 60} s" if minutes else f"{whole} s"


def _scientific(value: float) -> str:
    digits, _, power = f"{value:.2e}".partition("e")
    return f"{digits} × 10^{int(power)}"
