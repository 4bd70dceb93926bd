"""Errors as RFC 9457 problems: one shape for everything that goes wrong under /api/, whoever raised it.

A problem never shows internals.  What a policy decided is no error and does not come through here, except
that a refused write is shown in the same shape (`refusal`).
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from django.core.exceptions import SuspiciousOperation
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views.defaults import bad_request, page_not_found, server_error
from rest_framework import exceptions
from rest_framework.exceptions import APIException, ErrorDetail
from rest_framework.response import Response

from memory.services.errors import ServiceError

log = logging.getLogger(__name__)

CONTENT_TYPE = "application/problem+json"
_RETRY_AFTER_SECONDS = 2


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """What is wrong with one field or parameter."""

    field: str
    code: str
    detail: str


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem before it knows its request.  ``more`` are members of its own."""

    status: int
    code: str
    detail: str
    errors: Sequence[FieldProblem] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    more: Mapping[str, Any] = field(default_factory=dict)

    def body(self, request_id: str = "") -> dict[str, Any]:
        """The members of the problem, as JSON values."""
        body: dict[str, Any] = {
            "type": f"urn:memgov:problem:{self.code}",
            "title": self.code.replace("_", " ").capitalize(),
            "status": self.status,
            "detail": self.detail,
            "code": self.code,
        }
        if self.errors:
            body["errors"] = [
                {"field": error.field, "code": error.code, "detail": error.detail} for error in self.errors
            ]
        if request_id:
            body["request_id"] = request_id
        return {**body, **self.more}


class ProblemError(APIException):
    """Raise a problem from anywhere in the API layer."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail, problem.code)
        self.problem = problem


def stop(status: int, code: str, detail: str, *, field: str = "", **headers: str) -> ProblemError:
    """The exception of a problem, for ``raise stop(…)``; headers as `retry_after="2"`."""
    errors = (FieldProblem(field, code, detail),) if field else ()
    named = {name.replace("_", "-").title(): value for name, value in headers.items()}
    return ProblemError(Problem(status, code, detail, errors, named))


def exception_handler(error: Exception, context: Mapping[str, Any]) -> Response | None:
    """Django REST framework's hook.  None re-raises: an unforeseen error is logged and becomes a bare 500."""
    problem = problem_of(error)
    if problem is None:
        return None
    return respond(problem, context["request"])


def respond(problem: Problem, request: Any) -> Response:
    """The problem as an answer to this request."""
    return Response(
        problem.body(getattr(request, "request_id", "")),
        status=problem.status,
        headers=dict(problem.headers),
        content_type=CONTENT_TYPE,
    )


def problem_of(error: Exception) -> Problem | None:
    """The problem that an exception stands for; None for what nobody foresaw."""
    match error:
        case ProblemError():
            return error.problem
        case ServiceError():
            errors = (FieldProblem(error.field, error.code, error.detail),) if error.field else ()
            return Problem(error.status, error.code, error.detail, errors, more=error.more)
        case exceptions.ValidationError():
            return invalid(error.detail)
        case APIException():
            return _framework_problem(error)
        case Http404():
            return Problem(404, "not_found", "There is nothing at this address.")
        case SuspiciousOperation():
            return Problem(400, "malformed", "The request is malformed.")
        case OperationalError() | InterfaceError():
            log.error("the database did not answer: %s", error)
            return Problem(
                503,
                "database_unavailable",
                "The database did not answer; try again.",
                headers={"Retry-After": str(_RETRY_AFTER_SECONDS)},
            )
    return None


def invalid(detail: Any) -> Problem:
    """A 400 from a serializer's errors, each under the path of its field."""
    found = list(_flat(detail, ""))
    codes = {error.code for error in found}
    code = codes.pop() if len(codes) == 1 else "invalid"
    code = code if code in ("unknown_field", "unknown_parameter", "bad_cursor") else "invalid"
    text = "; ".join(f"{error.field}: {error.detail}" if error.field else error.detail for error in found[:5])
    return Problem(400, code, text, found)


def _flat(detail: Any, path: str) -> Iterator[FieldProblem]:
    if isinstance(detail, Mapping):
        for name, inner in detail.items():
            inside = "" if name == "non_field_errors" else str(name)[:100]
            yield from _flat(inner, f"{path}.{inside}".strip("."))
    elif isinstance(detail, list | tuple):
        for at, inner in enumerate(detail):
            nested = isinstance(inner, Mapping | list)
            if inner:
                yield from _flat(inner, f"{path}.{at}".strip(".") if nested else path)
    else:
        code = detail.code if isinstance(detail, ErrorDetail) else "invalid"
        yield FieldProblem(path, code or "invalid", str(detail))


def _framework_problem(error: APIException) -> Problem:
    headers: dict[str, str] = {}
    if header := getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = header
    code = {
        exceptions.NotAuthenticated: "not_authenticated",
        exceptions.ParseError: "malformed",
        exceptions.MethodNotAllowed: "method_not_allowed",
        exceptions.UnsupportedMediaType: "unsupported_media_type",
    }.get(type(error), str(error.get_codes()) if isinstance(error.detail, str) else "invalid")
    return Problem(error.status_code, code, str(error.detail), headers=headers)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's 404: a problem under /api/, a page elsewhere."""
    if not _is_api(request):
        return page_not_found(request, exception)
    return plain(Problem(404, "not_found", "There is nothing at this address."), request)


def malformed(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's 400 (a host that is not allowed, a request it cannot read)."""
    if not _is_api(request):
        return bad_request(request, exception)
    return plain(Problem(400, "malformed", "The request is malformed."), request)


def unforeseen(request: HttpRequest) -> HttpResponse:
    """Django's 500.  The log has the error under the request id; the answer has only the id."""
    if not _is_api(request):
        return server_error(request)
    return plain(
        Problem(500, "internal_error", "Something went wrong on our side; nothing more is known here."),
        request,
    )


def plain(problem: Problem, request: HttpRequest) -> HttpResponse:
    """A problem outside the framework's views."""
    body = problem.body(getattr(request, "request_id", ""))
    return JsonResponse(body, status=problem.status, headers=dict(problem.headers), content_type=CONTENT_TYPE)


def _is_api(request: HttpRequest) -> bool:
    return request.path_info.startswith(("/api/", "/.well-known/", "/mcp"))


def phrase(status: int) -> str:
    """The words of a status, for the API's description."""
    return HTTPStatus(status).phrase
