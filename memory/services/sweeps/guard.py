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
        f"{_named(one)}{one.removable} of {one.live})" for one in sorted(held, key=lambda one: one.scope)
    )
    run.record.note = f"stopped, nothing removed, a person must decide: {shown}"[:500]
    if not run.dry_run:
        audit.append(run.actor, [_event(run, one) for one in _news(run, held)], run.now)
    return held


def _is_too_much(one: ScopeCount, policy: Policy) -> bool:
    return guarded(one.removable, one.live, policy.for_scope(parse_scope(one.scope)))


def _news(run: Run, held: Sequence[ScopeCount]) -> list[ScopeCount]:
    """Scopes that the last run did not name: an hourly sweep must not fill the audit with one finding."""
    last = SweepRun.objects.filter(name=run.record.name, dry_run=False).order_by("-started_at").first()
    return [one for one in held if last is None or _named(one) not in last.note]


def _named(one: ScopeCount) -> str:
    return f"{one.scope} ("


def _event(run: Run, one: ScopeCount) -> audit.Event:
    return audit.Event(
        "sweep.stopped", "scope", one.scope, scope=one.scope,
        reason="it would have removed too much of the scope; nothing was removed",
        after={"removable": one.removable, "live": one.live}, policy_version=run.record.policy_version,
    )  # fmt: skip
