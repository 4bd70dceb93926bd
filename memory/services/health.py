"""Health for pages and the API: the figures now."""

from __future__ import annotations

from uuid import UUID

from memory.selectors import health
from memory.selectors.health_rows import Figures
from memory.services.embedding import present_model
from tenants.context import tenant_context


def health_now(tenant_id: UUID, scope: str = health.ALL) -> Figures:
    """Every metric of the tenant, or of one of its scopes, at this moment; None where there is no data."""
    with tenant_context(tenant_id):
        return health.current(present_model(), scope)
