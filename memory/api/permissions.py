"""Whether the caller may call at all: a key, used from where it may be used."""

from __future__ import annotations

from typing import Any

from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request

from memory.api.authentication import challenge
from memory.api.problems import Problem, ProblemError
from memory.services.key_network import key_used_from
from tenants.authentication import KeyRefused
from tenants.networks import address_of
from tenants.principals import Principal


class FromItsNetwork(IsAuthenticated):
    """Authenticated, and from one of the key's networks where it names some."""

    def has_permission(self, request: Request, view: Any) -> bool:
        """False without credentials; a 401 problem from elsewhere."""
        if not super().has_permission(request, view):
            return False
        if isinstance(request.user, Principal):
            http = request._request
            address = address_of(
                str(http.META.get("REMOTE_ADDR", "")), http.headers.get("X-Forwarded-For", "")
            )
            try:
                key_used_from(request.user, address)
            except KeyRefused as refused:
                header = f'{challenge()}, error="invalid_token"'
                problem = Problem(401, refused.code, refused.detail, headers={"WWW-Authenticate": header})
                raise ProblemError(problem) from None
        return True
