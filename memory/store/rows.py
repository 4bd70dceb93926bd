"""A model's row as one JSON parameter: for the rows that every write makes, where to bind fifty columns one by one
costs more than to store them."""

from __future__ import annotations

from datetime import datetime
from functools import cache
from uuid import UUID

from django.db.models import Model

from memgov.json_text import json_text


def row_json(instance: Model) -> str:
    """All columns of an unsaved row, for `json_populate_record(NULL::its_table, …)`."""
    values = vars(instance)
    return json_text({column: values[name] for column, name in _columns(type(instance))}, _plain)


@cache
def _columns(model: type[Model]) -> tuple[tuple[str, str], ...]:
    """Each column with the attribute that holds it."""
    return tuple((field.column, field.attname) for field in model._meta.concrete_fields if field.column)


def _plain(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, bytes | memoryview):
        return f"\\x{bytes(value).hex()}"
    if isinstance(value, UUID):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no place in a row")
