"""Attention as a part of a page: choose a sentence, a layer, a head; point at a cell."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from jumok.inspection.kinds import Kind, kinds_of, pieces_of, weights_of
from jumok.inspection.labels import join_pieces, label_pieces
from jumok.inspection.trace import AttentionTrace

_KINDS: dict[Kind, tuple[str, str]] = {
    "cross": ("Cross", "Row: a target piece while it is written. Column: a source piece it looks at."),
    "encoder": ("Encoder", "Row: a source piece. Column: a source piece it looks at."),
    "decoder": ("Decoder", "Row: a target piece as read. Column: itself, or a piece before it."),
}


_PICTURE_BESIDE = "attention.png beside this file shows the first sentence"


def attention_section(
    traces: Sequence[AttentionTrace],
    source: str,
    target: str,
    first_kind: Kind = "cross",
    without_script: str = _PICTURE_BESIDE,
) -> str:
    """The controls and the places that the page's script fills; `source` and `target` are language codes."""
    if not traces:
        return ""
    kinds = "".join(
        f'<label><input type="radio" name="kind" value="{kind}"{" checked" if kind == first_kind else ""}>'
        f"<span>{name}</span></label>"
        for kind, (name, _) in _KINDS.items()
        if kind in kinds_of(traces[0])
    )
    sentences = "".join(
        f'<option value="{i}">{escape(join_pieces(trace.src_pieces))}</option>' for i, trace in enumerate(traces)
    )
    return f"""<section id="attention" aria-labelledby="attention-title">
<h2 id="attention-title">Attention</h2>
<p class="lead">What every head of every layer looked at. Choose a head, point at a cell to read its weight.
▁ marks the beginning of a word; · goes on with the bytes of the character before it.</p>
<noscript><p>This part needs JavaScript; {escape(without_script)}.</p></noscript>
<form class="controls" autocomplete="off">
<label class="field wide">Sentence
<select name="sentence" lang="{escape(source)}">{sentences}</select></label>
<fieldset class="kinds"><legend>Attention</legend>{kinds}</fieldset>
<label class="field">Layer <select name="layer"></select></label>
<label class="field">Head <select name="head"></select></label>
</form>
<div class="maps">
<div class="large">
<p class="translation" data-part="translation" lang="{escape(target)}" dir="auto"></p>
<div class="scroll" data-part="map"></div>
<p class="readout" data-part="readout" role="status"></p>
<p class="note" data-part="caption"></p>
</div>
<div class="small"><h3>All heads</h3><div data-part="heads"></div></div>
</div>
<details><summary>Strongest link of each row</summary><div class="scroll" data-part="links"></div></details>
</section>"""


def attention_data(traces: Sequence[AttentionTrace], source: str, target: str) -> dict[str, Any]:
    """What the script reads: labels, and every weight in thousandths, a head after the other, row by row."""
    languages = {"cross": [target, source], "encoder": [source, source], "decoder": [target, target]}
    return {
        "captions": {kind: caption for kind, (_, caption) in _KINDS.items()},
        "sentences": [
            {
                "translation": join_pieces(trace.tgt_out_pieces),
                "kinds": {kind: _kind_data(trace, kind) | {"languages": languages[kind]} for kind in kinds_of(trace)},
            }
            for trace in traces
        ],
    }


def _kind_data(trace: AttentionTrace, kind: Kind) -> dict[str, Any]:
    rows, columns = pieces_of(trace, kind)
    return {
        "rows": label_pieces(rows),
        "columns": label_pieces(columns),
        "layers": [
            [np.rint(weights * 1000).astype(int).ravel().tolist() for weights in heads]
            for heads in weights_of(trace, kind)
        ],
    }
