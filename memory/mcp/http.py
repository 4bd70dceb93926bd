"""Streamable HTTP: hosts and origins, addresses and keys, before a message is read.

Stateless: every POST carries its key and is a call of its own, so any number of these processes can stand behind one
address, and one that is killed takes no session with it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AsyncExitStack
from functools import partial
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from django.conf import settings
from django.http.request import split_domain_port, validate_host
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from memgov.process_endpoints import resource_metadata
from memory.api.parsers import refuse_packed
from memory.api.problems import CONTENT_TYPE, Problem, ProblemError
from memory.mcp.credentials import authenticated
from memory.mcp.pool import Pool
from memory.mcp.profiles import PROFILES, checked_options
from memory.mcp.server import Caller, Context, make_server, new_request_id
from tenants.networks import address_of

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]

MAX_BODY_BYTES: Final = 2 * 1024 * 1024
METADATA: Final = "/.well-known/oauth-protected-resource"
_SAFE_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
_CALLER: Final = "memgov.caller"
_LISTS: Final = frozenset({"x-forwarded-for", "content-encoding"})


class Front:
    """The ASGI application: one address per profile, and what says how to reach them."""

    def __init__(self) -> None:
        self.pool = Pool()
        base = urlsplit(settings.MCP_URL)
        self._origin = f"{base.scheme}://{base.netloc}"
        self._managers = {
            base.path + profile_path: StreamableHTTPSessionManager(
                make_server(profile, self.pool, _caller_of),
                stateless=True,
                json_response=True,
                max_request_body_size=MAX_BODY_BYTES,
            )
            for profile_path, profile in PROFILES.items()
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            await self._http(scope, receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        """The managers' lifetime is the process's; the pool ends last, when no call can come any more."""
        await receive()
        async with AsyncExitStack() as stack:
            for manager in self._managers.values():
                await stack.enter_async_context(manager.run())
            await send({"type": "lifespan.startup.complete"})
            await receive()
        self.pool.close()
        await send({"type": "lifespan.shutdown.complete"})

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = _headers(scope["headers"])
        given = headers.get("x-request-id", "")
        request_id = given if _SAFE_ID.fullmatch(given) else new_request_id()
        answer = partial(_answer, send, request_id)
        try:
            if scope["path"] == "/livez":
                return await answer(200, {"status": "ok"})
            _check_host(headers)
            path = scope["path"].rstrip("/")
            if path.startswith(METADATA) and path.removeprefix(METADATA) in ("", *self._managers):
                return await answer(200, resource_metadata(self._url(path.removeprefix(METADATA))))
            manager = self._managers.get(path)
            if manager is None:
                raise _no_address(scope["path"], [self._url(known) for known in self._managers])
            if scope["method"] != "POST":
                raise _problem(405, "method_not_allowed", "this server is stateless: send POST", Allow="POST")
            scope[_CALLER] = await self._caller(scope, headers, path, request_id)
            refuse_packed(headers.get("content-encoding", ""))
        except ProblemError as error:
            problem = error.problem
            return await answer(problem.status, problem.body(request_id), CONTENT_TYPE, problem.headers)
        await manager.handle_request(scope, receive, _with_id(send, request_id))

    def _url(self, path: str) -> str:
        return self._origin + path if path else settings.MCP_URL

    async def _caller(self, scope: Scope, headers: Mapping[str, str], path: str, request_id: str) -> Caller:
        challenge = f'Bearer realm="memgov", resource_metadata="{self._origin}{METADATA}{path}"'
        scheme, _, key = headers.get("authorization", "").strip().partition(" ")
        if scheme.lower() != "bearer" or not key.strip():
            detail = "Send the agent key as `Authorization: Bearer mgk_…`."
            raise _problem(401, "not_authenticated", detail, **{"WWW-Authenticate": challenge})
        options = checked_options(dict(parse_qsl(scope["query_string"].decode("latin-1"))))
        remote = str((scope.get("client") or ("unknown",))[0])
        address = address_of(remote, headers.get("x-forwarded-for", ""))
        try:
            principal = await self.pool.run(partial(authenticated, key.strip(), request_id, address))
        except ProblemError as error:
            problem = error.problem
            if problem.status != 401:
                raise
            told = {"WWW-Authenticate": f'{challenge}, error="invalid_token"'}
            raise _problem(problem.status, problem.code, problem.detail, **told) from None
        return Caller(principal, options, request_id)


def _caller_of(ctx: Context) -> Caller:
    assert ctx.request is not None  # every message of this transport comes in a request
    caller: Caller = ctx.request.scope[_CALLER]
    return caller


def _headers(given: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Headers by their small names.  Each proxy may have written a line of `X-Forwarded-For` of its own, and each
    coding of a body may stand in one: they count together, as a WSGI server joins them."""
    headers: dict[str, str] = {}
    for raw, value in given:
        name, text = raw.decode("latin-1").lower(), value.decode("latin-1")
        joined = name in _LISTS and name in headers
        headers[name] = f"{headers[name]},{text}" if joined else text
    return headers


def _check_host(headers: Mapping[str, str]) -> None:
    """A page in a browser that was led here by a false name (DNS rebinding) comes no further than a wrong host."""
    host = split_domain_port(headers.get("host", ""))[0]
    if not host or not validate_host(host, settings.ALLOWED_HOSTS):
        raise _problem(421, "wrong_host", "this host is not among MEMGOV_ALLOWED_HOSTS")
    origin = headers.get("origin")
    if origin is None:
        return
    try:
        name = urlsplit(origin).hostname if origin.startswith(("http://", "https://")) else None
    except ValueError:
        name = None
    shown = f"[{name}]" if name and ":" in name else name
    if not shown or not validate_host(shown, settings.ALLOWED_HOSTS):
        raise _problem(403, "wrong_origin", "pages of this origin may not call memgov")


def _no_address(path: str, known: Iterable[str]) -> ProblemError:
    wrong = "REST is served by the web process" if path.startswith("/api") else "there is nothing here"
    return _problem(404, "not_found", f"{wrong}; MCP (streamable HTTP, POST) is at {' and '.join(known)}")


def _problem(status: int, code: str, detail: str, **headers: str) -> ProblemError:
    return ProblemError(Problem(status, code, detail, headers=headers))


async def _answer(
    send: Send, request_id: str, status: int, body: Any, kind: str = "application/json",
    headers: Mapping[str, str] | None = None,
) -> None:  # fmt: skip
    said = {"Content-Type": kind, "X-Request-ID": request_id, "Cache-Control": "no-store", **(headers or {})}
    pairs = [(name.encode("latin-1"), value.encode("latin-1", "replace")) for name, value in said.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": json.dumps(body).encode()})


def _with_id(send: Send, request_id: str) -> Send:
    """The answer with the id of its request."""

    async def sending(message: Any) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message.get("headers", []), (b"x-request-id", request_id.encode())]
        await send(message)

    return sending
