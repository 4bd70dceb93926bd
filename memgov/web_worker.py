"""gunicorn's worker, which answers in our own shapes where a request is refused before there is one.

A request line or headers over the limit never reach Django: a caller of the API gets a problem with a stable code all
the same, a browser a page that says what to do.
"""

from __future__ import annotations

import contextlib
import html
import json
import select
import socket
from time import monotonic
from typing import Any, Final

from gunicorn.http.errors import LimitRequestHeaders, LimitRequestLine  # type: ignore[import-untyped]
from gunicorn.http.message import Request  # type: ignore[import-untyped]
from gunicorn.http.parser import RequestParser  # type: ignore[import-untyped]
from gunicorn.workers.gthread import ThreadWorker  # type: ignore[import-untyped]

# The most that gunicorn takes; what a proxy in front allows by default is as much (nginx) or less.
REQUEST_LINE_BYTES: Final = 8190
HEADER_BYTES: Final = 8190
HEADERS: Final = 100
_DRAIN_SECONDS, _DRAIN_BYTES = 1.0, 1 << 20

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title} · memgov</title></head>
<body><main><h1>{title}</h1><p>{detail}</p><p><a href="/">memgov</a></p></main></body></html>
"""
_REFUSALS: Final = {
    LimitRequestLine: (
        414, "URI Too Long", "request_line_too_long",
        f"The request line (method, address and query) is longer than {REQUEST_LINE_BYTES:,} bytes: ask for less.",
    ),
    LimitRequestHeaders: (
        431, "Request Header Fields Too Large", "headers_too_large",
        f"There are more than {HEADERS} headers, or one is longer than {HEADER_BYTES:,} bytes.",
    ),
}  # fmt: skip


class TellingRequest(Request):
    """A request that says what it was for when it is too long to be read."""

    def _parse_python(self, unreader: Any, buf: bytearray) -> bytes:
        try:
            return bytes(super()._parse_python(unreader, buf))
        except (LimitRequestLine, LimitRequestHeaders) as error:
            target = getattr(self, "path", None) or bytes(buf[:200]).decode("latin-1").partition(" ")[2]
            error.target = target
            raise


class Worker(ThreadWorker):
    """Threads, as gunicorn's own."""

    def init_process(self) -> None:
        """In the forked process, before it takes a connection."""
        RequestParser.mesg_class = TellingRequest
        super().init_process()

    def handle_error(self, req: Any, client: Any, addr: Any, exc: BaseException) -> None:
        """Ours for what is too long; everything else is gunicorn's."""
        refusal = _REFUSALS.get(type(exc))
        if refusal is None:
            super().handle_error(req, client, addr, exc)
            return
        self.log.warning("refused a request from %s: %s", (addr or ("",))[0], refusal[2])
        with contextlib.suppress(OSError):
            client.sendall(answer(*refusal, target=str(getattr(exc, "target", ""))))
            _drain(client)


def answer(status: int, reason: str, code: str, detail: str, *, target: str) -> bytes:
    """The whole answer: a problem under the API's addresses, a page elsewhere."""
    if target.startswith(("/api/", "/.well-known/", "/mcp")):
        kind, body = "application/problem+json", json.dumps(_problem(status, code, detail)).encode()
    else:
        kind = "text/html; charset=utf-8"
        body = _PAGE.format(title=html.escape(reason), detail=html.escape(detail)).encode()
    head = (
        f"HTTP/1.1 {status} {reason}\r\nConnection: close\r\nContent-Type: {kind}\r\n"
        f"Content-Length: {len(body)}\r\nContent-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n"
        "X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n\r\n"
    )
    return head.encode() + body


def _problem(status: int, code: str, detail: str) -> dict[str, Any]:
    from memory.api.problems import Problem  # loaded by the application, which this file is read before

    return Problem(status, code, detail).body()


def _drain(client: Any) -> None:
    """Read what is still coming: closing on unread bytes resets the connection, and the answer is lost with it."""
    end, left = monotonic() + _DRAIN_SECONDS, _DRAIN_BYTES
    client.shutdown(socket.SHUT_WR)  # nothing more comes from us
    while left > 0 and (wait := end - monotonic()) > 0 and select.select([client], [], [], wait)[0]:
        data = client.recv(65_536)
        if not data:
            return
        left -= len(data)
