"""Poisoning: memories that today's rules would hold are quarantined; what looks like poisoning from outside (one source
in most results, echo loops, sudden bursts, entries outside the reader's scopes) raises an alert.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from memory.domain.ids import show_id
from memory.domain.types import Status
from memory.models import SweepRun
from memory.selectors import poisoning, removal
from memory.selectors.leaks import leaks
from memory.selectors.policies import ActivePolicy, active_policy
from memory.selectors.removal import ScopeCount
from memory.services.sweeps.guard import hold_back
from memory.services.sweeps.rescan import Hit, hits, last_rules, rules_now
from memory.services.sweeps.run import Progress, Run, Step, batch, running
from memory.services.sweeps.watch import tell
from memory.store import bulk
from tenants.context import tenant_context

LEAK_DAYS: Final = timedelta(days=30)


def sweep_poisoning(
    tenant_id: UUID, *, dry_run: bool = False, progress: Progress | None = None, now: datetime | None = None
) -> SweepRun:
    """Read again what the rules have changed for, and look for the marks of an attack."""
    with running(tenant_id, "poisoning", dry_run=dry_run, progress=progress, now=now) as run:
        run.record.scanned = 0
        with tenant_context(tenant_id):
            active = active_policy()
            run.record.policy_version = active.number
            rules = rules_now(active.policy)
            changed = last_rules(run) != rules
        found = list(hits(run, active)) if changed else []
        taken = _not_held(run, found, active)
        if dry_run:
            run.record.changed = len(taken)
        else:
            _hold(run, taken)
        if not run.record.skipped:  # what was held back or passed over has to be read again
            run.record.details["rules"] = rules
        with tenant_context(tenant_id):
            if not dry_run:
                _watch(run, active)
            run.finish()
    return run.result()


def _not_held(run: Run, found: Sequence[Hit], active: ActivePolicy) -> list[Hit]:
    """What may be taken: rules that would empty a scope wait for a person."""
    by_scope: dict[str, list[Hit]] = defaultdict(list)
    for hit in found:
        by_scope[hit.scope].append(hit)
    with tenant_context(run.tenant_id):
        counts = [
            ScopeCount(scope, removal.live_in(scope, run.now), len(rows))
            for scope, rows in sorted(by_scope.items())
        ]
        held = {one.scope for one in hold_back(run, counts, active.policy)}
    return [hit for hit in found if hit.scope not in held]


def _hold(run: Run, found: Sequence[Hit]) -> None:
    """Batches of one reason, each with its audit and what was found."""
    by_reason: dict[str, list[Hit]] = defaultdict(list)
    for hit in found:
        by_reason[hit.reason].append(hit)
    for reason, rows in sorted(by_reason.items()):
        for start in range(0, len(rows), bulk.BATCH):
            chosen = {hit.id: hit for hit in rows[start : start + bulk.BATCH]}
            step = Step(
                bulk.PICK_CHOSEN,
                {"chosen": list(chosen), "versions": [hit.version for hit in chosen.values()]},
                "memory.quarantined", f"today's rules hold it: {reason}", Status.QUARANTINED.value,
            )  # fmt: skip
            with tenant_context(run.tenant_id):
                held = batch(run, step)
                bulk.note_findings({one: chosen[one].findings for one in held})
            run.record.skipped += len(chosen) - len(held)
            run.tell(len(found))


def _watch(run: Run, active: ActivePolicy) -> None:
    share = active.policy.retrieval.max_source_share
    for one in poisoning.source_shares(share, run.now):
        tell(
            run.actor, run.now, "source_share", one.source[:200],
            message=f"{one.source} stands behind {one.entries} of {one.total} memories that searches gave in 7 days.",
            evidence={"source": one.source, "entries": one.entries, "total": one.total, "limit": share},
        )  # fmt: skip
    for echo in poisoning.echo_loops(run.now):
        tell(
            run.actor, run.now, "echo_loop", f"{show_id('agt', echo.agent_id)} {echo.session}"[:200],
            message=f"Agent {echo.agent} wrote back {echo.count} times within a day what its session was shown.",
            evidence={"agent": echo.agent, "session": echo.session, "echoes": echo.count},
        )  # fmt: skip
    for burst in poisoning.bursts(run.now):
        tell(
            run.actor, run.now, "write_burst", show_id("agt", burst.agent_id),
            message=f"Agent {burst.agent} wrote {burst.today} times within a day, usually {burst.usual:.1f}.",
            evidence={"agent": burst.agent, "today": burst.today, "usual": round(burst.usual, 1)},
        )  # fmt: skip
    leaked = leaks(run.now - LEAK_DAYS, run.now)
    if leaked:
        shown = [{"manifest": show_id("man", man), "memory": show_id("mem", mem), "scope": scope}
                 for man, mem, scope in leaked[:20]]  # fmt: skip
        tell(
            run.actor, run.now, "scope_leak", "tenant", severity="critical",
            message=f"{len(leaked)} memories were given to agents that could not read their scope.",
            evidence={"leaks": len(leaked), "first": shown},
        )  # fmt: skip
