"""How a mistake is answered: one clear line in {"error": …}, whatever happened, and the server lives on."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from jumok.errors import JumokError, UsageError
from jumok.serving.model_room import NotReadyError

_SAID = {404: "there is nothing at this address", 405: "this address is asked in another way"}


def answer_mistakes(app: FastAPI) -> None:
    """Give an application its answers to what goes wrong."""

    async def explain(_: Request, error: Exception) -> JSONResponse:
        return _refusal(error)

    for kind in (JumokError, HTTPException, RequestValidationError, Exception):  # the last is logged too, by uvicorn
        app.add_exception_handler(kind, explain)


def _refusal(error: Exception) -> JSONResponse:
    status, text = 500, f"{type(error).__name__}: {error}"
    if isinstance(error, JumokError):
        text = str(error)
        status = 503 if isinstance(error, NotReadyError) else 400 if isinstance(error, UsageError) else 500
    elif isinstance(error, HTTPException):
        status, text = error.status_code, _SAID.get(error.status_code, str(error.detail))
    elif isinstance(error, RequestValidationError):
        status, text = 400, "; ".join(map(_explain, error.errors()))
    return JSONResponse({"error": " ".join(text.split())}, status)


def _explain(mistake: Any) -> str:
    """A field that is wrong, and how."""
    if mistake["type"] == "json_invalid":
        return "the request is not JSON"
    place = ".".join(str(part) for part in mistake["loc"] if part != "body")
    text = str(mistake["msg"])
    return f"{place or 'the request'}: {text[:1].lower()}{text[1:]}"
