"""Episodic compression: of a task that ended long ago one structured episode stays in front; its single notes are
archived, kept and linked with it.

An episode that the end of the task wrote is used; a task that had none (abandoned, or all steps written as memories)
gets one through the one write path, with the identity of its agent and the trust of its weakest note.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from memory.domain import lifecycle
from memory.domain.episode import Step, episode_data, episode_text
from memory.domain.ids import show_id
from memory.domain.scopes import Scope, ScopeKind
from memory.domain.types import Kind, Layer
from memory.models import Memory, SweepRun, WorkRun
from memory.selectors import old_tasks, removal
from memory.selectors.policies import ActivePolicy, active_policy
from memory.selectors.removal import ScopeCount
from memory.services.changes import Changes
from memory.services.errors import ServiceError
from memory.services.memory_write import memory_write
from memory.services.sweeps.guard import hold_back
from memory.services.sweeps.run import Progress, Run, running
from memory.services.write_types import WriteRequest
from memory.store import bulk, work
from tenants.context import tenant_context
from tenants.models import Agent
from tenants.principals import Principal

REASON: Final = "stands in the episode of its task"
_BATCH: Final = 100
_LEAST: Final = 2
_LINKED: Final = 100


@dataclass(frozen=True, slots=True)
class _Old:
    """A task that is due, its notes, and the episode that it has."""

    run: WorkRun
    notes: Sequence[Memory]
    episode: UUID | None


def sweep_episodes(
    tenant_id: UUID, *, dry_run: bool = False, progress: Progress | None = None, now: datetime | None = None
) -> SweepRun:
    """Compress tasks that ended before the policy's age, one by one, each in a transaction of its own."""
    with running(tenant_id, "episodes", dry_run=dry_run, progress=progress, now=now) as run:
        run.record.scanned = 0
        with tenant_context(tenant_id):
            active = active_policy()
            run.record.policy_version = active.number
        held = _guarded(run, active)
        after = bulk.START
        while found := _due(run, active, after):
            for old in found:
                if old.notes and not held.isdisjoint(note.scope for note in old.notes):
                    continue
                if run.dry_run:
                    run.record.changed += len(old.notes) if len(old.notes) >= _LEAST else 0
                else:
                    _compress(run, old, active)
                run.tell()
            after = found[-1].run.id
        with tenant_context(tenant_id):
            run.finish()
    return run.result()


def _due(run: Run, active: ActivePolicy, after: UUID) -> list[_Old]:
    end = run.now - timedelta(days=active.policy.retention.episode_days)
    with tenant_context(run.tenant_id):
        rows = old_tasks.ended_before(end, after, _BATCH)
        episodes = {row.id: old_tasks.live_episode(row) for row in rows}
        return [
            _Old(row, old_tasks.notes_of(row, episodes[row.id], run.now), episodes[row.id]) for row in rows
        ]


def _guarded(run: Run, active: ActivePolicy) -> set[str]:
    """Scopes that would lose too much; counted before anything is done."""
    taken: dict[str, int] = {}
    after = bulk.START
    while found := _due(run, active, after):
        for old in found:
            run.record.scanned = (run.record.scanned or 0) + len(old.notes)
            for note in old.notes if len(old.notes) >= _LEAST else ():
                taken[note.scope] = taken.get(note.scope, 0) + 1
        after = found[-1].run.id
    if not taken:
        return set()
    with tenant_context(run.tenant_id):
        counts = [
            ScopeCount(scope, removal.live_in(scope, run.now), count)
            for scope, count in sorted(taken.items())
        ]
        return {one.scope for one in hold_back(run, counts, active.policy)}


def _compress(run: Run, old: _Old, active: ActivePolicy) -> None:
    episode = old.episode
    if len(old.notes) >= _LEAST and episode is None:
        episode = _written(run, old)
        if episode is None:
            run.record.skipped += len(old.notes)
            return
    with tenant_context(run.tenant_id):
        notes = bulk.lock_free([note.id for note in old.notes]) if len(old.notes) >= _LEAST else {}
        changes = Changes(run.actor, run.now, active)
        taken = [notes[note.id] for note in old.notes if _as_seen(notes.get(note.id), note)]
        for note in taken:
            changes.move(note, lifecycle.Event.ARCHIVE, "memory.archived", REASON)
        run.record.changed += len(taken)
        run.record.skipped += (len(old.notes) - len(taken)) if notes else 0
        told = {"episode": show_id("mem", episode) if episode else None, "notes": len(taken)}
        if taken:
            changes.add(
                "task.compressed", "task", f"task:{old.run.name}", scope=f"task:{old.run.name}", after=told
            )
        if len(taken) == len(old.notes) or len(old.notes) < _LEAST:
            work.update_run(old.run, result={**old.run.result, "compressed": told})
        changes.finish()
        bulk.record_run(run.record, "running")


def _as_seen(row: Memory | None, seen: Memory) -> bool:
    return row is not None and row.version == seen.version and row.status == "live"


def _written(run: Run, old: _Old) -> UUID | None:
    """The episode of a task that has none; None where the policy does not admit one."""
    weakest = min(old.notes, key=lambda note: note.trust)
    steps = [
        Step(str(note.metadata.get("step") or f"note {at}"), note.content, note.content, promoted=True)
        for at, note in enumerate(old.notes, 1)
    ]
    ended = (
        "abandoned" if old.run.status == work.ABANDONED else str(old.run.result.get("outcome", "succeeded"))
    )
    with tenant_context(run.tenant_id):
        agent = Agent.objects.filter(id=old.run.agent_id).first()
    if agent is None:
        return None
    writer = Principal(
        tenant_id=run.tenant_id, kind="agent", id=f"agt_{agent.id.hex}", name=agent.name, role=agent.role,
        agent_id=agent.id, trust_ceiling=weakest.trust, request_id=run.actor.request_id,
    )  # fmt: skip
    request = WriteRequest(
        content=episode_text(old.run.name, ended, "", steps), scope=Scope(ScopeKind.AGENT, agent.role),
        layer=Layer.EPISODIC, kind=Kind.EVENT, origin=weakest.origin,
        confidence=max(note.confidence for note in old.notes), importance=max(note.importance for note in old.notes),
        derived_from=[note.id for note in old.notes][:_LINKED], metadata=episode_data(old.run.name, ended, steps),
    )  # fmt: skip
    try:
        outcome = memory_write(writer, request)
    except ServiceError:
        return None
    return outcome.memory.id if outcome.memory is not None and outcome.memory.status == "live" else None
