"""One self-contained page for one sentence: style, scripts and the answers to what its views ask stand inside."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from html import escape
from itertools import product
from pathlib import Path
from typing import Any

from jumok.errors import JumokError, UsageError, explained_disk_errors
from jumok.serving.answers.look import Answer, Look, look_into
from jumok.serving.answers.model import describe
from jumok.serving.answers.positions import positions
from jumok.serving.answers.training import training
from jumok.serving.app import IMPORT_MAP, web_file, web_modules
from jumok.serving.explorer import QUESTIONS
from jumok.serving.guard import digest
from jumok.storage.files import replace_durably
from jumok.translator import Translator

_START = 'import "jumok/main.js";'
_NUM_POSITIONS = 24  # where the slider of that view stands at first
_FILLS = ("minus_infinity", "zero_before", "zero_after")


def write_page(run: Path, page: Path, text: str | None = None, device: str = "auto") -> None:
    """Write the page of a run for a sentence, the run's own example where none is given."""
    if page.is_dir():
        raise UsageError(f"{page}: is a folder; name a file such as page.html")
    look = look_into(Translator.load(run, device=device, engine="torch"), run)
    html = page_of(answers_for(look, text))
    with explained_disk_errors(page):
        page.parent.mkdir(parents=True, exist_ok=True)
        replace_durably(page, html.encode())


# --- what the views ask ------------------------------------------------------------------------------------------


def answers_for(look: Look, text: str | None = None) -> dict[str, Answer]:
    """What every view asks as it is first opened, and what its switches ask, by the key under which it asks."""
    model = describe(look)
    text = model["example"]["source"] if text is None else text
    model["example"]["source"] = text
    look.subject.source_ids(text)  # a sentence that cannot be looked at is refused at once
    answers: dict[str, Answer] = {
        "model": model,
        "training": training(look),
        f"positions?length={_NUM_POSITIONS}": positions(look, _NUM_POSITIONS),
    }

    def ask(name: str, **body: Any) -> Answer:
        kind, answer = QUESTIONS[name]
        try:
            found = answer(look, kind.model_validate(body))
        except JumokError as error:  # such as what only a Transformer has: the view says so
            found = {"error": str(error)}
        return answers.setdefault(key_of(name, body), found)

    translation = ask("translate", text=text)["text"]
    ask("tokens", text=text, side="source")
    ask("tokens", text=translation, side="target")
    forward = ask("forward", text=text)
    for kind, layer, head in _heads(model, forward):
        ask("attention", text=text, kind=kind, layer=layer, head=head)
        if layer == head == 1:  # a search each: all of them would take minutes
            ask("silence", text=text, kind=kind, layer=layer, head=head)
    change = {"position": len(forward["tgt_in_labels"]) - 1, "piece": forward["default_change"]}
    for fill in _FILLS:
        for is_causal in (True, False):
            ask("masks", text=text, is_causal=is_causal, fill=fill, change=change)
    lanes = ask("lanes", text=text)
    num_own = len(lanes["free"]["pieces"]) - 1
    if num_own > 0:
        overwrite = {"position": min(1, num_own - 1), "piece": lanes["default_change"]}
        ask("lanes", text=text, overwrite=overwrite)
    for position in range(len(forward["tgt_out_labels"])):
        ask("loss", text=text, position=position, epsilon=0.1)
    ask("beam", text=text, **model["decoding"], force=[])
    ask("stream", text=text)
    ask("checkpoints", text=text)
    return answers


def _heads(model: Answer, forward: Answer) -> Iterator[tuple[str, int, int]]:
    """Every head of every layer of every attention, counted from 1."""
    for kind in model["attentions"]:
        num_layers, num_heads = forward["attention"][kind]["shape"][:2]
        yield from product([kind], range(1, num_layers + 1), range(1, num_heads + 1))


def key_of(name: str, body: dict[str, Any]) -> str:
    """As web/api.js writes a question: keys in order, no spaces, 1 and not 1.0."""
    text = json.dumps(_as_in_the_browser(body), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return f"{name} {text}"


def _as_in_the_browser(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _as_in_the_browser(part) for key, part in value.items()}
    return int(value) if isinstance(value, float) and value.is_integer() else value


# --- the page ----------------------------------------------------------------------------------------------------


def page_of(answers: dict[str, Answer]) -> str:
    """The page with everything inside, and a policy that lets nothing in."""
    style = web_file("style.css")
    modules = {f"jumok/{name}": _as_address(web_file(name)) for name in web_modules()}
    import_map = json.dumps({"imports": modules})
    policy = (
        f"default-src 'none'; script-src {digest(import_map)} {digest(_START)} data:; style-src {digest(style)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    data = json.dumps(answers, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")
    html = web_file("index.html")
    html = _put(
        html, '<meta charset="utf-8">\n', f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">\n'
    )
    html = html.replace('<link rel="stylesheet" href="web/style.css">', f"<style>{style}</style>")
    html = IMPORT_MAP.sub(lambda _: f'<script type="importmap">{import_map}</script>', html)
    return html.replace(
        '<script type="module" src="web/main.js"></script>',
        f'<script type="application/json" id="answers">{data}</script>\n<script type="module">{_START}</script>',
    )


def _put(html: str, after: str, what: str) -> str:
    assert after in html
    return html.replace(after, after + what)


def _as_address(script: str) -> str:
    return "data:text/javascript;base64," + base64.b64encode(script.encode()).decode()
