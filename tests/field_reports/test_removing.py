"""Faults that users of other stores reported about what goes away, and about getting it back."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memgov import clock
from memory.domain.policy import Policy
from memory.models import Memory, Revision
from memory.services.recall import RetrieveRequest, memory_retrieve
from memory.services.restore import memory_restore
from memory.services.retention import memory_delete
from memory.services.sweeps import sweep_compaction, sweep_decay, sweep_dedup, sweep_expiry
from tests.sweeps.planting import Plot
from tests.sweeps.test_dedup import SAME, slipped_in

pytestmark = pytest.mark.usefixtures("database")
DAY = timedelta(days=1)
UNGUARDED = Policy.model_validate({"retention": {"sweep_guard": 1.0}})


def test_decay_pin__pinned_rule_and_its_twin__only_the_twin_goes_and_can_come_back() -> None:
    plot = Plot(UNGUARDED)
    now = clock.now()
    (pinned,) = plot.plant(at=now, kind="procedure", content="Rule ", pinned_at=now, pinned_by="owner")
    (twin,) = plot.plant(at=now, kind="procedure", content="The same rule ")
    (used,) = plot.plant(at=now, kind="procedure", content="A used rule ", use_count=10, last_used_at=now)
    with clock.moved_to(now + 180 * DAY):
        sweep_decay(plot.tenant_id)
        assert plot.statuses([pinned, twin, used]) == ["live", "evicted", "live"]
        memory_restore(plot.stage.reviewer.principal, twin, "still the rule")
        assert plot.statuses([twin]) == ["live"]


def test_restore__job_wants_to_take_most_of_a_scope__stops_tells_and_asks() -> None:
    plot = Plot()
    old = plot.plant(80, at=clock.now() - 180 * DAY)
    young = plot.plant(20, content="young ", at=clock.now())
    run = sweep_decay(plot.tenant_id)
    assert (run.status, run.changed) == ("stopped", 0)
    assert set(plot.statuses([*old, *young])) == {"live"}
    assert plot.count("memory_alert", "kind = 'sweep_stopped'") == 1
    assert run.details["held"] == {"project:alpha": {"removable": 80, "live": 100}}


def test_restore__merge_of_two__one_of_them_is_found_at_every_moment() -> None:
    """Sources were archived elsewhere before the merged row could be searched."""
    plot, rows = slipped_in(*SAME)

    def found() -> int:
        asked = RetrieveRequest(query="How long does the CI pipeline take?")
        return len(memory_retrieve(plot.stage.coder.principal, asked).entries)

    assert found() >= 1
    sweep_dedup(plot.tenant_id)
    assert found() == 1
    assert sorted(plot.statuses([row.id for row in rows])) == ["live", "merged"]
    assert plot.count("memory_index") == 1


def test_restore__eviction_over_148_rows__spares_the_used_and_pinned_and_loses_nothing() -> None:
    plot = Plot(UNGUARDED)
    long_ago = clock.now() - 400 * DAY
    plain = plot.plant(140, at=long_ago)
    (used,) = plot.plant(at=long_ago, content="used ", use_count=214, last_used_at=long_ago)
    pinned = plot.plant(7, at=long_ago, content="pinned ", pinned_at=long_ago, pinned_by="owner")
    assert sweep_decay(plot.tenant_id).changed == 140
    assert set(plot.statuses([used, *pinned])) == {"live"}
    assert plot.count("memory_memory") == 148, "no automation deletes a row"
    with clock.moved_to(clock.now() + 29 * DAY):
        for ident in plain[:20]:
            memory_restore(plot.stage.reviewer.principal, ident)
    assert set(plot.statuses(plain[:20])) == {"live"}


def test_restore__with_links_and_history__brings_them_along() -> None:
    plot = Plot(UNGUARDED)
    sources = plot.plant(2, content="source ", at=clock.now())
    (row,) = plot.plant(at=clock.now() - 400 * DAY, content="derived ", derived_from=sources)
    sweep_decay(plot.tenant_id)
    memory_restore(plot.stage.reviewer.principal, row, "needed")
    with plot.stage.context():
        again = Memory.objects.get(id=row)
        history = Revision.objects.filter(memory_id=row).order_by("version").values_list("event", flat=True)
        assert list(history) == ["memory.stored", "memory.evicted", "memory.restored"]
    assert (again.derived_from, again.status) == (sources, "live")


@pytest.mark.parametrize("way", ["forgotten", "merged", "ended", "pruned"])
def test_restore__every_way_out__has_its_reason_is_never_found_and_leads_back(way: str) -> None:
    if way == "merged":
        plot, rows = slipped_in(*SAME)
        sweep_dedup(plot.tenant_id)
        ident = next(row.id for row in rows if plot.statuses([row.id]) == ["merged"])
    else:
        plot = Plot(UNGUARDED)
        long_ago = clock.now() - 400 * DAY
        (ident,) = plot.plant(at=long_ago, expires_at=clock.now() - DAY if way == "ended" else None)
        if way == "forgotten":
            memory_delete(plot.stage.reviewer.principal, ident, "asked to forget it")
        elif way == "ended":
            sweep_expiry(plot.tenant_id)
        else:
            sweep_decay(plot.tenant_id)
    expected = {
        "forgotten": ("deleted", "asked to forget it"), "merged": ("merged", "says the same as another memory"),
        "ended": ("expired", "its time is over"), "pruned": ("evicted", "unused and unconfirmed"),
    }  # fmt: skip
    with plot.stage.context():
        row = Memory.objects.get(id=ident)
    assert row.status == expected[way][0] and row.status_reason.startswith(expected[way][1])
    indexed = f"memory_id = '{ident}'"
    assert plot.count("memory_index", indexed) == 0
    memory_restore(plot.stage.reviewer.principal, ident, "needed")
    assert plot.statuses([ident]) == ["live"] and plot.count("memory_index", indexed) == 1


def test_ttl__beat_stood_still_for_a_week__nothing_ended_was_served_and_one_run_catches_up() -> None:
    from memory import schedule
    from memory.tasks import run_sweep

    plot = Plot(UNGUARDED)
    now = clock.now()
    ended = plot.plant(3, content="The ferry leaves at nine, gate ", at=now, expires_at=now + DAY)
    with clock.moved_to(now + 8 * DAY):
        asked = RetrieveRequest(query="When does the ferry leave?")
        assert memory_retrieve(plot.stage.coder.principal, asked).entries == []
        assert plot.statuses(ended) == ["live"] * 3, "no sweep has been there"
        for name in schedule.VALID_SECONDS:
            for _ in range(3):  # what may have waited in the queue
                run_sweep.run(name, str(plot.tenant_id))
        assert plot.statuses(ended) == ["expired"] * 3
        for name in schedule.DAILY_HOURS:
            assert plot.count("memory_sweeprun", f"name = '{name}'") == 1, name
    assert plot.count("memory_auditevent", "action = 'memory.expired'") == 3
    # A message lives no longer than until the next of its kind, so that no queue of them can build up.
    assert all(seconds <= 24 * 3600 for seconds in schedule.VALID_SECONDS.values())


def test_restore__over_the_cap__archived_not_deleted() -> None:
    plot = Plot(Policy.model_validate({"retention": {"sweep_guard": 1.0}, "reconciliation": {"cap": 3}}))
    plot.plant(5, at=clock.now())
    assert sweep_compaction(plot.tenant_id).changed == 2
    assert plot.count("memory_memory", "status = 'archived'") == 2 and plot.count("memory_memory") == 5
