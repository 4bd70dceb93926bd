"""By which rules metrics raise alerts: the tenant's own, and the defaults where it has none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from memory.domain.alerting import Rule, default_rule
from memory.domain.health import METRICS, Metric
from memory.models import AlertRule

Rules = Mapping[tuple[str, str], Rule]


def own_rules() -> dict[tuple[str, str], Rule]:
    """The tenant's rules by metric and scope."""
    return {(row.metric, row.scope): rule_of(row) for row in AlertRule.objects.order_by("metric", "scope")}


def rule_of(row: AlertRule) -> Rule:
    """A row as a rule of the domain."""
    return Rule(row.watch, row.breach, row.tell, row.slack, row.quiet_minutes)  # type: ignore[arg-type]


def rule_for(own: Rules, metric: Metric, scope: str) -> Rule:
    """The rule of a metric in a scope."""
    return own.get((metric.name, scope)) or default_rule(metric, scope)


def metrics_of(scope: str, own: Rules | None = None) -> dict[str, Metric]:
    """The metrics with the thresholds that hold for a scope: its own, else those of the whole tenant.  One query."""
    own = own_rules() if own is None else own
    found = {}
    for name, metric in METRICS.items():
        rule = own.get((name, scope)) or own.get((name, ""))
        found[name] = replace(metric, watch=rule.watch, breach=rule.breach) if rule else metric
    return found
