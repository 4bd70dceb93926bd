"""One call of the API, made inside a process by an agent that is already known: what MCP and memory tests do.

Views are called as they are, with their checks of bodies and parameters, their limits and their problems; only the
reading of a credential, and of where it comes from, is left out, because the caller has done that.
"""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any
from urllib.parse import urlencode, urlsplit

from django.conf import settings
from django.core.handlers.wsgi import WSGIRequest
from django.urls import NoReverseMatch, resolve, reverse
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request

from memory.api.problems import Problem, problem_of
from tenants.principals import Principal

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Call:
    """An address of the API by name, and what goes with it.  Times, numbers and texts as JSON has them."""

    method: str
    name: str
    path: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: from status 400 on the body is a problem, or a refused write."""

    status: int
    body: Any
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        return self.status < 400


class KnownPrincipal(BaseAuthentication):
    """The agent whom the transport has authenticated."""

    def authenticate(self, request: Request) -> tuple[Principal, object]:
        principal: Principal = request._request.memgov_principal  # type: ignore[attr-defined]
        return principal, principal.key_id


def call_rest(principal: Principal, call: Call, request_id: str) -> Answer:
    """Make the call.  Never raises for what a caller sent, nor for a database that is away: those are problems."""
    principal = replace(principal, request_id=request_id)
    try:
        address = reverse(f"api:{call.name}", kwargs=dict(call.path))
    except NoReverseMatch:  # an id that cannot stand in an address is nobody's
        return problem_answer(
            Problem(404, "not_found", "there is nothing with this id, or this key may not see it"), request_id
        )
    try:
        return _called(principal, call, address, request_id)
    except Exception as error:
        problem = problem_of(error)
        if isinstance(error, UnicodeEncodeError):  # half a character in a parameter; in a body REST says so
            problem = Problem(400, "lone_surrogate", "a text holds half of a \\u pair; nothing was done")
        if problem is None:
            log.exception("request %s failed", request_id)
            problem = Problem(500, "internal_error", "Something went wrong on our side.")
        return problem_answer(problem, request_id)


def problem_answer(problem: Problem, request_id: str) -> Answer:
    """A problem as an answer."""
    return Answer(problem.status, problem.body(request_id), dict(problem.headers))


def _called(principal: Principal, call: Call, address: str, request_id: str) -> Answer:
    request = _request(call, address)
    request.request_id = request_id  # type: ignore[attr-defined]
    request.memgov_principal = principal  # type: ignore[attr-defined]
    request.resolver_match = match = resolve(address)
    response = _view(match.func.view_class)(request, *match.args, **match.kwargs)  # type: ignore[attr-defined]
    if hasattr(response, "render"):
        response.render()
    body = json.loads(response.content) if response.content else None
    return Answer(response.status_code, body, dict(response.items()))


class _Request(WSGIRequest):
    """A request that came through no host: addresses in its answer are those of the REST API."""

    def get_host(self) -> str:
        return urlsplit(settings.PUBLIC_URL).netloc


@cache
def _view(endpoint: Any) -> Any:
    # From where the key is used, the transport has asked: here there is no address.
    return endpoint.as_view(authentication_classes=(KnownPrincipal,), permission_classes=(IsAuthenticated,))


def _request(call: Call, address: str) -> _Request:
    body = b"" if call.body is None else json.dumps(call.body).encode()
    environ: dict[str, Any] = {
        "REQUEST_METHOD": call.method,
        "PATH_INFO": address,
        "QUERY_STRING": urlencode(parameters(call)),
        "CONTENT_TYPE": "application/json",
        "CONTENT_LENGTH": str(len(body)),
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "0",
        "wsgi.url_scheme": urlsplit(settings.PUBLIC_URL).scheme,
        "wsgi.input": io.BytesIO(body),
        **{f"HTTP_{name.upper().replace('-', '_')}": value for name, value in call.headers.items()},
    }
    return _Request(environ)


def parameters(call: Call) -> dict[str, str]:
    """What the call's address says after the question mark."""
    return {name: _parameter(value) for name, value in call.query.items() if value is not None}


def _parameter(value: Any) -> str:
    """As an address has it: `a,b` for a list, `true` for a flag."""
    if isinstance(value, list):
        return ",".join(_parameter(one) for one in value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else json.dumps(value)
