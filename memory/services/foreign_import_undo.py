"""Taking an import of a foreign store back: what nobody has decided on yet goes, the rest is counted and stays."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.db import transaction

from memgov import clock
from memory.domain import lifecycle
from memory.domain.ids import show_id
from memory.domain.types import OutcomeKind, Status
from memory.importers import ForeignRecord, Part
from memory.importers.numbers import Numbers
from memory.models import Contradiction, Job, WriteDecision
from memory.selectors.policies import active_policy
from memory.services.changes import Changes
from memory.services.contradictions import settlement_revert, touched_by
from memory.services.errors import Conflict
from memory.services.foreign_import import (
    REASON,
    TAKEN_BACK,
    imported_rows,
    key_in,
    key_of,
    scope_of,
    target_of,
)
from memory.store import memories, reviews
from tenants.context import tenant_context
from tenants.principals import Principal

Progress = Callable[[int, int], None]
"""Is told how many rows of how many were looked at."""
_BATCH: Final = 200
_WAITING: Final = (Status.CANDIDATE.value, Status.QUARANTINED.value)


@dataclass(slots=True)
class TakenBack:
    """How many rows went, how many stay because somebody decided on them, and how many replaced values live again."""

    dry_run: bool
    removed: int = 0
    stayed: int = 0
    restored: int = 0


def foreign_import_undo(
    principal: Principal, parts: Iterable[Part], *, scope: str | None = None, dry_run: bool = False
) -> TakenBack:
    """Take away what an import of the same file, with the same `scope`, brought in and nobody decided on since.

    A row that took a live value's place gives it back first, unless either has changed since: then it stays.
    Deleted as any memory (restorable for 30 days), 200 in a transaction; given again it goes on. Rows that went
    this way come in again by another import. Raises `Invalid` for a scope that is none.
    """
    keys = Numbers()
    target = target_of(scope)
    for part in parts:
        for item in part.items:
            if isinstance(item, ForeignRecord):
                keys.setdefault(key_of(item, target or scope_of(item)), 1)
    return _taken(principal, lambda _, key: key_in(key) in keys, TakenBack(dry_run), lambda done, total: None)


def import_run_undo(principal: Principal, run: Job, progress: Progress) -> TakenBack:
    """The same for what one run of an import in the browser brought in, whose file is no longer kept.

    Found by the decisions that carry the run's id, for as long as these are kept.
    """
    with tenant_context(principal.tenant_id):
        made = WriteDecision.objects.filter(
            at__range=(run.created_at, run.finished_at or clock.now()),
            request_id=show_id("job", run.id),
            outcome=OutcomeKind.HELD.value,
        )
        ids = set(made.values_list("memory_id", flat=True).iterator(chunk_size=10_000))
    return _taken(principal, lambda memory_id, _: memory_id in ids, TakenBack(False), progress)


def _taken(
    principal: Principal, wanted: Callable[[UUID, str], bool], done: TakenBack, progress: Progress
) -> TakenBack:
    waiting, living = _brought_in(principal, wanted, done)
    total = len(living) + len(waiting)
    for at, memory_id in enumerate(living):
        progress(at, total)
        _give_back(principal, memory_id, done)
    for at in range(0, len(waiting), _BATCH):
        progress(len(living) + at, total)
        ids = waiting[at : at + _BATCH]
        removed = len(ids) if done.dry_run else _remove(principal, ids)
        done.removed += removed
        done.stayed += len(ids) - removed
    return done


def _brought_in(
    principal: Principal, wanted: Callable[[UUID, str], bool], done: TakenBack
) -> tuple[list[UUID], list[UUID]]:
    """The rows that wait, and the live ones; all others are counted as staying."""
    waiting: list[UUID] = []
    living: list[UUID] = []
    with tenant_context(principal.tenant_id):
        rows = imported_rows().order_by("id")
        for memory_id, key, status in rows.values_list("id", "input_hash", "status").iterator(
            chunk_size=2_000
        ):
            if wanted(memory_id, key):
                if status in _WAITING:
                    waiting.append(memory_id)
                elif status == Status.LIVE.value:
                    living.append(memory_id)
                else:
                    done.stayed += 1
    return waiting, living


def _give_back(principal: Principal, memory_id: UUID, done: TakenBack) -> None:
    """Take a row that the import itself let live away, and let live what it replaced."""
    try:
        with tenant_context(principal.tenant_id):
            restored = _reverted(principal, memory_id)
            if done.dry_run:
                transaction.set_rollback(True)
    except Conflict:
        restored = 0
    done.restored += restored
    done.removed += bool(restored)
    done.stayed += not restored


def _reverted(principal: Principal, memory_id: UUID) -> int:
    """How many values live again. Raises `Conflict` when one of them, or the row, has changed since."""
    settled = Contradiction.objects.filter(memory_b=memory_id, status="settled", undo__by=REASON)
    pairs = list(settled.order_by("-resolved_at", "-id"))
    memories.lock({one for pair in pairs for one in touched_by(pair)})
    changes = Changes(principal, clock.now(), active_policy())
    for pair in pairs:
        locked = reviews.lock_contradiction(pair.id)
        assert locked is not None  # contradictions are never deleted
        settlement_revert(changes, locked, TAKEN_BACK)
    if pairs:
        rows = memories.lock([memory_id])
        changes.move(rows[memory_id], lifecycle.Event.DELETE, "memory.deleted", TAKEN_BACK)
    changes.finish()
    return len(pairs)


def _remove(principal: Principal, ids: list[UUID]) -> int:
    with tenant_context(principal.tenant_id):
        rows = [row for row in memories.lock(ids).values() if row.status in _WAITING]
        changes = Changes(principal, clock.now(), active_policy())
        for row in rows:
            changes.move(row, lifecycle.Event.DELETE, "memory.deleted", TAKEN_BACK)
        changes.finish()
    return len(rows)
