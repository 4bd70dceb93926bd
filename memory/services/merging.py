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
