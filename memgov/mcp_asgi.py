"""The MCP process.  Until its issue is built it answers every call with 501 and says so."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]

_BODY = json.dumps(
    {
        "type": "about:blank",
        "title": "Not implemented",
        "status": 501,
        "code": "mcp_not_built",
        "detail": "This version answers the REST API under /api/v1; MCP comes with a later one.",
    }
).encode()


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """One ASGI application: lifespan, a liveness answer, and 501 for the rest."""
    if scope["type"] == "lifespan":
        await _lifespan(receive, send)
    elif scope["type"] == "http":
        alive = scope["path"] == "/livez"
        status, body = (200, b'{"status":"ok"}') if alive else (501, _BODY)
        kind = b"application/json" if alive else b"application/problem+json"
        await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", kind)]})
        await send({"type": "http.response.body", "body": body})


async def _lifespan(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return
