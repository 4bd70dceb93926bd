"""Who calls: the agent that holds the key in `Authorization: Bearer mgk_…`.

Identity comes from the key alone.  No header, parameter or field of a body can name another agent or tenant.
"""

from __future__ import annotations

from django.conf import settings
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from memory.api.problems import Problem, ProblemError
from memory.selectors.policies import IN_FORCE
from tenants.authentication import KeyRefused
from tenants.principals import Principal
from tenants.remembered import principal_assumed

METADATA_PATH = "/.well-known/oauth-protected-resource"


class AgentKeyAuthentication(BaseAuthentication):
    """Agent keys as bearer credentials; sessions and cookies open nothing here."""

    def authenticate(self, request: Request) -> tuple[Principal, object] | None:
        """The principal and its key's id; None without credentials; a 401 problem for a key that opens nothing."""
        header = request.headers.get("Authorization", "")
        if not header.strip():
            return None
        scheme, _, credentials = header.strip().partition(" ")
        if scheme.lower() != "bearer":
            raise self._refused("not_authenticated", "Send the agent key as `Authorization: Bearer mgk_…`.")
        try:
            principal = principal_assumed(
                credentials.strip(), getattr(request, "request_id", ""), along=IN_FORCE
            )
        except KeyRefused as refused:
            raise self._refused(refused.code, refused.detail) from None
        return principal, principal.key_id

    def authenticate_header(self, request: Request) -> str:
        """The challenge of a 401; it points to where the protected resource describes itself (RFC 9728)."""
        return challenge()

    @staticmethod
    def _refused(code: str, detail: str) -> ProblemError:
        header = f'{challenge()}, error="invalid_token"'
        return ProblemError(Problem(401, code, detail, headers={"WWW-Authenticate": header}))


def challenge() -> str:
    """`WWW-Authenticate` of this resource."""
    return f'Bearer realm="memgov", resource_metadata="{settings.PUBLIC_URL}{METADATA_PATH}"'
