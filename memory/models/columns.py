"""The columns of a table, for what handles rows of every table alike."""

from __future__ import annotations

from typing import Any, Final

from django.apps import apps
from django.db.models import Field, Model

TENANT: Final = "tenant_id"


def model_of(table: str) -> type[Model]:
    """The model of a table."""
    return next(model for model in apps.get_models() if model._meta.db_table == table)


def fields_of(table: str) -> list[Field[Any, Any]]:
    """The columns of a table but the tenant."""
    found = [field for field in model_of(table)._meta.concrete_fields if field.column]
    return [field for field in found if field.column != TENANT]


def columns_of(table: str) -> list[str]:
    """Their names."""
    return [str(field.column) for field in fields_of(table)]
