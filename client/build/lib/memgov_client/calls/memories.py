"""Looking at memories, changing, confirming and deleting them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from typing_extensions import TypedDict, Unpack

from memgov_client.call import Call, as_params, given, path, plain
from memgov_client.calls import reading_answers as read
from memgov_client.calls.writing import Narrowed
from memgov_client.models import Derived, Memory, Page, RestoreLook, Revision


class MemoryFilters(TypedDict, total=False):
    """Filters of the list; several of one kind mean any of them."""

    scope: str | Sequence[str] | None
    status: str | Sequence[str] | None
    kind: str | Sequence[str] | None
    layer: str | Sequence[str] | None
    origin: str | Sequence[str] | None
    subject: str | None
    predicate: str | None
    agent: str | None
    session: str | None
    task: str | None
    tool: str | None
    band: str | None
    pinned: bool | None
    q: str | None
    updated_after: datetime | str | None
    recorded_after: datetime | str | None
    recorded_before: datetime | str | None
    fields: Sequence[str] | None


class Changes(TypedDict, total=False):
    """What an edit may change; only what is named changes.  None clears a time and is an error elsewhere."""

    content: str
    value: str | float | bool
    kind: str
    layer: str
    confidence: float
    importance: float
    applies_to: Narrowed
    ttl: int | str | timedelta | None
    expires_at: datetime | str | None
    valid_from: datetime | str | None
    valid_to: datetime | str | None
    review_by: datetime | str | None
    metadata: Mapping[str, Any]


def memories_page(
    *, cursor: str | None = None, page_size: int | None = None, **filters: Unpack[MemoryFilters]
) -> Call[Page[Memory]]:
    """One page of memories, newest first.  Without ``status`` only what a retrieval could return now."""
    return Call(
        "list_memories", "GET", "memories", read.page(Memory),
        params=as_params({**filters, "cursor": cursor, "page_size": page_size}), repeatable=True,
    )  # fmt: skip


def memory(memory_id: str) -> Call[Memory]:
    """One memory.  NotFoundError when it is not there, or not for this key."""
    return Call("get_memory", "GET", path("memories", memory_id), read.one(Memory), repeatable=True,
                attributes={"gen_ai.memory.record.id": memory_id})  # fmt: skip


def revisions_page(
    memory_id: str, *, cursor: str | None = None, page_size: int | None = None
) -> Call[Page[Revision]]:
    """One page of a memory's versions, newest first."""
    return Call(
        "get_memory", "GET", path("memories", memory_id) + "/revisions", read.page(Revision),
        params=as_params({"cursor": cursor, "page_size": page_size}), repeatable=True,
    )  # fmt: skip


def edit(memory_id: str, *, version: int, **changes: Unpack[Changes]) -> Call[Memory]:
    """Change what is named, if the memory still has this version (else VersionConflictError).

    Not sent again after an answer was lost: the change may have been made, and then the version is no longer that one.
    """
    body = {name: plain(value) for name, value in changes.items()}
    return Call(
        "update_memory", "PATCH", path("memories", memory_id), read.one(Memory), body=body,
        headers=_if_match(version), attributes={"gen_ai.memory.record.id": memory_id},
    )  # fmt: skip


def verify(
    memory_id: str, reason: str = "", *, version: int | None = None, idempotency_key: str | None = None
) -> Call[Memory]:
    """Say that it is still true: the one act, beside learning it again, that makes it fresh."""
    body = {"reason": reason, **({} if version is None else {"version": version})}
    return Call(
        "update_memory", "POST", path("memories", memory_id) + "/verify", read.one(Memory), body=body,
        keyed=True, idempotency_key=idempotency_key, attributes={"gen_ai.memory.record.id": memory_id},
    )  # fmt: skip


def delete(
    memory_id: str, reason: str, *, cascade: bool = False, version: int | None = None
) -> Call[list[str]]:
    """Take a memory away from every reader; a person can restore it for 30 days.  The ids that are gone.

    ``cascade`` takes along what was derived from it.
    """
    return Call(
        "delete_memory", "DELETE", path("memories", memory_id), read.deleted,
        params=as_params({"reason": reason, "cascade": cascade or None}),
        headers={} if version is None else _if_match(version),
        attributes={"gen_ai.memory.record.id": memory_id},
    )  # fmt: skip


def derived(memory_id: str) -> Call[Derived]:
    """What a deletion with ``cascade`` would take along."""
    return Call(
        "list_memories", "GET", path("memories", memory_id) + "/derived", read.one(Derived), repeatable=True,
        attributes={"gen_ai.memory.record.id": memory_id},
    )  # fmt: skip


def restore_look(memory_id: str) -> Call[RestoreLook]:
    """What restoring a memory would meet."""
    return Call(
        "get_memory", "GET", path("memories", memory_id) + "/restore", read.one(RestoreLook), repeatable=True,
        attributes={"gen_ai.memory.record.id": memory_id},
    )  # fmt: skip


def restore(
    memory_id: str,
    reason: str = "",
    *,
    version: int | None = None,
    expires_at: datetime | str | None = None,
    on_clash: str | None = None,
    seen: Sequence[Mapping[str, Any]] | None = None,
    idempotency_key: str | None = None,
) -> Call[Memory]:
    """Bring a memory back.  ConflictError (`place_taken`) where something lives in its place.

    ``on_clash`` (`replace`, `contest`) says what is to become of that, with ``seen``: `{"memory": …, "version": …}` of
    each, as `restore_look` names them.
    """
    body = given(
        {"reason": reason, "version": version, "expires_at": expires_at, "on_clash": on_clash, "seen": seen}
    )
    return Call(
        "update_memory", "POST", path("memories", memory_id) + "/restore", read.one(Memory), body=body, keyed=True,
        idempotency_key=idempotency_key, attributes={"gen_ai.memory.record.id": memory_id},
    )  # fmt: skip


def _if_match(version: int) -> dict[str, str]:
    return {"If-Match": f'"{version}"'}
