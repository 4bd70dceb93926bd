"""Pages of a list that others change while it is read: by the last row seen, never by an offset."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.db import connection
from django.db.models import Model, Q, QuerySet

M = TypeVar("M", bound=Model)

PAGE = 50
# Rows of a queue, each drawn as a card beside the item that is open.
CARDS = 25
# Counting stops here: a page says "10,000+", it does not look at every row.
COUNTED = 10_000
# A search for a piece of text reads so many rows at the most for one page, and goes on from there on the next one.
SEARCHED = 3_000


class Tally(int):
    """How many there are, or with `more` that there are more than were counted.  Pages draw it as "10,000+"."""

    more: bool = False

    @classmethod
    def of(cls, found: int) -> Tally:
        """From a count that stopped after `COUNTED` + 1."""
        tally = cls(min(found, COUNTED))
        tally.more = found > COUNTED
        return tally


@dataclass(frozen=True, slots=True)
class Slice(Generic[M]):
    """One page: its rows, and the cursors of the pages around it ("" where there is none)."""

    rows: Sequence[M]
    previous: str
    next: str


def by_time(
    rows: QuerySet[M], field: str, cursor: str, said: Q | None = None, *, oldest: bool = False
) -> Slice[M]:
    """Newest (or oldest) first by (`field`, id).  A cursor that cannot be read starts at the beginning.

    `said` is a condition that no index answers, such as a piece of text: only `SEARCHED` rows are asked for one page.
    """
    keys = _Keys((field, "id"), _read_time, lambda row: _show_time(row, field), oldest)
    return _slice(rows, cursor, CARDS, keys, said)


@dataclass(frozen=True, slots=True)
class Window:
    """The rows that one page by time may ask: `SEARCHED` of them from a place on, upwards or downwards in time.  For a
    condition that is told of many rows in one statement."""

    place: tuple[datetime, UUID] | None = None
    up: bool = False


def window(cursor: str, *, oldest: bool = False) -> Window:
    """That of the page at a cursor of `by_time`."""
    backwards = cursor.startswith("<")
    try:
        place = _read_time(cursor.removeprefix("<")) if cursor else None
    except ValueError:
        place = None
    return Window(place, backwards != oldest)


def by_id(rows: QuerySet[M], cursor: str, said: Q | None = None) -> Slice[M]:
    """Newest first by id alone (ids are time-ordered), along the primary key; `said` as in `by_time`."""
    keys = _Keys(("id",), lambda text: (UUID(text),), lambda row: row.id.hex)
    return _slice(rows, cursor, PAGE, keys, said)


def by_number(rows: QuerySet[M], field: str, cursor: str) -> Slice[M]:
    """Highest first by (a whole number, id)."""

    def read(text: str) -> tuple[int, UUID]:
        number, _, row = text.partition("~")
        return int(number), UUID(row)

    keys = _Keys((field, "id"), read, lambda row: f"{getattr(row, field)}~{row.id.hex}")
    return _slice(rows, cursor, CARDS, keys)


def tallied(rows: QuerySet[Any]) -> Tally:
    """How many rows, as far as they are counted."""
    return Tally.of(rows.order_by().values("id")[: COUNTED + 1].count())


def counted(rows: QuerySet[Any], said: Q | None) -> Tally | None:
    """How many match; None where a search by `said` does not reach all rows, so that nobody knows."""
    if said is None:
        return tallied(rows)
    reach = rows.order_by().values("id")[: SEARCHED + 1].count()
    return None if reach > SEARCHED else tallied(rows.filter(said))


def tallies(**asked: QuerySet[Any]) -> dict[str, Tally]:
    """How many rows of several, as far as they are counted, by name, in one statement."""
    parts: list[str] = []
    parameters: list[Any] = []
    for rows in asked.values():
        sql, given = rows.order_by().values("id")[: COUNTED + 1].query.sql_with_params()
        parts.append(f"(SELECT count(*) FROM ({sql}) AS counted)")
        parameters += given
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {', '.join(parts)}", parameters)
        return dict(zip(asked, map(Tally.of, cursor.fetchone()), strict=True))


def newest(rows: QuerySet[M], field: str) -> QuerySet[M]:
    """Of the rows only the newest by `field`: what a search looks at where its order is not that of time."""
    edge = rows.order_by(f"-{field}", "-id").values_list(field, flat=True)[SEARCHED : SEARCHED + 1].first()
    return rows if edge is None else rows.filter(**{f"{field}__gt": edge})


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
    rising: bool = False


def _slice(rows: QuerySet[M], cursor: str, size: int, keys: _Keys, said: Q | None = None) -> Slice[M]:
    backwards = cursor.startswith("<")
    place = _place(cursor.removeprefix("<"), keys)
    up = backwards != keys.rising
    ordered = rows.order_by(*(f"{'' if up else '-'}{name}" for name in keys.fields))
    if place is not None:
        ordered = ordered.filter(_beyond(keys.fields, place, "gt" if up else "lt"))
    edge = None if said is None else _edge(ordered, keys)
    if said is not None:
        ordered = ordered.filter(said)
    if edge is not None:
        ordered = ordered.filter(_beyond(keys.fields, keys.read(edge), "lt" if up else "gt", last="e"))
    found = list(ordered[: size + 1])
    more, found = len(found) > size, found[:size]
    last = keys.show(found[-1]) if found and more else edge
    if backwards:
        found.reverse()
    first = cursor.removeprefix("<") if place is not None else ""
    if backwards:
        return Slice(found, f"<{last}" if last else "", keys.show(found[-1]) if found else first)
    return Slice(found, f"<{keys.show(found[0]) if found else first}" if first else "", last or "")


def _edge(ordered: QuerySet[Any], keys: _Keys) -> str | None:
    """The last row that is looked at for one page; None where that is the end of the list."""
    rows = ordered.values_list(*keys.fields, named=True)[SEARCHED - 1 : SEARCHED + 1]
    return keys.show(rows[0]) if len(rows) == 2 else None


def _place(text: str, keys: _Keys) -> tuple[Any, ...] | None:
    try:
        return keys.read(text) if text else None
    except ValueError:
        return None


def _beyond(fields: tuple[str, ...], place: tuple[Any, ...], side: str, last: str = "") -> Q:
    """(a, b) < (x, y) as conditions: the first field carries the index.  `last` "e" takes the place itself in."""
    if len(fields) == 1:
        return Q(**{f"{fields[0]}__{side}{last}": place[0]})
    first, second = fields
    return Q(**{f"{first}__{side}e": place[0]}) & (
        Q(**{f"{first}__{side}": place[0]}) | Q(**{f"{second}__{side}{last}": place[1]})
    )


def _read_time(text: str) -> tuple[datetime, UUID]:
    moment, _, row = text.partition("~")
    at = datetime.fromisoformat(moment)
    if at.tzinfo is None:
        raise ValueError("a cursor carries an aware time")
    return at, UUID(row)


def _show_time(row: Any, field: str) -> str:
    return f"{getattr(row, field).isoformat()}~{row.id.hex}"
