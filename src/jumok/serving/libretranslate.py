"""Translations for programs, in LibreTranslate's wire format: what speaks to such a server speaks to this one."""

from __future__ import annotations

import json
from typing import Any, Literal
from urllib.parse import parse_qsl

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from jumok.errors import UsageError
from jumok.serving.model_room import ModelRoom
from jumok.text.languages import language
from jumok.translator import Translator

MAX_CHARACTERS = 20_000  # of all texts of a request


class TranslateRequest(BaseModel):
    """What LibreTranslate's clients send; keys that mean nothing here (api_key) are passed over."""

    model_config = ConfigDict(extra="ignore")

    q: str | list[str]
    source: str = "auto"
    target: str
    format: Literal["text"] = "text"
    alternatives: int = Field(0, ge=0, le=10)


def translation_routes(room: ModelRoom) -> APIRouter:
    """POST /translate, GET /languages, GET /health."""
    routes = APIRouter()

    @routes.get("/health")
    def health() -> dict[str, str]:
        return {"status": "ok" if room.is_ready else "loading"}

    @routes.get("/languages")
    def languages() -> list[dict[str, Any]]:
        return room.use(_languages)

    @routes.post("/translate")
    async def translate(request: Request) -> dict[str, Any]:
        try:
            wanted = TranslateRequest.model_validate(await _body(request))
        except ValidationError as error:
            raise RequestValidationError(error.errors()) from None
        return await run_in_threadpool(room.use, lambda translator: answer(translator, wanted))

    return routes


async def _body(request: Request) -> Any:
    """JSON, or a form as `curl -d` and LibreTranslate's own page send it."""
    try:
        text = (await request.body()).decode()
        if request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
            return dict(parse_qsl(text, keep_blank_values=True))
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise UsageError('expected a JSON object such as {"q": "…", "source": "ko", "target": "en"}, or a form')
    return value


def answer(translator: Translator, wanted: TranslateRequest) -> dict[str, Any]:
    """What LibreTranslate's clients expect back: a text for a text, a list for a list."""
    data = translator.config.data
    source, target = language(data.source).code, language(data.target).code
    if wanted.source not in ("auto", source, data.source) or wanted.target not in (target, data.target):
        raise UsageError(f"{wanted.source} → {wanted.target}: this model translates {source} → {target} only")
    texts = [wanted.q] if isinstance(wanted.q, str) else wanted.q
    num_characters = sum(map(len, texts))
    if num_characters > MAX_CHARACTERS:
        raise UsageError(
            f"{num_characters:,} characters are more than the {MAX_CHARACTERS:,} of one request; send parts"
        )
    if any("\ud800" <= character <= "\udfff" for text in texts for character in text):
        raise UsageError("q holds half of a character (a lone surrogate); send it whole")
    found = translator.translate(texts, n_best=1 + wanted.alternatives)
    best = [translation.text for translation in found]
    others = [list(dict.fromkeys(one.text for one in translation.hypotheses[1:])) for translation in found]
    result: dict[str, Any] = {"translatedText": best[0] if isinstance(wanted.q, str) else best}
    if wanted.alternatives:
        result["alternatives"] = others[0] if isinstance(wanted.q, str) else others
    return result


def _languages(translator: Translator) -> list[dict[str, Any]]:
    data = translator.config.data
    source, target = language(data.source), language(data.target)
    return [
        {"code": source.code, "name": source.name, "targets": [target.code]},
        {"code": target.code, "name": target.name, "targets": []},
    ]
