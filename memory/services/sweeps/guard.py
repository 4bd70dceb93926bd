"""The guard of removing sweeps: a scope that would lose too much is left alone, and a person is told.

The person may let the run go ahead (`memory.services.sweep_runs`): then the next run under the same policy takes from
that scope at most what the stopped run had named.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final

from memory.domain.decay import guarded
from memory.domain.policy import Policy
from memory.domain.scopes import parse_scope
from memory.models import SweepRun
from memory.selectors.removal import ScopeCount
from memory.services.alerts_raise import Notice, stands
from memory.services.alerts_watch import SWEEP_STOPPED
from memory.services.sweeps.run import STOPPED, Run
from memory.store import audit, bulk

APPROVED_FOR: Final = timedelta(hours=24)
"""How long a person's word holds for the run that follows it."""


def hold_back(run: Run, found: Sequence[ScopeCount], policy: Policy) -> list[ScopeCount]:
    """The scopes that must be left alone.  Sets the run's status, note and details, audits and alerts what is new.

    May be called scope by scope.
    """
    held = [one for one in found if one.removable and _is_too_much(one, policy)]
    if not held:
        return []
    allowed = _approved(run)
    held = [one for one in held if one.removable > allowed.get(one.scope, 0)]
    if not held:
        return []
    run.status = STOPPED
    run.record.skipped += sum(one.removable for one in held)
    kept = run.record.details.setdefault("held", {})
    kept.update({one.scope: {"removable": one.removable, "live": one.live} for one in held})
    shown = ", ".join(
        f"{scope} ({said['removable']} of {said['live']})" for scope, said in sorted(kept.items())
    )
    run.record.note = f"stopped, nothing removed, a person must decide: {shown}"[:500]
    if not run.dry_run:
        audit.append(run.actor, [_event(run, one) for one in _news(run, held)], run.now)
        _alert(run)
    return held


def _is_too_much(one: ScopeCount, policy: Policy) -> bool:
    return guarded(one.removable, one.live, policy.for_scope(parse_scope(one.scope)))


def _last(run: Run) -> SweepRun | None:
    rows = SweepRun.objects.filter(name=run.record.name, dry_run=False).exclude(id=run.record.id)
    last: SweepRun | None = rows.order_by("-started_at").first()
    return last


def _news(run: Run, held: Sequence[ScopeCount]) -> list[ScopeCount]:
    """Scopes that the last run did not name: an hourly sweep must not fill the audit with one finding."""
    last = _last(run)
    known = last.details.get("held", {}) if last else {}
    return [one for one in held if one.scope not in known]


def _approved(run: Run) -> Mapping[str, int]:
    """By scope, how much a person has let go, and notes that this run makes use of it.

    Used once: by one run, or by the next if that one died on the way.
    """
    rows = SweepRun.objects.filter(
        name=run.record.name, dry_run=False, details__has_key="approved", started_at__lte=run.now,
        policy_version=run.record.policy_version or 0,
    )  # fmt: skip
    asked = rows.order_by("-started_at").first()
    if asked is None or run.dry_run:
        return {}
    approved, user = asked.details["approved"], asked.details.get("applied_by")
    if run.now.timestamp() - float(approved["at"]) > APPROVED_FOR.total_seconds():
        return {}
    mine = run.record.id.hex
    if user not in (None, mine) and not SweepRun.objects.filter(id=user, status="running").exists():
        return {}
    bulk.note_details(asked.id, {**asked.details, "applied_by": mine})
    run.record.details["approved_run"] = asked.id.hex
    return {scope: int(count) for scope, count in approved["scopes"].items()}


def _event(run: Run, one: ScopeCount) -> audit.Event:
    return audit.Event(
        "sweep.stopped", "scope", one.scope, scope=one.scope,
        reason="it would have removed too much of the scope; nothing was removed",
        after={"removable": one.removable, "live": one.live, "run": run.actor.request_id},
        policy_version=run.record.policy_version,
    )  # fmt: skip


def _alert(run: Run) -> None:
    """One alert for the sweep; the watch (`memory.services.alerts_watch`) ends it when a run has gone well."""
    name, note = run.record.name, run.record.note
    evidence = {"sweep": name, "run": run.actor.request_id, "note": note[:300]}
    message = f"The sweep {name} stopped before it removed too much, and waits for a person: {note}"
    stands(Notice(SWEEP_STOPPED, name, "warning", message, evidence=evidence), run.now)
