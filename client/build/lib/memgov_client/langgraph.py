"""LangGraph's store on memgov: `put` passes the policy, `search` is memgov's retrieval, both leave their trace.

    from memgov_client import Client
    from memgov_client.langgraph import MemgovStore

    store = MemgovStore(Client(), scope="agent:support", origin="tool_output")
    graph = builder.compile(store=store)

All namespaces lie in one scope of memgov. What a held write means here: `put` returns as always and says so in the
log (or to ``on_outcome``); `get` and `search` do not find the item until a person has released it, and find the
value before it if there was one. A refused write raises `RefusedError`. A secret comes back blanked out.

A TTL is in minutes. Refreshing on reads follows LangGraph's rules, but at most once in a tenth of the TTL, because
each is a new version of the memory.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any, Final

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    get_text_at_path,
    tokenize_path,
)

from memgov_client.calls import memories, reading
from memgov_client.clients import AsyncClient, Client
from memgov_client.documents import MAX_TEXT, Origin, Shelf, on_refusal_raise, same_words
from memgov_client.errors import ConflictError, NotFoundError, RefusedError, VersionConflictError
from memgov_client.matching import matches, namespaces
from memgov_client.models import Memory, Outcome, Retrieval
from memgov_client.plans import Plan

SEPARATOR: Final = "\x1f"
WIDE: Final = 1_000_000


class MemgovStore(BaseStore):
    """A `BaseStore` over one scope.  Give an ``async_client`` for `abatch`; without it that works in a thread.

    ``index`` names the fields of values that are searched (and that people read), the whole value when not given.
    ``on_outcome`` is called with the `Outcome` of each put, instead of raising what was refused.
    """

    supports_ttl = True
    __slots__ = ("_async_client", "_client", "_index", "_on_outcome", "_shelf", "ttl_config")

    def __init__(
        self,
        client: Client,
        async_client: AsyncClient | None = None,
        *,
        scope: str,
        origin: str,
        session: str | None = None,
        index: Sequence[str] = ("$",),
        ttl: TTLConfig | None = None,
        on_outcome: Callable[[Outcome], None] = on_refusal_raise,
    ) -> None:
        self._client, self._async_client = client, async_client
        self._shelf = Shelf("item", Origin(scope, origin, session, tool="langgraph"))
        self._index, self._on_outcome = list(index), on_outcome
        self.ttl_config = ttl

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out operations; reads see what was there before the batch, and the last put of a key counts."""
        return self._client.follow(self._plan(list(ops)))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """The same, awaited."""
        if self._async_client is None:
            return await asyncio.to_thread(self.batch, ops)
        return await self._async_client.follow(self._plan(list(ops)))

    def _plan(self, ops: list[Op]) -> Plan[list[Result]]:
        wide = any(isinstance(op, SearchOp | ListNamespacesOp) for op in ops)
        rows = (yield from self._shelf.all()) if wide else None
        results: list[Result] = []
        puts: dict[tuple[tuple[str, ...], str], PutOp] = {}
        for op in ops:
            _check(op)
            found: Result = None
            if isinstance(op, GetOp):
                found = yield from self._get(op, rows)
            elif isinstance(op, SearchOp):
                found = yield from self._search(op, rows or [])
            elif isinstance(op, ListNamespacesOp):
                found = namespaces(op, [self._namespace(row) for row in rows or []])
            elif isinstance(op, PutOp):
                puts[op.namespace, op.key] = op
            else:
                raise ValueError(f"Unknown operation type: {type(op)}")
            results.append(found)
        yield from self._put_all(list(puts.values()))
        return results

    def _get(self, op: GetOp, rows: list[Memory] | None) -> Plan[Item | None]:
        address = _address(op.namespace, op.key)
        if rows is None:
            memory = yield from self._shelf.find(address)
        else:
            memory = next((row for row in rows if self._shelf.kept(row)["address"] == address), None)
        if memory is None:
            return None
        if op.refresh_ttl:
            yield from self._refresh(memory)
        return Item(**self._item(memory))

    def _search(self, op: SearchOp, rows: list[Memory]) -> Plan[list[SearchItem]]:
        depth = len(op.namespace_prefix)
        found = [
            row
            for row in rows
            if self._namespace(row)[:depth] == op.namespace_prefix and matches(self._value(row), op.filter)
        ]
        scores: dict[str, float] = {}
        if op.query and found:
            answer: Retrieval = yield reading.retrieve(
                op.query, scopes=[self._shelf.place.scope], session=self._shelf.place.session, limit=1000,
                max_tokens=WIDE,
            )  # fmt: skip
            scores = {entry.id: entry.score for entry in answer.entries}
            found = sorted(
                (row for row in found if row.id in scores), key=lambda row: scores[row.id or ""], reverse=True
            )
        shown = found[op.offset : op.offset + op.limit]
        if op.refresh_ttl:
            for row in shown:
                yield from self._refresh(row)
        return [SearchItem(**self._item(row), score=scores.get(row.id or "")) for row in shown]

    def _put_all(self, ops: list[PutOp]) -> Plan[None]:
        outcomes: list[Outcome] = []
        for op in ops:
            if op.value is None:
                yield from self._drop(op)
            else:
                outcome: Outcome = yield from self._write(op, op.value)
                outcomes.append(outcome)
        for outcome in outcomes:
            self._on_outcome(outcome)

    def _write(self, op: PutOp, value: Mapping[str, Any]) -> Plan[Outcome]:
        text = self._text(op, value)
        kept = {"namespace": list(op.namespace), "key": op.key, "value": dict(value), "ttl": op.ttl}
        ttl = None if op.ttl is None else timedelta(minutes=op.ttl)
        return self._shelf.put(_address(op.namespace, op.key), text, kept, ttl=ttl)

    def _drop(self, op: PutOp) -> Plan[None]:
        memory = yield from self._shelf.find(_address(op.namespace, op.key))
        if memory is not None:
            yield from self._shelf.remove(memory, f"the graph deleted {op.key}")

    def _refresh(self, memory: Memory) -> Plan[None]:
        """Start the TTL anew, if a tenth of it is over; who changed the item meanwhile has done so already."""
        minutes = self._shelf.kept(memory).get("ttl")
        if not isinstance(minutes, int | float) or memory.expires_at is None:
            return
        span, now = timedelta(minutes=minutes), datetime.now(timezone.utc)
        if memory.expires_at - now > span * 0.9:
            return
        try:
            yield memories.edit(memory.id or "", version=memory.version, expires_at=now + span)
        except (ConflictError, NotFoundError, RefusedError, VersionConflictError):
            return

    def _text(self, op: PutOp, value: Mapping[str, Any]) -> str:
        """What is searched, and what a person reads."""
        if op.index is False:
            return f"The item {op.key} of {'/'.join(op.namespace)} is kept without a text."
        parts = [part for field in op.index or self._index for part in _texts(value, field) if part.strip()]
        text = (
            "\n".join(dict.fromkeys(parts)) or f"The item {op.key} of {'/'.join(op.namespace)} has no text."
        )
        return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"

    def _namespace(self, memory: Memory) -> tuple[str, ...]:
        return tuple(str(part) for part in self._shelf.kept(memory).get("namespace", ()))

    def _value(self, memory: Memory) -> dict[str, Any]:
        """The value as it was put; where it is one text, and a person has changed that, with theirs."""
        value = dict(self._shelf.kept(memory).get("value", {}))
        (name, text), *more = [*value.items(), ("", None)]
        changed = isinstance(text, str) and len(more) == 1 and not same_words(text, memory.content or "")
        return {name: memory.content} if changed and len(str(text)) <= MAX_TEXT else value

    def _item(self, memory: Memory) -> dict[str, Any]:
        return {
            "namespace": self._namespace(memory),
            "key": str(self._shelf.kept(memory)["key"]),
            "value": self._value(memory),
            "created_at": memory.recorded_at,
            "updated_at": memory.learned_at or memory.recorded_at,
        }


