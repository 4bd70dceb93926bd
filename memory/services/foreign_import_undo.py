"""Taking an import of a foreign store back: what nobody has decided on yet goes, the rest is counted and stays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from memgov import clock
from memory.domain import lifecycle
from memory.domain.types import Status
from memory.importers import ForeignRecord, Part
from memory.importers.numbers import Numbers
from memory.selectors.policies import active_policy
from memory.services.changes import Changes
from memory.services.foreign_import import TAKEN_BACK, imported_rows, key_in, key_of, scope_of, target_of
from memory.store import memories
from tenants.context import tenant_context
from tenants.principals import Principal

_BATCH: Final = 200
_WAITING: Final = (Status.CANDIDATE.value, Status.QUARANTINED.value)


@dataclass(slots=True)
class TakenBack:
    """How many rows went, and how many stay because somebody decided on them."""

    dry_run: bool
    removed: int = 0
    stayed: int = 0


def foreign_import_undo(
    principal: Principal, parts: Iterable[Part], *, scope: str | None = None, dry_run: bool = False
) -> TakenBack:
    """Take away what an import of the same file, with the same `scope`, brought in and nobody decided on.

    Deleted as any memory (restorable for 30 days), 200 in a transaction; given again it goes on. Rows that went
    this way come in again by another import. Raises `Invalid` for a scope that is none.
    """
    keys = Numbers()
    target = target_of(scope)
    for part in parts:
        for item in part.items:
            if isinstance(item, ForeignRecord):
                keys.setdefault(key_of(item, target or scope_of(item)), 1)
    done = TakenBack(dry_run)
    waiting = list(_waiting(principal, keys, done))
    for at in range(0, len(waiting), _BATCH):
        ids = waiting[at : at + _BATCH]
        done.removed += len(ids) if dry_run else _remove(principal, ids)
    done.stayed += 0 if dry_run else len(waiting) - done.removed
    return done


def _waiting(principal: Principal, keys: Numbers, done: TakenBack) -> Iterator[UUID]:
    with tenant_context(principal.tenant_id):
        rows = imported_rows().order_by("id")
        for memory_id, key, status in rows.values_list("id", "input_hash", "status").iterator(
            chunk_size=2_000
        ):
            if key_in(key) in keys:
                if status in _WAITING:
                    yield memory_id
                else:
                    done.stayed += 1


def _remove(principal: Principal, ids: list[UUID]) -> int:
    with tenant_context(principal.tenant_id):
        rows = [row for row in memories.lock(ids).values() if row.status in _WAITING]
        changes = Changes(principal, clock.now(), active_policy())
        for row in rows:
            changes.move(row, lifecycle.Event.DELETE, "memory.deleted", TAKEN_BACK)
        changes.finish()
    return len(rows)
