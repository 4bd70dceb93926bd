"""The guard of removing sweeps: a scope that would lose too much is left alone, and a person is told."""

from __future__ import annotations

from collections.abc import Sequence

from memory.domain.decay import guarded
from memory.domain.policy import Policy
from memory.domain.scopes import parse_scope
from memory.models import SweepRun
from memory.selectors.removal import ScopeCount
from memory.services.sweeps.run import STOPPED, Run
from memory.store import audit


def hold_back(run: Run, found: Sequence[ScopeCount], policy: Policy) -> list[ScopeCount]:
    """The scopes that must be left alone.  Sets the run's status and note, and audits what is new about it."""
    held = [one for one in found if one.removable and _is_too_much(one, policy)]
    if not held:
        return []
    run.status = STOPPED
    run.record.skipped += sum(one.removable for one in held)
    shown = ", ".join(
        f"{one.scope} ({one.removable} of {one.live})" for one in sorted(held, key=lambda one: one.scope)
    )
    run.record.note = f"stopped, nothing removed, a person must decide: {shown}"[:500]
    if not run.dry_run and _is_news(run):
        audit.append(run.actor, [_event(run, one) for one in held], run.now)
    return held


def _is_too_much(one: ScopeCount, policy: Policy) -> bool:
    return guarded(one.removable, one.live, policy.for_scope(parse_scope(one.scope)))


def _is_news(run: Run) -> bool:
    """Whether the last run said something else: an hourly sweep must not fill the audit with one finding."""
    last = SweepRun.objects.filter(name=run.record.name, dry_run=False).order_by("-started_at").first()
    return last is None or last.note != run.record.note


def _event(run: Run, one: ScopeCount) -> audit.Event:
    return audit.Event(
        "sweep.stopped", "scope", one.scope, scope=one.scope,
        reason="it would have removed too much of the scope; nothing was removed",
        after={"removable": one.removable, "live": one.live}, policy_version=run.record.policy_version,
    )  # fmt: skip
