"""Taking an import of a foreign store back: what nobody has decided on yet goes, the rest is counted and stays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from memgov import clock
from memory.domain import lifecycle
from memory.domain.ids import show_id
from memory.domain.types import OutcomeKind, Status
from memory.importers import ForeignRecord, Part
from memory.importers.numbers import Numbers
from memory.models import Contradiction, Job, Memory, WriteDecision
from memory.selectors.policies import active_policy
from memory.services.changes import Changes
from memory.services.contradictions import settlement_revert, touched_by
from memory.services.contradictions_moot import contradictions_moot
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
from tenants.context import savepoint, tenant_context
from tenants.principals import Principal

Progress = Callable[[int, int], None]
"""Is told how many rows of how many were looked at."""
_BATCH: Final = 200
_WAITING: Final = (Status.CANDIDATE.value, Status.QUARANTINED.value)
_PLACED: Final = (Status.LIVE.value, Status.SUPERSEDED.value)
"""What took a live value's place; a later row of its file may have taken it in turn."""


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

    A row that took a live value's place gives it back first, unless either has changed since: then it stays. Where
    several rows took one place after another, the last one goes first.
    Deleted as any memory (restorable for 30 days), 200 in a transaction; given again it goes on. Rows that went
    this way come in again by another import. Raises `Invalid` for a scope that is none.
    """
    keys = Numbers()
    target = target_of(scope)
    for part in parts:
        for item in part.items:
            if isinstance(item, ForeignRecord):
                keys.setdefault(key_of(item, target or scope_of(item)), 1)
    return _taken(principal, lambda _, key: key_in(key) in keys, TakenBack(dry_run))


def import_run_undo(
    principal: Principal, run: Job, progress: Progress, kept: Callable[[], None]
) -> TakenBack:
    """The same for what one run of an import in the browser brought in, whose file is no longer kept.

    `kept` is told whenever rows went. Found by the decisions that carry the run's id, for as long as these are kept.
    """
    with tenant_context(principal.tenant_id):
        made = WriteDecision.objects.filter(
            at__range=(run.created_at, run.finished_at or clock.now()),
            request_id=show_id("job", run.id),
            outcome=OutcomeKind.HELD.value,
        )
        ids = set(made.values_list("memory_id", flat=True).iterator(chunk_size=10_000))
    return _taken(principal, lambda memory_id, _: memory_id in ids, TakenBack(False), progress, kept)


def _unwatched(_done: int, _total: int) -> None:
    """Nobody asked to be told."""


def _taken(
    principal: Principal,
    wanted: Callable[[UUID, str], bool],
    done: TakenBack,
    progress: Progress = _unwatched,
    kept: Callable[[], None] = lambda: None,
) -> TakenBack:
    waiting, chains = _brought_in(principal, wanted, done)
    looked, total = 0, len(waiting) + sum(map(len, chains))
    for chain in chains:
        for went in _given_back(principal, chain, done):
            if went:
                kept()
            progress(looked, total)
            looked += 1
    for at in range(0, len(waiting), _BATCH):
        progress(looked + at, total)
        ids = waiting[at : at + _BATCH]
        removed = len(ids) if done.dry_run else _remove(principal, ids)
        done.removed += removed
        done.stayed += len(ids) - removed
        if removed:
            kept()
    return done


def _brought_in(
    principal: Principal, wanted: Callable[[UUID, str], bool], done: TakenBack
) -> tuple[list[UUID], list[list[UUID]]]:
    """The rows that wait, and the chains of those that took a place; all others are counted as staying."""
    waiting: list[UUID] = []
    placed: list[UUID] = []
    with tenant_context(principal.tenant_id):
        rows = imported_rows().order_by("id")
        for memory_id, key, status in rows.values_list("id", "input_hash", "status").iterator(
            chunk_size=2_000
        ):
            if wanted(memory_id, key):
                if status in _WAITING:
                    waiting.append(memory_id)
                elif status in _PLACED:
                    placed.append(memory_id)
                else:
                    done.stayed += 1
        chains = _chains(placed)
    done.stayed += len(placed) - sum(map(len, chains))
    return waiting, chains


def _chains(placed: list[UUID]) -> list[list[UUID]]:
    """Those of the rows that took a place by their import, the newest first, each with what it took it from.

    A file can give several values for one fact: each is taken back before the one that it replaced.
    """
    pairs: list[tuple[datetime, UUID, UUID, UUID]] = []
    for at in range(0, len(placed), _BATCH):
        settled = _settled_for(placed[at : at + _BATCH])
        rows = settled.values_list("resolved_at", "id", "memory_a", "memory_b")
        pairs += [(moment, one, old, new) for moment, one, old, new in rows if moment]
    chains: dict[UUID, dict[UUID, None]] = {}
    head_of: dict[UUID, UUID] = {}
    for _, _, old, new in sorted(pairs, reverse=True):
        head = head_of.setdefault(new, new)
        head_of.setdefault(old, head)
        chains.setdefault(head, {})[new] = None
    return [list(chain) for chain in chains.values()]


def _settled_for(ids: list[UUID]) -> QuerySet[Contradiction]:
    """What an import itself settled in favour of these rows."""
    return Contradiction.objects.filter(memory_b__in=ids, status="settled", undo__by=REASON)


def _given_back(principal: Principal, chain: list[UUID], done: TakenBack) -> Iterator[bool]:
    """Take rows that the import itself let live away, one at each step, and let live what they replaced.

    Says of each whether it went.
    """
    again: set[UUID] = set()
    with tenant_context(principal.tenant_id) if done.dry_run else nullcontext():
        for memory_id in chain:
            try:
                with savepoint() if done.dry_run else tenant_context(principal.tenant_id):
                    replaced = _reverted(principal, memory_id)
            except Conflict:
                replaced = set()
            if replaced:
                again = (again | replaced) - {memory_id}
                if not done.dry_run:
                    _settle_moot(principal, [memory_id])
            done.removed += bool(replaced)
            done.stayed += not replaced
            yield bool(replaced)
        if done.dry_run:
            transaction.set_rollback(True)
    done.restored += len(again)


def _reverted(principal: Principal, memory_id: UUID) -> set[UUID]:
    """The values that live again. Raises `Conflict` when one of them, or the row, has changed since."""
    pairs = list(_settled_for([memory_id]).order_by("-resolved_at", "-id"))
    memories.lock({one for pair in pairs for one in touched_by(pair)})
    changes = Changes(principal, clock.now(), active_policy())
    for pair in pairs:
        locked = reviews.lock_contradiction(pair.id)
        assert locked is not None  # contradictions are never deleted
        reverted = locked.undo.get("changes", [])
        settlement_revert(changes, locked, TAKEN_BACK)
        _move_on(reverted)
    if pairs:
        rows = memories.lock([memory_id])
        changes.move(rows[memory_id], lifecycle.Event.DELETE, "memory.deleted", TAKEN_BACK)
    changes.finish()
    return {pair.memory_a for pair in pairs}


def _move_on(reverted: list[dict[str, Any]]) -> None:
    """Let what an import settled before expect the versions that a revert left: each is as it was, under a new number.

    Kept with the settlement, so that the next step, another worker or another import's undo can go on from there.
    """
    was: dict[str, int] = {}
    for entry in reverted:
        was.setdefault(entry["id"], entry["version"] - 1)
    ids = [UUID(one) for one in was]
    now = {
        str(one): version for one, version in Memory.objects.filter(id__in=ids).values_list("id", "version")
    }
    for earlier in _settled_for(ids).select_for_update().order_by("id"):
        changes = [
            {**entry, "version": now[entry["id"]]} if was.get(entry["id"]) == entry["version"] else entry
            for entry in earlier.undo["changes"]
        ]
        reviews.keep_undo(earlier, {**earlier.undo, "changes": changes})


def _remove(principal: Principal, ids: list[UUID]) -> int:
    with tenant_context(principal.tenant_id):
        rows = [row for row in memories.lock(ids).values() if row.status in _WAITING]
        changes = Changes(principal, clock.now(), active_policy())
        for row in rows:
            changes.move(row, lifecycle.Event.DELETE, "memory.deleted", TAKEN_BACK)
        changes.finish()
    _settle_moot(principal, [row.id for row in rows])
    return len(rows)


def _settle_moot(principal: Principal, gone: list[UUID]) -> None:
    """Nobody has to look at a pair of which one side went.  What a lost worker leaves, the dedup sweep settles."""
    with tenant_context(principal.tenant_id):
        active = active_policy()
    contradictions_moot(principal.tenant_id, principal, active, clock.now(), of=gone)
