"""Hours become days: charts read both, nothing is counted twice, and what was not measured stays missing.  And the
figures that look at wording, vocabulary and parts of a scope."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.health import Reading, fold
from memory.domain.registry import PredicateRule
from memory.models import HealthSnapshot
from memory.selectors import health, health_same, pages_health
from memory.services.sweeps import sweep_health
from memory.services.vocabulary import predicate_set
from memory.store import health as snapshots
from tests.sweeps.planting import NOW, Plot
from tests.sweeps.test_health import DAY, _measure, _read

pytestmark = pytest.mark.usefixtures("database")
HOUR = timedelta(hours=1)
MIDNIGHT = NOW.replace(hour=0)


def _kept(plot: Plot, period: datetime, **figures: float | None) -> None:
    with plot.stage.context():
        snapshots.upsert({"": figures, "project:alpha": figures}, period)


def _rows(plot: Plot, scope: str = "") -> list[Any]:
    with plot.stage.context():
        rows = HealthSnapshot.objects.filter(scope=scope).order_by("period", "span")
        return list(rows.values_list("span", "period", "figures", "spread", "hours"))


def test_old_hours__become_one_day__with_lowest_and_highest() -> None:
    plot, old = Plot(), MIDNIGHT - 20 * DAY
    for hour, value in [(3, 5.0), (4, 9.0), (22, 7.0)]:
        _kept(plot, old + hour * HOUR, live_facts=value, regret=None)
    _kept(plot, NOW - 13 * DAY, live_facts=1.0)
    sweep_health(plot.tenant_id, now=NOW)
    day, young, present = _rows(plot)
    assert day == ("day", old, {"live_facts": 7.0, "regret": None}, {"live_facts": [5.0, 9.0]}, 3)
    assert (young[0], present[0]) == ("hour", "hour")
    assert len(_rows(plot, "project:alpha")) == 2, "the hour of now has no figures of a scope without rows"
    sweep_health(plot.tenant_id, now=NOW)
    assert _rows(plot)[0] == day, "twice changes nothing"


def test_late_hour_of_a_folded_day__is_taken_in() -> None:
    plot, old = Plot(), MIDNIGHT - 20 * DAY
    _kept(plot, old + 3 * HOUR, live_facts=5.0)
    sweep_health(plot.tenant_id, now=NOW)
    _kept(plot, old + 9 * HOUR, live_facts=2.0)
    sweep_health(plot.tenant_id, now=NOW)
    assert _rows(plot)[0] == ("day", old, {"live_facts": 2.0}, {"live_facts": [2.0, 5.0]}, 2)


def test_chart__before_and_after_folding__is_the_same_and_gaps_stay() -> None:
    plot = Plot()
    for ago in (16, 15, 13, 2):
        for hour in (1, 23):
            _kept(plot, MIDNIGHT - ago * DAY + hour * HOUR, live_facts=float(ago * hour))

    def drawn() -> list[float | None]:
        with plot.stage.context():
            days = pages_health.by_day("", NOW - HOUR, 18)
        return [day.figures.get("live_facts") if day else None for day in days]

    before = drawn()
    assert before[1:6] == [16 * 23, 15 * 23, None, 13 * 23, None]
    sweep_health(plot.tenant_id, now=NOW)
    assert [row[0] for row in _rows(plot)][:3] == ["day", "day", "hour"]
    assert drawn() == before
    with plot.stage.context():
        assert [point.span for point in health.series()][:3] == ["day", "day", "hour"]
        assert health.series()[0].spread == {"live_facts": [16.0, 16.0 * 23]}
        hours = pages_health.by_hour("", NOW, 7)
    assert len(hours) == 168
    known = [(at, point.figures["live_facts"]) for at, point in hours if point and at < NOW]
    assert known == [(MIDNIGHT - 2 * DAY + HOUR, 2.0), (MIDNIGHT - 2 * DAY + 23 * HOUR, 46.0)]


FIGURES = st.dictionaries(st.sampled_from("abc"), st.none() | st.floats(-9, 9), max_size=3)


@given(st.lists(FIGURES, min_size=2, max_size=6), st.integers(1, 5))
def test_fold__in_two_steps_or_one__is_the_same(hours: list[dict[str, float | None]], cut: int) -> None:
    readings = [Reading(one, {}) for one in hours]
    cut = min(cut, len(readings) - 1)
    whole = fold(readings)
    assert fold([fold(readings[:cut]), *readings[cut:]]).hours == whole.hours == len(hours)
    assert fold([fold(readings[:cut]), *readings[cut:]]).figures == whole.figures == hours[-1]
    known = [value for one in hours for value in [one.get("a")] if value is not None]
    assert whole.spread.get("a") == ((min(known), max(known)) if known else None)


def test_duplicates__the_same_in_other_words__are_a_group_until_one_goes() -> None:
    plot = Plot()
    (one,) = plot.plant(content="The staging cluster runs in region eu-north-")
    plot.plant(content="the staging cluster runs in region EU-NORTH-")
    plot.plant(content="Lunch is served in the small hall at number ")
    assert _measure(plot)["project:alpha"]["duplicate_groups"] == 1
    plot.look(
        "UPDATE memory_memory SET status = 'archived' WHERE tenant_id = %(tenant)s AND id = %(one)s RETURNING 1",
        one=one,
    )
    assert _measure(plot)["project:alpha"]["duplicate_groups"] == 0


def test_duplicates__more_rows_than_one_measuring_compares__are_found_by_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plot = Plot()
    for scope in ("project:alpha", "project:beta"):
        plot.plant(content="The relay mast is painted in spring, ", scope=scope)
        plot.plant(content="The relay mast is painted, in spring ", scope=scope)
    monkeypatch.setattr(health_same, "MOST_ROWS", 3)
    with plot.stage.context():
        assert sorted(map(len, health_same.near_pairs(NOW).values())) == [0, 1]
        assert sorted(map(len, health_same.near_pairs(NOW).values())) == [1, 1]


def test_duplicates__the_same_value_of_one_key__are_a_group_whatever_the_sentence() -> None:
    plot = Plot()
    key: dict[str, Any] = {"subject": "user:7", "predicate": "likes", "may_repeat": True}
    plot.plant(content="tea ", **key)
    plot.plant(content="User 7 is fond of tea ", **key)
    plot.look("UPDATE memory_memory SET value_hash = 'same' WHERE tenant_id = %(tenant)s RETURNING 1")
    assert _measure(plot)[health.ALL]["duplicate_groups"] == 1


def test_contradictions__two_sentences_with_one_claim__are_one() -> None:
    plot = Plot()
    plot.plant(content="Lives in Bern ", claim="lives:7", status="contested")
    assert _measure(plot)[health.ALL]["contradictions"] == 0
    plot.plant(content="Lives in Zug ", claim="lives:7", status="contested")
    assert _measure(plot)[health.ALL]["contradictions"] == 1


def test_bands__follow_the_tenants_own_predicates_and_add_up() -> None:
    plot = Plot()
    plot.plant(2, content="young ")
    plot.plant(1, content="aging ", at=NOW - 40 * DAY)
    plot.plant(3, content="shelf life ", predicate="best_before", at=NOW - 70 * DAY)
    figures = _measure(plot)[health.ALL]
    assert [figures[name] for name in ("fresh", "aging", "outdated")] == [2, 4, 0]
    predicate_set(plot.stage.owner.principal, PredicateRule("best_before", volatile=True))
    figures = _measure(plot)[health.ALL]
    assert [figures[name] for name in ("fresh", "aging", "outdated")] == [2, 1, 3]
    assert figures["live_facts"] == 6
    assert figures["stale_share"] == pytest.approx(1 / 2)


def test_used_and_given__count_what_nobody_saw() -> None:
    plot = Plot()
    (seen, _unseen) = plot.plant(2)
    plot.plant(content="used ", use_count=3)
    _read(plot, [(seen, "project:alpha")])
    _read(plot, [(_unseen, "project:alpha")], at=NOW - 31 * DAY)
    whole = _measure(plot)
    assert (whole[health.ALL]["never_used"], whole[health.ALL]["never_given"]) == (2, 2)
    assert whole["project:alpha"]["never_given"] == 2


def test_injected__per_scope__mean_and_p95_of_entries_and_tokens() -> None:
    plot = Plot()
    alpha = plot.plant(4)
    beta = plot.plant(2, content="b", scope="project:beta")
    _read(plot, [(one, "project:alpha") for one in alpha] + [(beta[0], "project:beta")])
    _read(plot, [(beta[1], "project:beta")])
    found = _measure(plot)
    assert found["project:alpha"]["injected_mean"] == pytest.approx(4)
    assert found["project:beta"]["injected_p95"] == pytest.approx(1)
    assert found["project:beta"]["injected_tokens_mean"] == pytest.approx((500 + 100) / 2)
    assert found["project:beta"]["injected_tokens_p95"] == pytest.approx(100 + 0.95 * 400)


def test_measuring__many_scopes__costs_as_many_statements_as_one() -> None:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    plot = Plot()
    plot.plant(2)

    def cost() -> int:
        with plot.stage.context(), CaptureQueriesContext(connection) as captured:
            health.measure(NOW, None)
        return len(captured.captured_queries)

    cost()
    few = cost()
    for at in range(12):
        plot.plant(2, content=f"of {at} ", scope=f"project:p{at}")
    cost()  # new scopes are compared once
    assert cost() == few <= 20
