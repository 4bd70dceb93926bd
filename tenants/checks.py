"""System checks that refuse a start when the tenant boundary has a hole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.apps import apps
from django.core.checks import CheckMessage, Error, Tags, register
from django.db import models

from tenants import boundary
from tenants.managers import TenantManager


@register(Tags.models)
def tenant_tables_have_their_shape(**_: Any) -> list[CheckMessage]:
    """Every model with a tenant has (tenant_id, …) as its key and the raising manager."""
    found: list[CheckMessage] = []
    for model in apps.get_models():
        names = {field.attname for field in model._meta.concrete_fields}
        if "tenant_id" not in names:
            continue
        key = model._meta.pk
        if not isinstance(key, models.CompositePrimaryKey) or key.field_names[0] != "tenant_id":
            found.append(
                Error(f"{model.__name__}: the primary key must start with tenant_id", id="tenants.E001")
            )
        if not isinstance(model._meta.default_manager, TenantManager):
            found.append(
                Error(f"{model.__name__}: the default manager must be a TenantManager", id="tenants.E002")
            )
    return found


@register(Tags.database)
def database_holds_the_boundary(databases: Sequence[str] | None = None, **_: Any) -> list[CheckMessage]:
    """Row-level security is forced everywhere and the app's role cannot pass it."""
    if "default" not in (databases or []):
        return []
    return [
        *(
            Error(f"table {name} has no forced row-level security", id="tenants.E003")
            for name in boundary.unsecured_tables()
        ),
        *(
            Error(f"key {name} does not start with the tenant", id="tenants.E004")
            for name in boundary.keys_without_tenant()
        ),
        *(
            Error(
                f"{problem}: it could pass row-level security",
                hint="Connect as memgov_app.",
                id="tenants.E005",
            )
            for problem in boundary.role_problems()
        ),
    ]
