"""The default manager of tenant tables: loud outside a context, and the tenant named in every query."""

from __future__ import annotations

from typing import TypeVar

from django.db import models

from tenants.context import current_tenant_id

M = TypeVar("M", bound=models.Model)


class TenantManager(models.Manager[M]):
    """Adds ``tenant_id = <current>`` as a constant, which row-level security alone does not give a sharded
    database to prune by."""

    def get_queryset(self) -> models.QuerySet[M]:
        return super().get_queryset().filter(tenant_id=current_tenant_id())
