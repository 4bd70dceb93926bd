"""What is watched: metrics beyond their thresholds, sweeps that fail or stop, a broken chain, silent processes.

Metrics are looked at whenever they are measured, in the transaction that keeps the snapshot.  The rest is looked at
every minute by the worker; whether the worker and beat live, each of the two looks at the other.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from memgov import clock
from memory.domain.alerting import SEVERITY, Level, Rule, metric_message, next_level
from memory.domain.health import METRICS, Metric
from memory.models import Alert, SweepRun
from memory.selectors.alert_rules import own_rules, rule_for
from memory.selectors.health_rows import ByScope
from memory.services.alerts_raise import Notice, ended, stands
from memory.store import alerts
from tenants.context import tenant_context

METRIC, SWEEP_FAILED, SWEEP_STOPPED = "metric", "sweep_failed", "sweep_stopped"
SWEEP_LATE, CHAIN_BROKEN, PROCESS_SILENT = "sweep_late", "chain_broken", "process_silent"
_BROKEN: Final = "broken at"
# Measuring is hourly: after so long without one, what the charts and alerts say is old.
_LATE: Final = timedelta(hours=3)


def metrics_watched(figures: ByScope, now: datetime) -> None:
    """Open, raise and end alerts by what was measured just now.  Inside the tenant's context."""
    own, standing = own_rules(), alerts.standing_of(METRIC)
    wanted = {(name, "") for name in METRICS} | set(own) | {_about(alert) for alert in standing.values()}
    for name, scope in sorted(wanted):
        metric = METRICS.get(name)
        if metric is not None:
            _judge(metric, scope, rule_for(own, metric, scope), figures, standing, now)


def _about(alert: Alert) -> tuple[str, str]:
    return str(alert.evidence.get("metric", "")), alert.scope


def _judge(
    metric: Metric, scope: str, rule: Rule, figures: ByScope, standing: dict[str, Alert], now: datetime
) -> None:
    target = f"{metric.name} {scope}".strip()
    value, alert = figures.get(scope, {}).get(metric.name), standing.get(target)
    before: Level = alert.evidence.get("level", "breach") if alert else ""
    level = next_level(metric, rule, value, before)
    if level:
        evidence = {
            "metric": metric.name, "level": level, "value": value, "watch": rule.watch, "breach": rule.breach,
        }  # fmt: skip
        message = metric_message(metric.name, scope, level, value, rule)
        notice = Notice(METRIC, target, SEVERITY[level], message, scope, evidence)
        if value is not None:
            stands(notice, now, timedelta(minutes=rule.quiet_minutes))
    elif alert is not None:
        ended(alert, now, "back in range" if rule.tell != "never" else "the rule was switched off")


def sweeps_watched(tenant_id: UUID, now: datetime | None = None) -> None:
    """Look at the last run of each sweep: failed, stopped by the guard, chain broken, or measuring overdue."""
    now = now or clock.now()
    with tenant_context(tenant_id):
        latest = _latest_runs(now)
        notices = {(one.kind, one.target): one for run in latest for one in [_notice(run)] if one}
        late = _late(latest, now)
        if late:
            notices[late.kind, late.target] = late
        for notice in notices.values():
            stands(notice, now)
        for kind in (SWEEP_FAILED, SWEEP_STOPPED, SWEEP_LATE, CHAIN_BROKEN):
            for target, alert in alerts.standing_of(kind).items():
                # A sweep without a run in the records says nothing: what stood, stands.
                known = kind == SWEEP_LATE or any(run.name == target for run in latest)
                if known and (kind, target) not in notices:
                    ended(alert, now, "the last run went well")


def _latest_runs(now: datetime) -> list[SweepRun]:
    """The last finished run of each sweep within a week."""
    rows = SweepRun.objects.filter(
        dry_run=False, started_at__gt=now - timedelta(days=7), started_at__lte=now
    ).exclude(status="running")
    return list(rows.order_by("name", "-started_at", "-id").distinct("name"))


def _notice(run: SweepRun) -> Notice | None:
    evidence = {"sweep": run.name, "started_at": run.started_at.isoformat(), "note": run.note[:300]}
    if run.name == "chain" and run.status == "failed" and run.note.startswith(_BROKEN):
        message = f"The audit chain is {run.note}"
        return Notice(CHAIN_BROKEN, run.name, "critical", message, evidence=evidence)
    if run.status == "failed":
        message = f"The sweep {run.name} failed: {run.note}"
        return Notice(SWEEP_FAILED, run.name, "critical", message, evidence=evidence)
    if run.status == "stopped":
        message = (
            f"The sweep {run.name} stopped before it removed too much, and waits for a person: {run.note}"
        )
        return Notice(SWEEP_STOPPED, run.name, "warning", message, evidence=evidence)
    return None


def _late(latest: list[SweepRun], now: datetime) -> Notice | None:
    measured = next((run for run in latest if run.name == "health"), None)
    if measured is None or now - measured.started_at <= _LATE:
        return None
    hours = int((now - measured.started_at).total_seconds() // 3600)
    message = f"Health was measured {hours} hours ago: background work is late or stands still."
    return Notice(SWEEP_LATE, "health", "warning", message)


def process_watched(tenant_id: UUID, name: str, *, lives: bool, now: datetime | None = None) -> None:
    """Note that the worker or beat is silent, or that it is back."""
    now = now or clock.now()
    with tenant_context(tenant_id):
        if not lives:
            what = "nothing is swept, measured or sent" if name == "worker" else "nothing is started on time"
            stands(
                Notice(PROCESS_SILENT, name, "critical", f"The {name} gives no sign of life: {what}."), now
            )
        else:
            alert = alerts.standing_of(PROCESS_SILENT).get(name)
            if alert is not None:
                ended(alert, now, "it lives again")