def _address(namespace: tuple[str, ...], key: str) -> str:
    return SEPARATOR.join((*namespace, str(key)))


def _check(op: Any) -> None:
    """Labels that this store could not tell apart are refused, as LangGraph's own stores do."""
    labels: Iterable[Any] = ()
    if isinstance(op, GetOp | PutOp):
        labels = (*op.namespace, op.key)
    elif isinstance(op, SearchOp):
        labels = op.namespace_prefix
    for label in labels:
        if not isinstance(label, str) or not label or SEPARATOR in label:
            raise ValueError(f"{label!r} cannot be a label of a namespace or a key")


def _texts(value: Mapping[str, Any], field: str) -> list[str]:
    """The texts at a path of a value; the whole value as lines, or as its only text."""
    if field == "$":
        if len(value) == 1:
            return [str(one) for one in value.values() if not isinstance(one, Mapping | list)] or _lines(
                value
            )
        return ["\n".join(_lines(value))]
    return list(get_text_at_path(value, tokenize_path(field)))


def _lines(value: Any, name: str = "") -> list[str]:
    if isinstance(value, Mapping):
        return [
            line
            for key, inner in value.items()
            for line in _lines(inner, f"{name}.{key}" if name else str(key))
        ]
    if isinstance(value, list):
        return [line for inner in value for line in _lines(inner, name)]
    return [f"{name}: {value}"]
