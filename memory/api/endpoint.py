"""What every call of the API has in common: credentials, limits, strict parameters, headers, numbers.

A view states what it takes (`parameters`, `body`) and calls one service or selector.
"""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter
from typing import Any, ClassVar, cast
from uuid import UUID

from django.db import DatabaseError, InterfaceError
from django.http import HttpResponseBase
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.views import APIView

from memory.api import metrics, throttling
from memory.api.authentication import AgentKeyAuthentication
from memory.api.parsers import StrictJSONParser, refuse_packed
from memory.api.problems import stop
from memory.api.renderers import Renderer
from memory.api.strict import ParameterSerializer, StrictSerializer
from memory.domain.ids import parse_id
from tenants.principals import Principal
from tenants.remembered import on_what_is_known

_BODIES = frozenset({"POST", "PUT", "PATCH"})


class NoParameters(ParameterSerializer):
    """For calls that take none: any parameter is refused by name."""


class AlwaysJSON(BaseContentNegotiation):
    """JSON whatever the caller says to accept: a wrong `Accept` is no reason to leave an agent without an answer."""

    def select_parser(self, request: Request, parsers: Any) -> Any:
        """The JSON parser if the content type fits, else None (415)."""
        media_type = request.content_type.partition(";")[0].strip().lower()
        return next((parser for parser in parsers if parser.media_type == media_type), None)

    def select_renderer(
        self, request: Request, renderers: Any, format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        """The first renderer."""
        return renderers[0], renderers[0].media_type


class Endpoint(APIView):
    """One address.  ``parameters`` maps a method to what its query string may hold; ``reads`` names the POSTs
    that count as reads."""

    authentication_classes = (AgentKeyAuthentication,)
    parser_classes = (StrictJSONParser,)
    renderer_classes = (Renderer,)
    content_negotiation_class = AlwaysJSON
    metadata_class = None
    parameters: ClassVar[Mapping[str, type[ParameterSerializer]]] = {}
    reads: ClassVar[frozenset[str]] = frozenset({"GET", "HEAD"})
    allowance: throttling.Allowance | None = None

    @property
    def principal(self) -> Principal:
        """Who calls."""
        return cast(Principal, self.request.user)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Credentials and limits first, then the parameters; nothing of the body has been read yet."""
        super().initial(request, *args, **kwargs)
        method = "GET" if request.method == "HEAD" else request.method or ""
        allowed = self.parameters.get(method, NoParameters)
        self.query: dict[str, Any] = allowed.read(request.query_params)
        if request.method in _BODIES:
            refuse_packed(request.headers.get("Content-Encoding", ""))
        if request.method in _BODIES and "chunked" in request.headers.get("Transfer-Encoding", ""):
            raise stop(411, "length_required", "send the body with a Content-Length; nothing was stored")

    def check_throttles(self, request: Request) -> None:
        """Count the call."""
        self.charge()

    def charge(self, cost: int = 1) -> None:
        """Count ``cost`` more calls of this kind against the limits."""
        verb = "read" if self.request.method in self.reads else "write"
        self.allowance = throttling.charge(self.principal, verb, cost)

    def body(self, serializer_class: type[StrictSerializer]) -> dict[str, Any]:
        """The checked body.  Raises a 400 problem."""
        return serializer_class.checked(self.request.data)

    def dispatch(self, request: Any, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Measure the call, whatever becomes of it."""
        began = perf_counter()
        response = self._answered(request, *args, **kwargs)
        route = request.resolver_match.route if request.resolver_match else ""
        metrics.observe_call(request.method, route, response.status_code, perf_counter() - began)
        return response

    def _answered(self, request: Any, *args: Any, **kwargs: Any) -> HttpResponseBase:
        dispatch = super().dispatch

        def answer() -> HttpResponseBase:
            self.allowance = None
            return dispatch(request, *args, **kwargs)

        try:
            return on_what_is_known(answer)
        except (
            DatabaseError,
            InterfaceError,
        ) as gone:  # whether the key is still what it was could not be asked
            return self.finalize_response(self.request, self.handle_exception(gone), *args, **kwargs)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """Add the limits' headers, and forbid shared caches to keep what only this key may see."""
        response = super().finalize_response(request, response, *args, **kwargs)
        if self.allowance is not None:
            for name, value in self.allowance.headers().items():
                response.headers.setdefault(name, value)
        response.headers.setdefault("Cache-Control", "private, no-cache")
        return response


def id_in_path(prefix: str, text: str) -> UUID:
    """The id in an address; one that is none leads nowhere (404), like one of another tenant."""
    try:
        return parse_id(prefix, text)
    except ValueError:
        raise stop(404, "not_found", "there is nothing at this address, or this key may not see it") from None


def version_in_if_match(request: Request, *, required: bool) -> int | None:
    """The version that the caller saw, from `If-Match`.  428 when it is required and missing; what cannot be a
    version of ours matches nothing (412).

    A weak tag is taken as well: compressing an answer weakens its ETag on the way.
    """
    header = request.headers.get("If-Match", "").strip()
    if not header:
        if required:
            raise stop(428, "version_required",
                       "send `If-Match` with the ETag of the memory as you read it; nothing was changed")  # fmt: skip
        return None
    digits = header.removeprefix("W/").strip('"')
    if not (digits.isascii() and digits.isdigit() and len(digits) < 10):
        raise stop(412, "version_conflict", "`If-Match` names no version of this memory; nothing was changed")
    return int(digits)
