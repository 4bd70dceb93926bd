"""Alerts: a burst of junk from one agent raises one here, and people acknowledge or snooze them.

States that go on (metrics, sweeps, processes) are watched by `alerts_watch`; what is told to whom is in
`alert_settings` and `alert_delivery`.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from memgov import clock
from memgov.ids import new_id
from memory.domain.ids import show_id
from memory.models import Alert, WriteDecision
from memory.selectors.policies import ActivePolicy
from memory.services.access import REVIEWERS, denials_audited, require_role
from memory.services.errors import Conflict, Invalid, NotFound
from memory.store import alerts, audit
from tenants.context import tenant_context
from tenants.models import Agent
from tenants.principals import Principal, system

JUNK_BURST: Final = "junk_burst"
# What goes on until it is over; all else has happened, and ends with being acknowledged.
STANDING: Final = frozenset(
    {"metric", "sweep_failed", "sweep_stopped", "sweep_late", "chain_broken", "process_silent"}
)
SNOOZES: Final = (1, 8, 24, 24 * 7)
"""Hours that an alert can be snoozed for."""
_JUNK: Final = ("rejected", "held")


def junk_watched(principal: Principal, active: ActivePolicy, now: datetime, scope: str) -> Alert | None:
    """Look whether the agent's refused and held writes come in a burst; the alert if this opened one.

    Call after the decision was stored, in its transaction.  One query, and only at refused writes.  Where policy
    says so the agent is paused: its keys open nothing until a person resumes it.
    """
    if principal.agent_id is None:
        return None
    rules = active.policy.rate_limits
    since = now - timedelta(seconds=rules.junk_burst_seconds)
    junk = WriteDecision.objects.filter(agent_id=principal.agent_id, at__gte=since, outcome__in=_JUNK)
    latest = list(junk.order_by("-at").values_list("reason", flat=True)[: rules.junk_burst_count])
    if len(latest) < rules.junk_burst_count:
        return None
    reasons = {reason: latest.count(reason) for reason in sorted(set(latest))}
    alert = Alert(
        id=new_id(now), kind=JUNK_BURST, severity="warning", scope=scope, target=show_id("agt", principal.agent_id),
        message=f"Agent {principal.name} wrote {len(latest)} refused or held texts in {rules.junk_burst_seconds} s.",
        evidence={"agent": principal.name, "reasons": reasons, "key": str(principal.key_id or "")},
        opened_at=now, last_at=now,
    )  # fmt: skip
    if not alerts.raise_alert(alert, now):
        return None
    _told(principal, alert, now, pause=rules.junk_burst_pauses_key)
    return alert


def _told(principal: Principal, alert: Alert, now: datetime, *, pause: bool) -> None:
    actor = system(principal.tenant_id, "watch.junk_burst", principal.request_id)
    about = {"kind": alert.kind, "agent": principal.name, **alert.evidence["reasons"]}
    events = [audit.Event("alert.opened", "alert", show_id("alr", alert.id), scope=alert.scope, after=about)]
    if pause and Agent.objects.filter(id=principal.agent_id, paused_at=None).update(paused_at=now):
        events.append(audit.Event("agent.paused", "agent", alert.target, reason="burst of refused writes"))
    audit.append(actor, events, now)


@denials_audited
def alert_acknowledge(actor: Principal, alert_id: UUID, note: str = "") -> Alert:
    """Say that a person has seen it.  The next burst opens a new one; a state that goes on stands until it is over.

    Raises `NotFound`, `Conflict`.
    """
    require_role(actor, REVIEWERS, "acknowledge alerts")
    now = clock.now()
    with tenant_context(actor.tenant_id):
        alert = alerts.lock(alert_id)
        if alert is None:
            raise NotFound("there is no such alert")
        if alert.acknowledged_at is not None:
            raise Conflict("it is acknowledged already; nothing was changed", code="already_decided")
        over = alert.ended_at if alert.kind in STANDING else alert.ended_at or now
        alerts.update(alert, acknowledged_at=now, acknowledged_by=actor.name, note=note[:500], ended_at=over)
        event = audit.Event(
            "alert.acknowledged", "alert", show_id("alr", alert.id), scope=alert.scope, reason=note
        )
        audit.append(actor, [event], now)
    return alert


@denials_audited
def alert_snooze(actor: Principal, alert_id: UUID, hours: int) -> Alert:
    """Set it aside for some hours, during which nothing is told of it; 0 takes it back.

    Raises `Invalid`, `NotFound`, `Conflict`.
    """
    require_role(actor, REVIEWERS, "snooze alerts")
    if hours not in (0, *SNOOZES):
        raise Invalid("choose for how long", field="hours")
    now = clock.now()
    with tenant_context(actor.tenant_id):
        alert = alerts.lock(alert_id)
        if alert is None:
            raise NotFound("there is no such alert")
        if alert.acknowledged_at is not None:
            raise Conflict("it is acknowledged already; nothing was changed", code="already_decided")
        until = now + timedelta(hours=hours) if hours else None
        alerts.update(alert, snoozed_until=until)
        event = audit.Event(
            "alert.snoozed" if until else "alert.woken", "alert", show_id("alr", alert.id), scope=alert.scope,
            after={"until": until.isoformat() if until else None},
        )  # fmt: skip
        audit.append(actor, [event], now)
    return alert
