"""Metrics beyond their thresholds: told once, ended by hysteresis, quiet for a while, per metric and scope."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memgov import clock
from memory.domain.alerting import Rule
from memory.models import Alert, AlertDelivery, AuditEvent, HealthSnapshot
from memory.selectors.alert_rules import metrics_of
from memory.services.alert_settings import channel_add, rule_reset, rule_set
from memory.services.alerts import alert_acknowledge, alert_snooze
from memory.services.alerts_watch import metrics_watched
from memory.services.errors import Conflict, Denied, Invalid, NotFound
from memory.services.sweeps import sweep_health
from tests.sweeps.planting import NOW, Plot

pytestmark = pytest.mark.usefixtures("database")
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
KNOWN = {"live_facts": 100, "hit_rate": 0.6, "usage_coverage": 0.9}


def told(plot: Plot) -> list[str]:
    with plot.stage.context():
        return list(AlertDelivery.objects.order_by("id").values_list("event", flat=True))


def alerts(plot: Plot) -> list[Alert]:
    with plot.stage.context():
        return list(Alert.objects.order_by("opened_at", "id"))


def measured(plot: Plot, at: int, scope: str = "", **figures: float | None) -> None:
    """As the health sweep does it, in the hour `at`."""
    with plot.stage.context():
        metrics_watched({scope: {**KNOWN, **figures}}, NOW + at * HOUR)


@pytest.fixture
def plot() -> Plot:
    plot = Plot()
    channel_add(plot.stage.owner.principal, "email", "alerts@example.test")
    return plot


def test_stale_share__81_percent__alerts_once_and_ends_at_79() -> None:
    """The field report, through the sweep itself."""
    plot = Plot()
    channel_add(plot.stage.owner.principal, "email", "alerts@example.test")
    # What is planted has no vectors, which is another alert.
    rule_set(plot.stage.owner.principal, "unindexed_rows", "", Rule(None, None, tell="never"))
    plot.plant(19, content="young ")
    old = plot.plant(81, content="old ", at=NOW - 100 * DAY)
    for minutes in range(0, 60, 10):
        sweep_health(plot.tenant_id, now=NOW + timedelta(minutes=minutes))
    [alert] = alerts(plot)
    assert "Stale share of the whole tenant is 81 %" in alert.message
    assert (alert.severity, alert.count, alert.ended_at) == ("critical", 1, None)
    assert told(plot) == ["opened"]
    plot.look(
        "UPDATE memory_memory SET learned_at = %(now)s WHERE tenant_id = %(tenant)s AND id = ANY(%(ids)s) RETURNING 1",
        now=NOW, ids=old[:1],
    )  # fmt: skip
    sweep_health(plot.tenant_id, now=NOW + HOUR)
    assert alerts(plot)[0].ended_at is None, "80 % is not better by the hysteresis"
    plot.look(
        "UPDATE memory_memory SET learned_at = %(now)s WHERE tenant_id = %(tenant)s AND id = ANY(%(ids)s) RETURNING 1",
        now=NOW, ids=old[1:2],
    )  # fmt: skip
    sweep_health(plot.tenant_id, now=NOW + 2 * HOUR)
    assert alerts(plot)[0].ended_at == NOW + 2 * HOUR
    assert told(plot) == ["opened", "ended"]
    with plot.stage.context():
        done = AuditEvent.objects.filter(action__startswith="alert.").order_by("seq")
        assert list(done.values_list("action", flat=True)) == ["alert.opened", "alert.ended"]
        assert done[0].actor_name == "watch.alerts"


def test_snapshot_and_alert__are_one_transaction(plot: Plot, monkeypatch: pytest.MonkeyPatch) -> None:
    plot.plant(81, content="old ", at=NOW - 100 * DAY)
    from memory.store import alerts as store

    def broken(*_: object) -> int:
        raise RuntimeError("the process died here")

    monkeypatch.setattr(store, "tell", broken)
    with pytest.raises(RuntimeError):
        sweep_health(plot.tenant_id, now=NOW)
    with plot.stage.context():
        assert (HealthSnapshot.objects.count(), Alert.objects.count(), AlertDelivery.objects.count()) == (
            0,
            0,
            0,
        )


def test_flapping__within_the_quiet_time__is_opened_again_and_not_told_anew(plot: Plot) -> None:
    for at, value in enumerate([0.85, 0.5, 0.85, 0.5, 0.85]):
        measured(plot, at, stale_share=value)
    [alert] = alerts(plot)
    assert (alert.count, alert.ended_at) == (3, None)
    assert told(plot) == ["opened", "ended", "ended"]
    measured(plot, 5, stale_share=0.5)
    measured(plot, 5 + 25, stale_share=0.85)
    assert [one.count for one in alerts(plot)] == [3, 1], "after the quiet time it is a new one"
    assert told(plot)[-1] == "opened"


def test_no_data__leaves_what_stands(plot: Plot) -> None:
    measured(plot, 0, stale_share=0.9)
    measured(plot, 1, stale_share=None)
    assert alerts(plot)[0].ended_at is None
    assert told(plot) == ["opened"]


def test_scope__is_watched_where_somebody_asked_for_it(plot: Plot) -> None:
    measured(plot, 0, "project:alpha", stale_share=0.9)
    assert alerts(plot) == []
    rule = Rule(0.3, 0.6, tell="watch", quiet_minutes=0)
    rule_set(plot.stage.owner.principal, "stale_share", "project:alpha", rule)
    measured(plot, 1, "project:alpha", stale_share=0.4)
    measured(plot, 2, "project:beta", stale_share=0.9)
    [alert] = alerts(plot)
    assert (alert.scope, alert.severity) == ("project:alpha", "warning")
    alert_acknowledge(plot.stage.reviewer.principal, alert.id, "we know")
    measured(plot, 3, "project:alpha", stale_share=0.7)
    [worse] = alerts(plot)
    assert (worse.severity, worse.acknowledged_at) == ("critical", None), "the worse state was seen by nobody"
    assert told(plot) == ["opened", "worse"]
    rule_reset(plot.stage.owner.principal, "stale_share", "project:alpha")
    measured(plot, 4, "project:alpha", stale_share=0.7)
    assert alerts(plot)[0].ended_at == NOW + 4 * HOUR, "what is not watched any more does not stand for ever"


def test_acknowledged__stands_without_a_second_alert_until_it_is_over(plot: Plot) -> None:
    measured(plot, 0, cross_scope_leaks=1)
    [alert] = alerts(plot)
    alert_acknowledge(plot.stage.reviewer.principal, alert.id)
    for at in (1, 2):
        measured(plot, at, cross_scope_leaks=1)
    assert [one.ended_at for one in alerts(plot)] == [None]
    measured(plot, 3, cross_scope_leaks=0)
    assert [one.ended_at for one in alerts(plot)] == [NOW + 3 * HOUR]
    measured(plot, 60, cross_scope_leaks=2)
    assert len(alerts(plot)) == 2


def test_snoozed__is_not_told_and_wakes_by_itself(plot: Plot) -> None:
    with clock.moved_to(NOW):
        measured(plot, 0, stale_share=0.9)
        [alert] = alerts(plot)
        snoozed = alert_snooze(plot.stage.reviewer.principal, alert.id, 8)
        assert snoozed.snoozed_until == NOW + 8 * HOUR
    measured(plot, 3, stale_share=0.1)
    assert told(plot) == ["opened"], "its end within the snooze is not told"
    with pytest.raises(Invalid):
        alert_snooze(plot.stage.reviewer.principal, alert.id, 5)
    with pytest.raises(Denied):
        alert_snooze(plot.stage.coder.principal, alert.id, 8)
    alert_acknowledge(plot.stage.reviewer.principal, alert.id)
    with pytest.raises(Conflict):
        alert_snooze(plot.stage.reviewer.principal, alert.id, 8)


@pytest.mark.parametrize(
    ("metric", "scope", "rule", "field"),
    [
        ("live_facts", "", Rule(1, 2), "metric"),
        ("nonsense", "", Rule(1, 2), "metric"),
        ("stale_share", "no scope", Rule(0.1, 0.2), "scope"),
        ("stale_share", "", Rule(0.9, 0.8), "watch"),
        ("hit_rate", "", Rule(0.1, 0.3), "watch"),
        ("stale_share", "", Rule(0.5, 80.0), "breach"),
        ("stale_share", "", Rule(0.5, float("nan")), "breach"),
        ("stale_share", "", Rule(None, None), "breach"),
        ("stale_share", "", Rule(None, 0.5, tell="watch"), "watch"),
        ("stale_share", "", Rule(0.1, 0.2, slack=0.7), "slack"),
        ("stale_share", "", Rule(0.1, 0.2, quiet_minutes=10**6), "quiet_minutes"),
        ("stale_share", "", Rule(0.1, 0.2, tell="loudly"), "tell"),  # type: ignore[arg-type]
    ],
)
def test_rule__that_makes_no_sense__is_refused_by_its_field(
    plot: Plot, metric: str, scope: str, rule: Rule, field: str
) -> None:
    with pytest.raises(Invalid) as refused:
        rule_set(plot.stage.owner.principal, metric, scope, rule)
    assert refused.value.field == field


def test_rules__are_the_admins_and_change_what_pages_and_api_call_a_breach(plot: Plot) -> None:
    with pytest.raises(Denied):
        rule_set(plot.stage.reviewer.principal, "stale_share", "", Rule(0.1, 0.2))
    rule_set(plot.stage.owner.principal, "stale_share", "", Rule(0.1, 0.2))
    rule_set(plot.stage.owner.principal, "stale_share", "project:alpha", Rule(0.3, 0.4))
    with plot.stage.context():
        found = [metrics_of(scope)["stale_share"].breach for scope in ("", "project:beta", "project:alpha")]
        event = AuditEvent.objects.filter(action="threshold.set").latest("seq")
    assert found == [0.2, 0.2, 0.4]
    assert (event.scope, event.after["breach"]) == ("project:alpha", 0.4)
    with pytest.raises(NotFound):
        rule_reset(plot.stage.owner.principal, "regret", "")
