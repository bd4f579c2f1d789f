"""The attention of one sentence as a page of its own."""

from __future__ import annotations

import base64
from html import escape

from jumok.inspection.attention_section import attention_data, attention_section
from jumok.inspection.kinds import weights_of
from jumok.inspection.labels import join_pieces
from jumok.inspection.page import render_page
from jumok.inspection.selection import Selection
from jumok.inspection.trace import AttentionTrace
from jumok.text.languages import language


def render_attention_page(
    trace: AttentionTrace, selection: Selection, name: str, source: str, target: str, arcs: bytes | None = None
) -> bytes:
    """Every layer and head to choose from, the selection shown first; `arcs` is an SVG of one word.

    `name` is that of the run, `source` and `target` are language codes.
    """
    text, translation = join_pieces(trace.src_pieces), join_pieces(trace.tgt_out_pieces)
    header = f"""<header>
<p class="kicker">Jumok · a look at the attention of {escape(name)}</p>
<h1 lang="{escape(source)}" dir="auto">{escape(text)}</h1>
<p class="languages">{escape(language(source).name)} → {escape(language(target).name)}</p>
</header>"""
    picture = ""
    if arcs is not None:
        address = "data:image/svg+xml;base64," + base64.b64encode(arcs).decode()
        description = "Arcs from the chosen word to the words it is linked with, in the colours of the heads"
        picture = f"""<section><h2>One word</h2>
<p class="lead">Where it looks in which head; below are all words and all weights.</p>
<img class="picture" alt="{description}" src="{address}"></section>"""
    instead = "jumok attend also writes pictures, as .png and .svg"
    section = attention_section([trace], source, target, selection.kind, without_script=instead)
    data = attention_data([trace], source, target) | {"first": _first(trace, selection)}
    return render_page(f"{text} → {translation}", [header, picture, section], data)


def _first(trace: AttentionTrace, selection: Selection) -> dict[str, str | int]:
    """The last chosen layer; the head, where one was chosen, else the mean of all."""
    num_heads = weights_of(trace, selection.kind)[0].shape[0]
    head = selection.heads[0] if len(selection.heads) == 1 and num_heads > 1 else "mean"
    return {"kind": selection.kind, "layer": selection.layers[-1], "head": head}
