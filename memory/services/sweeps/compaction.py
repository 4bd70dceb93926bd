"""Compaction: scopes over their cap give up their weakest memories, which are archived.

The write pipeline keeps scopes within the cap one by one; this is for caps that were lowered and rows that came
in bulk.  A scope is held while it is compacted, so that two runs do not each take the whole surplus.
"""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from memory.domain.policy import Policy
from memory.domain.scopes import parse_scope
from memory.domain.types import Status
from memory.models import SweepRun
from memory.selectors import removal
from memory.selectors.policies import active_policy
from memory.selectors.removal import ScopeCount
from memory.selectors.scope_rules import policies_by_key
from memory.services.sweeps.guard import hold_back
from memory.services.sweeps.run import Progress, Run, Step, batch, running
from memory.store import bulk
from tenants.context import tenant_context


def sweep_compaction(
    tenant_id: UUID, *, dry_run: bool = False, progress: Progress | None = None, now: datetime | None = None
) -> SweepRun:
    """Archive the surplus of every scope: lowest confidence first, then longest unconfirmed, never pinned."""
    with running(tenant_id, "compaction", dry_run=dry_run, progress=progress, now=now) as run:
        with tenant_context(tenant_id):
            active = active_policy()
            run.record.policy_version = active.number
            found = _over_cap(active.policy, run.now)
            run.record.scanned = sum(one.live for one in found)
            held = {one.scope for one in hold_back(run, found, active.policy)}
            todo = [one for one in found if one.scope not in held]
            if dry_run:
                run.record.changed = sum(one.removable for one in todo)
        for one in [] if dry_run else todo:
            while _compact(run, one.scope, active.policy):
                run.tell(sum(other.removable for other in todo))
        with tenant_context(tenant_id):
            run.finish()
    return run.result()


def _over_cap(policy: Policy, now: datetime) -> list[ScopeCount]:
    """Scopes over their cap, with the surplus that may be taken."""
    caps = [one.reconciliation.cap for one in policies_by_key(policy).values() if one.reconciliation.cap]
    if not caps:
        return []
    found = []
    for one in removal.live_by_scope(min(caps), now):
        cap = policy.for_scope(parse_scope(one.scope)).reconciliation.cap
        if cap and one.live > cap:
            found.append(ScopeCount(one.scope, one.live, min(one.live - cap, one.removable)))
    return found


def _compact(run: Run, scope: str, policy: Policy) -> bool:
    """One batch of one scope, counted anew under its lock; whether there may be more."""
    with tenant_context(run.tenant_id):
        cap = policy.for_scope(parse_scope(scope)).reconciliation.cap
        if not cap or not bulk.lock_scope(scope):
            return False
        limit = min(removal.live_in(scope, run.now) - cap, bulk.BATCH)
        if limit <= 0:
            return False
        step = Step(
            removal.PICK_WEAKEST, {"scope": scope}, "memory.archived", "the scope is over its cap",
            Status.ARCHIVED.value,
        )  # fmt: skip
        return len(batch(run, step, limit=limit, last=True)) == bulk.BATCH
