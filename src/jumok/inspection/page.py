"""A page that is one file: styles, script and data inside, and a policy that forbids all from outside."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from html import escape
from importlib import resources
from string import Template
from typing import Any


def render_page(title: str, sections: Sequence[str], data: dict[str, Any] | None = None) -> bytes:
    """Put HTML sections into the page; `data` is what its script reads."""
    style, script = _part("report.css"), _part("report.js")
    policy = (
        f"default-src 'none'; img-src data:; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    page = Template(_part("report.html")).substitute(
        title=escape(title),
        policy=policy,
        style=style,
        sections="\n".join(section for section in sections if section),
        data=script_json(data or {}),
        script=script,
    )
    return page.encode()


def script_json(value: object) -> str:
    """JSON that can stand inside a script element: no `<` can end it."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    escapes = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
    return "".join(escapes.get(c, c) for c in text)


def _part(name: str) -> str:
    return resources.files("jumok.inspection").joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
