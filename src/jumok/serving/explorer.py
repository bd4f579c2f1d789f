"""What the page asks for: each address answers one view's question with numbers of the loaded model."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse

from jumok.serving import questions as q
from jumok.serving.answers.attention import forward, one_head, silence
from jumok.serving.answers.beam import beam
from jumok.serving.answers.lanes import lanes
from jumok.serving.answers.look import Answer, Look, look_into
from jumok.serving.answers.loss import loss
from jumok.serving.answers.masks import masks
from jumok.serving.answers.model import describe
from jumok.serving.answers.positions import positions
from jumok.serving.answers.stream import stream
from jumok.serving.answers.text import tokens, translate
from jumok.serving.answers.training import checkpoints, training
from jumok.serving.model_room import ModelRoom
from jumok.translator import Translator

# By name: what is asked, and who answers.
QUESTIONS: dict[str, tuple[type[q.Question], Callable[..., Answer]]] = {
    "translate": (q.TranslateQuestion, translate),
    "tokens": (q.TokensQuestion, tokens),
    "forward": (q.SentenceQuestion, forward),
    "attention": (q.HeadQuestion, one_head),
    "silence": (q.HeadQuestion, silence),
    "masks": (q.MasksQuestion, masks),
    "lanes": (q.LanesQuestion, lanes),
    "loss": (q.LossQuestion, loss),
    "beam": (q.BeamQuestion, beam),
    "stream": (q.SentenceQuestion, stream),
    "checkpoints": (q.SourceQuestion, checkpoints),
}


def explorer_routes(room: ModelRoom) -> APIRouter:
    """Everything under /api; routes that are not coroutines run in FastAPI's threads."""
    routes = APIRouter(prefix="/api")

    @cache
    def look(translator: Translator) -> Look:
        return look_into(translator, room.run)

    def ask(answer: Callable[..., Answer], *question: Any) -> JSONResponse:
        return JSONResponse(room.use(lambda translator: answer(look(translator), *question)))

    @routes.get("/model")
    def get_model() -> JSONResponse:
        return ask(describe)

    @routes.get("/positions")
    def get_positions(length: int = Query(24, ge=2, le=128)) -> JSONResponse:
        return ask(positions, length)

    @routes.get("/training")
    def get_training() -> JSONResponse:
        return ask(training)

    def add(name: str, kind: type[q.Question], answer: Callable[..., Answer]) -> None:
        def post(question: Any) -> JSONResponse:
            return ask(answer, question)

        post.__annotations__["question"] = kind  # by which FastAPI reads and checks the body
        routes.add_api_route(f"/{name}", post, methods=["POST"], name=name)

    for name, (kind, answer) in QUESTIONS.items():
        add(name, kind, answer)
    return routes
