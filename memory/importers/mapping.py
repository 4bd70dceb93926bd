"""A mapping file: which column or field of a foreign row is which of ours.

text: note
owner: customer.id
created_at: written
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import yaml

from memory.importers.records import ForeignRecord, Unreadable
from memory.importers.rows import name_of
from memory.importers.times import read_end, read_time

FIELDS: Final = (
    "text", "subject", "predicate", "value", "owner", "scope", "id", "created_at", "updated_at", "expires_at",
    "valid_from", "valid_to",
)  # fmt: skip
USUAL_TEXT: Final = ("text", "content", "memory", "fact", "note", "observation", "statement", "memories")
_USUAL: Final[Mapping[str, tuple[str, ...]]] = {
    "text": USUAL_TEXT,
    "owner": ("user_id", "user", "owner"),
    "id": ("id", "uuid"),
    "created_at": ("created_at", "created", "timestamp", "date"),
    "updated_at": ("updated_at", "updated"),
    "expires_at": ("expires_at", "expiration_date"),
}


class BadMapping(ValueError):
    """The mapping file cannot be used; the text says why."""


def read_mapping(text: str) -> dict[str, str]:
    """YAML or JSON: our names to theirs. A dot goes into nested objects."""
    try:
        given = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise BadMapping(f"is no valid YAML or JSON ({str(error).splitlines()[0]})") from None
    if not isinstance(given, dict) or not all(isinstance(one, str) for pair in given.items() for one in pair):
        raise BadMapping("is not a list of lines like `text: column`")
    if unknown := sorted(given.keys() - set(FIELDS)):
        raise BadMapping(f"{', '.join(unknown)}: unknown; there are {', '.join(FIELDS)}")
    if "text" not in given and not {"subject", "predicate", "value"} <= given.keys():
        raise BadMapping("names neither `text` nor `subject`, `predicate` and `value`")
    return given


def usual_mapping(columns: list[str]) -> dict[str, str] | None:
    """A mapping by the usual names of columns, None where no column is called like a text."""
    known = {column.strip().casefold(): column for column in columns}
    found = {ours: known[name] for ours, names in _USUAL.items() for name in reversed(names) if name in known}
    return found if "text" in found else None


def mapped(row: Mapping[str, Any], mapping: Mapping[str, str], pointer: str) -> ForeignRecord | Unreadable:
    """The row as a record."""
    field = {ours: _at(row, path) for ours, path in mapping.items()}
    subject, predicate = name_of(field.get("subject")), name_of(field.get("predicate"))
    value = _plain(field.get("value"))
    text = _plain(field.get("text"))
    if not text and subject and predicate and value:
        text = f"{subject} {predicate.replace('_', ' ')}: {value}"
    if not text:
        wanted = mapping.get("text") or "subject, predicate and value"
        return Unreadable(pointer, f"has no text in {wanted}")
    whole = bool(subject and predicate and value)
    return ForeignRecord(
        text=text,
        pointer=pointer,
        subject=subject,
        predicate=predicate if whole else None,
        value=value if whole else None,
        owner=name_of(field.get("owner")) or "",
        scope=name_of(field.get("scope")),
        created_at=read_time(field.get("created_at")),
        updated_at=read_time(field.get("updated_at")),
        expires_at=read_end(field.get("expires_at")),
        valid_from=read_time(field.get("valid_from")),
        valid_to=read_end(field.get("valid_to")),
        foreign_id=name_of(field.get("id")),
        provenance={"owner": owner} if (owner := name_of(field.get("owner"))) else {},
    )


def _at(row: Mapping[str, Any], path: str) -> Any:
    """The field of that name, else the way through nested objects."""
    if path in row:
        return row[path]
    value: Any = row
    for name in path.split("."):
        if not isinstance(value, Mapping):
            return None
        value = value.get(name)
    return value


def _plain(value: object) -> str | None:
    """Text, or a number or truth value as JSON writes it."""
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)[:100] if isinstance(value, float) else name_of(value)
