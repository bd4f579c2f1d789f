"""The HTTP application: the page, what it asks for, and translations for programs."""

from __future__ import annotations

import re
from collections.abc import Collection
from importlib import resources
from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from jumok import __version__
from jumok.serving.explorer import explorer_routes
from jumok.serving.guard import LOCAL_HOSTS, Guard, content_policy, digest
from jumok.serving.libretranslate import translation_routes
from jumok.serving.mistakes import answer_mistakes
from jumok.serving.model_room import ModelRoom

_WEB = resources.files("jumok.serving").joinpath("web")
_TYPES = {".js": "text/javascript", ".css": "text/css"}
IMPORT_MAP = re.compile(r'<script type="importmap">(.*?)</script>', re.DOTALL)


def create_app(run: str | Path, device: str = "auto", hosts: Collection[str] = LOCAL_HOSTS) -> FastAPI:
    """An application for one run, asked for under these names."""
    app = FastAPI(title="Jumok", version=__version__, docs_url=None, redoc_url=None, openapi_url=None)
    room = ModelRoom(Path(run), device)
    app.include_router(explorer_routes(room))
    app.include_router(translation_routes(room))
    app.add_api_route("/", _page, methods=["GET"])
    app.add_api_route("/web/{path:path}", _web_file, methods=["GET"])
    answer_mistakes(app)
    import_map = IMPORT_MAP.search(web_file("index.html"))
    assert import_map is not None
    app.add_middleware(Guard, hosts=hosts, policy=content_policy(f"'self' {digest(import_map.group(1))}"))
    return app


def _page() -> Response:
    return Response(web_file("index.html"), media_type="text/html; charset=utf-8")


def _web_file(path: str) -> Response:
    suffix = Path(path).suffix
    if suffix not in _TYPES or not re.fullmatch(r"[\w-]+(/[\w-]+)*\.\w+", path):
        raise HTTPException(404)
    try:
        return Response(web_file(path), media_type=f"{_TYPES[suffix]}; charset=utf-8")
    except FileNotFoundError:
        raise HTTPException(404) from None


def web_file(path: str) -> str:
    """A part of the page."""
    return _WEB.joinpath(path).read_text(encoding="utf-8")


def web_modules() -> list[str]:
    """Names of the page's scripts, such as views/heads.js."""
    assert isinstance(_WEB, Path)
    return sorted(path.relative_to(_WEB).as_posix() for path in _WEB.rglob("*.js"))
