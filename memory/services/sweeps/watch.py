"""Alerts that sweeps raise: opened once for an occasion, counted up while it lasts."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from memgov.ids import new_id
from memory.domain.ids import show_id
from memory.models import Alert
from memory.store import alerts, audit
from tenants.principals import Principal


def tell(
    actor: Principal,
    now: datetime,
    kind: str,
    target: str,
    *,
    message: str,
    evidence: Mapping[str, Any],
    scope: str = "",
    severity: str = "warning",
) -> bool:
    """Open the alert, with an audit event, or count one more of the open one; whether it is new.

    Inside the tenant's context.
    """
    alert = Alert(
        id=new_id(now), kind=kind, severity=severity, scope=scope, target=target, message=message[:500],
        evidence=dict(evidence), opened_at=now, last_at=now,
    )  # fmt: skip
    if not alerts.raise_alert(alert, now):
        return False
    after = {"kind": kind, "target": target}
    audit.append(
        actor, [audit.Event("alert.opened", "alert", show_id("alr", alert.id), scope=scope, after=after)], now
    )
    return True
