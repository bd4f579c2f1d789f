"""Who may ask, how much, and what the page may load."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Collection

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOCAL_HOSTS = ("localhost", "127.0.0.1", "[::1]")
ANY_HOST = "*"
_MAX_BODY = 1 << 20  # bytes of a request


class Guard:
    """Refuses other sites' names and endless requests; every answer says that nothing comes from outside.

    A page on another site can have its own name lead to 127.0.0.1 and would then be let in by the browser: only the
    Host header tells.
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str], policy: str) -> None:
        self.app = app
        self.hosts = {host.lower() for host in hosts}
        self.headers = {
            "Content-Security-Policy": policy,
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cache-Control": "no-store",
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self.headers)
            await send(message)

        host = re.sub(r":\d+$", "", Headers(scope=scope).get("host", "")).lower()
        if host not in self.hosts and ANY_HOST not in self.hosts:
            text = f"this server does not answer for {host or 'a request without a Host'}; see `jumok serve --host`"
            await JSONResponse({"error": text}, 403)(scope, receive, send_with_headers)
            return
        await self.app(scope, _limited(receive), send_with_headers)


def _limited(receive: Receive) -> Receive:
    """Count what comes, whatever the request says of its length."""
    num_bytes = 0

    async def receive_some() -> Message:
        nonlocal num_bytes
        message = await receive()
        num_bytes += len(message.get("body", b""))
        if num_bytes > _MAX_BODY:
            raise HTTPException(413, f"the request is longer than {_MAX_BODY:,} bytes")
        return message

    return receive_some


def content_policy(scripts: str, styles: str = "'self'") -> str:
    """Nothing comes from outside, nothing goes there."""
    return (
        f"default-src 'none'; script-src {scripts}; style-src {styles}; img-src 'self' data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


def digest(text: str) -> str:
    """A script or style that stands in the page itself, as a policy names it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
