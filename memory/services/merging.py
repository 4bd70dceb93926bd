"""One memory takes another in: the sessions that learned the other count for the one that stays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from memory.domain import lifecycle
from memory.models import Memory
from memory.services.changes import Changes
from memory.store import memories

_COUNTED = ("also_learned_in", "reproductions")


def merge_into(changes: Changes, lost: Memory, into: Memory, reason: str) -> None:
    """Merge a locked memory into another locked one; what its undo needs goes into `changes`."""
    changes.move(lost, lifecycle.Event.MERGE, "memory.merged", reason, merged_into=into.id)
    changes.counts.append({"id": str(into.id), **{name: getattr(into, name) for name in _COUNTED}})
    others = {*into.also_learned_in, *lost.also_learned_in, *filter(None, [lost.session])}
    sessions = sorted(others - {into.session})
    memories.count(into, also_learned_in=sessions, reproductions=len(sessions))


def recount(counts: Sequence[Mapping[str, Any]]) -> None:
    """Give the counters back what they were before the merges."""
    rows = memories.lock({UUID(entry["id"]) for entry in counts})
    for entry in reversed(counts):
        memories.count(rows[UUID(entry["id"])], **{name: entry[name] for name in _COUNTED})


def unmerge(merged: Mapping[UUID, UUID]) -> None:
    """After memories stood up again (by id, the one that had taken each in): the others give back the sessions that
    counted for them only because of these."""
    if not merged:
        return
    lost = {row.id: row for row in Memory.objects.filter(id__in=list(merged))}
    rows = memories.lock(set(merged.values()))
    for into in rows.values():
        gone = {name for one, other in merged.items() if other == into.id for name in _sessions(lost[one])}
        stays = {
            name
            for row in Memory.objects.filter(merged_into=into.id, status="merged")
            for name in _sessions(row)
        }
        sessions = [name for name in into.also_learned_in if name not in gone or name in stays]
        memories.count(into, also_learned_in=sessions, reproductions=len(sessions))


def _sessions(row: Memory) -> list[str]:
    return [name for name in (row.session, *row.also_learned_in) if name]
