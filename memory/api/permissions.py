"""Whether the caller may call at all: a key, used from where it may be used."""

from __future__ import annotations

from typing import Any

from django.core.cache import cache
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request

from memory.api.authentication import challenge
from memory.api.problems import Problem, ProblemError
from memory.services.access import denial_recorded
from memory.services.errors import Denied
from tenants.networks import address_of, inside, networks_of
from tenants.principals import Principal

_RECORDED_EVERY_SECONDS = 60


class FromItsNetwork(IsAuthenticated):
    """Authenticated, and from one of the key's networks where it names some."""

    def has_permission(self, request: Request, view: Any) -> bool:
        """False without credentials; a 401 problem from elsewhere, which is in the audit once a minute."""
        if not super().has_permission(request, view):
            return False
        principal = request.user
        if not isinstance(principal, Principal) or principal.key_id is None:
            return True
        address = address_of(request._request)
        if inside(networks_of(principal.tenant_id, principal.key_id), address):
            return True
        said = f"this key may not be used from {address}; an admin of the tenant can change its networks"
        if cache.add(f"elsewhere:{principal.key_id.hex}:{address}", 1, _RECORDED_EVERY_SECONDS):
            denied = Denied(
                said,
                code="key_elsewhere",
                verb="call",
                target=f"key_{principal.key_id.hex}",
                target_kind="key",
            )
            denial_recorded(principal, denied)
        header = f'{challenge()}, error="invalid_token"'
        raise ProblemError(Problem(401, "key_elsewhere", said, headers={"WWW-Authenticate": header}))
