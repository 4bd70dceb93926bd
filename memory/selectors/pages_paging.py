"""Pages of a list that others change while it is read: by the last row seen, never by an offset."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.db.models import Model, Q, QuerySet

M = TypeVar("M", bound=Model)

PAGE = 50
# Counting stops here: a page says "more than", it does not look at every row.
COUNTED = 10_000


@dataclass(frozen=True, slots=True)
class Slice(Generic[M]):
    """One page: its rows, and the cursors of the pages around it ("" where there is none)."""

    rows: Sequence[M]
    previous: str
    next: str


def by_time(rows: QuerySet[M], field: str, cursor: str, size: int = PAGE) -> Slice[M]:
    """Newest first by (`field`, id).  A cursor that cannot be read starts at the beginning."""
    return _slice(rows, cursor, size, _Keys((field, "id"), _read_time, lambda row: _show_time(row, field)))


def by_id(rows: QuerySet[M], cursor: str, size: int = PAGE) -> Slice[M]:
    """Newest first by id alone (ids are time-ordered), along the primary key."""
    return _slice(rows, cursor, size, _Keys(("id",), lambda text: (UUID(text),), lambda row: row.id.hex))


def by_number(rows: QuerySet[M], field: str, cursor: str, size: int = PAGE) -> Slice[M]:
    """Highest first by (a whole number, id)."""

    def read(text: str) -> tuple[int, UUID]:
        number, _, row = text.partition("~")
        return int(number), UUID(row)

    keys = _Keys((field, "id"), read, lambda row: f"{getattr(row, field)}~{row.id.hex}")
    return _slice(rows, cursor, size, keys)


def count_up_to(rows: QuerySet[Any], limit: int = COUNTED) -> tuple[int, bool]:
    """How many rows, and whether there are more than `limit`."""
    found = rows.order_by().values("id")[: limit + 1].count()
    return min(found, limit), found > limit


@dataclass(frozen=True, slots=True)
class _Keys:
    """What the order goes by, and how a place in it is written into a URL."""

    fields: tuple[str, ...]
    read: Callable[[str], tuple[Any, ...]]
    show: Callable[[Any], str]


def _slice(rows: QuerySet[M], cursor: str, size: int, keys: _Keys) -> Slice[M]:
    backwards = cursor.startswith("<")
    place = _place(cursor.removeprefix("<"), keys)
    signs = "" if backwards else "-"
    ordered = rows.order_by(*(f"{signs}{name}" for name in keys.fields))
    if place is not None:
        ordered = ordered.filter(_beyond(keys.fields, place, "gt" if backwards else "lt"))
    found = list(ordered[: size + 1])
    more, found = len(found) > size, found[:size]
    if backwards:
        found.reverse()
    has_previous = more if backwards else place is not None
    has_next = backwards or more
    return Slice(
        found,
        f"<{keys.show(found[0])}" if found and has_previous else "",
        keys.show(found[-1]) if found and has_next else "",
    )


def _place(text: str, keys: _Keys) -> tuple[Any, ...] | None:
    try:
        return keys.read(text) if text else None
    except ValueError:
        return None


def _beyond(fields: tuple[str, ...], place: tuple[Any, ...], side: str) -> Q:
    """(a, b) < (x, y) as conditions: the first field carries the index."""
    if len(fields) == 1:
        return Q(**{f"{fields[0]}__{side}": place[0]})
    first, second = fields
    return Q(**{f"{first}__{side}e": place[0]}) & (
        Q(**{f"{first}__{side}": place[0]}) | Q(**{f"{second}__{side}": place[1]})
    )


def _read_time(text: str) -> tuple[datetime, UUID]:
    moment, _, row = text.partition("~")
    at = datetime.fromisoformat(moment)
    if at.tzinfo is None:
        raise ValueError("a cursor carries an aware time")
    return at, UUID(row)


def _show_time(row: Any, field: str) -> str:
    return f"{getattr(row, field).isoformat()}~{row.id.hex}"
