"""Opening and ending alerts about states that go on, audited and told in the transaction that noticed them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from memgov.ids import new_id
from memory.domain.ids import show_id
from memory.models import Alert
from memory.store import alerts, audit
from tenants.context import current_tenant_id
from tenants.principals import system

WATCH = "watch.alerts"


@dataclass(frozen=True, slots=True)
class Notice:
    """A state that a person should look at."""

    kind: str
    target: str
    severity: str
    message: str
    scope: str = ""
    evidence: Mapping[str, Any] = field(default_factory=dict)


def stands(notice: Notice, now: datetime, quiet: timedelta = timedelta(0)) -> Alert:
    """Note that the state is so: a new alert, or the one that stands.

    One that ended within the quiet time is opened again and not told anew.  Inside the tenant's context.
    """
    last = alerts.last_of(notice.kind, notice.target)
    if last is not None and last.ended_at is None:
        return _still(last, notice, now)
    if last is not None and last.ended_at is not None and now - last.ended_at < quiet:
        return _back(last, notice, now)
    alert = Alert(
        id=new_id(now), kind=notice.kind, severity=notice.severity, scope=notice.scope, target=notice.target,
        message=notice.message[:500], evidence=dict(notice.evidence), opened_at=now, last_at=now,
    )  # fmt: skip
    if alerts.raise_alert(alert, now):
        _note("alert.opened", alert, now)
    return alert


def _still(alert: Alert, notice: Notice, now: datetime) -> Alert:
    worse = notice.severity == "critical" and alert.severity != "critical"
    alerts.update(
        alert,
        last_at=now,
        severity=notice.severity,
        message=notice.message[:500],
        evidence=dict(notice.evidence),
    )
    if worse:
        # Whoever has seen the milder state has not seen this one.
        alerts.update(alert, acknowledged_at=None, acknowledged_by="", snoozed_until=None)
        alerts.tell(alert, alerts.WORSE, now)
        _note("alert.worse", alert, now)
    return alert


def _back(alert: Alert, notice: Notice, now: datetime) -> Alert:
    alerts.update(
        alert, ended_at=None, last_at=now, count=alert.count + 1, severity=notice.severity,
        message=notice.message[:500], evidence=dict(notice.evidence),
    )  # fmt: skip
    _note("alert.reopened", alert, now)
    return alert


def ended(alert: Alert, now: datetime, why: str = "") -> None:
    """Note that the state is over, and tell it.  Inside the tenant's context."""
    alerts.update(alert, ended_at=now, last_at=now)
    alerts.tell(alert, alerts.ENDED, now)
    _note("alert.ended", alert, now, why)


def _note(action: str, alert: Alert, now: datetime, why: str = "") -> None:
    about = {"kind": alert.kind, "severity": alert.severity, "about": alert.target}
    event = audit.Event(action, "alert", show_id("alr", alert.id), scope=alert.scope, reason=why, after=about)
    audit.append(system(current_tenant_id(), WATCH), [event], now)
