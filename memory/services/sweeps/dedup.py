"""Deduplication: near duplicates that slipped in side by side (bulk imports, promotions, rules that changed) are merged
where they surely say the same, and put before a person where they may.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from memory.domain.ids import show_id
from memory.domain.scopes import parse_scope
from memory.models import Contradiction, Memory, SweepRun
from memory.selectors import removal
from memory.selectors.policies import ActivePolicy, active_policy
from memory.selectors.removal import ScopeCount
from memory.services.changes import Changes
from memory.services.contradictions_moot import contradictions_moot
from memory.services.merging import merge_into
from memory.services.sweeps.alike import Plan, plan
from memory.services.sweeps.guard import hold_back
from memory.services.sweeps.run import Progress, Run, running
from memory.store import audit, bulk, reviews
from tenants.context import tenant_context

REASON: Final = "says the same as another memory of its scope"
_BATCH: Final = 50
Pair = tuple[Memory, Memory]


def sweep_dedup(
    tenant_id: UUID, *, dry_run: bool = False, progress: Progress | None = None, now: datetime | None = None
) -> SweepRun:
    """Merge the same and propose the similar, scope by scope; a scope that would lose too much is left alone."""
    with running(tenant_id, "dedup", dry_run=dry_run, progress=progress, now=now) as run:
        run.record.scanned = 0
        with tenant_context(tenant_id):
            active = active_policy()
            run.record.policy_version = active.number
            scopes = [one.scope for one in removal.live_by_scope(1, run.now)]
        for scope in scopes:
            _sweep_scope(run, scope, active)
        if not dry_run and (moot := contradictions_moot(tenant_id, run.actor, active, run.now)):
            _count(run, "moot", moot)
        with tenant_context(tenant_id):
            run.finish()
    return run.result()


def _sweep_scope(run: Run, scope: str, active: ActivePolicy) -> None:
    policy = active.policy.for_scope(parse_scope(scope))
    if policy.reconciliation.near_duplicates == "keep":
        return
    with tenant_context(run.tenant_id):
        found = plan(scope, policy, active, run.now)
        run.record.scanned = (run.record.scanned or 0) + found.live
        if hold_back(run, [ScopeCount(scope, found.live, len(found.merges))], active.policy):
            found.merges = []
    if run.dry_run:
        run.record.changed += len(found.merges)
        _count(run, "proposed", len(found.proposals))
        return
    _carry_out(run, found, active)


def _carry_out(run: Run, found: Plan, active: ActivePolicy) -> None:
    for start in range(0, len(found.merges), _BATCH):
        with tenant_context(run.tenant_id):
            _merge(run, found.merges[start : start + _BATCH], active)
            bulk.record_run(run.record, "running")
        run.tell()
    for start in range(0, len(found.proposals), _BATCH):
        with tenant_context(run.tenant_id):
            _propose(run, found.proposals[start : start + _BATCH])
            bulk.record_run(run.record, "running")


def _merge(run: Run, pairs: Sequence[Pair], active: ActivePolicy) -> None:
    """One batch with its audit; pairs of which somebody holds or has changed one are left to the next run."""
    held = bulk.lock_free({row.id for pair in pairs for row in pair})
    changes = Changes(run.actor, run.now, active)
    for lost, kept in pairs:
        if _unchanged(held, lost) and _unchanged(held, kept):
            merge_into(changes, held[lost.id], held[kept.id], REASON)
            run.record.changed += 1
        else:
            run.record.skipped += 1
    changes.finish()


def _unchanged(held: dict[UUID, Memory], judged: Memory) -> bool:
    row = held.get(judged.id)
    return row is not None and row.version == judged.version and row.status == judged.status


def _propose(run: Run, pairs: Sequence[Pair]) -> None:
    """Put pairs before a person, in the queue where those of writes wait."""
    found = [
        Contradiction(
            kind="merge", scope=a.scope, subject=a.subject, predicate=a.predicate, memory_a=a.id, memory_b=b.id,
            created_at=run.now,
        )
        for a, b in pairs
    ]  # fmt: skip
    reviews.insert_contradictions(found)
    _count(run, "proposed", len(found))
    events = [
        audit.Event(
            "contradiction.opened", "contradiction", show_id("con", one.id), scope=one.scope,
            after={"kind": "merge", "memories": [show_id("mem", one.memory_a), show_id("mem", one.memory_b)]},
            policy_version=run.record.policy_version,
        )
        for one in found
    ]  # fmt: skip
    audit.append(run.actor, events, run.now)


def _count(run: Run, name: str, more: int) -> None:
    run.record.details[name] = run.record.details.get(name, 0) + more
