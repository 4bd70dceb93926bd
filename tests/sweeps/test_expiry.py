"""Expiry: what is past its time becomes expired, consistently, cheaply, and never twice."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memory.models import Memory, Revision, SweepRun
from memory.services.sweeps import sweep_expiry
from memory.store import memories
from tests.statements import statements
from tests.sweeps.planting import NOW, Plot

pytestmark = pytest.mark.usefixtures("database")
DAY = timedelta(days=1)


def test_expiry__past_due__status_index_revision_and_audit_agree() -> None:
    plot = Plot()
    due, later, never = (
        plot.plant(3, expires_at=NOW - DAY),
        plot.plant(2, expires_at=NOW + DAY, content="l"),
        plot.plant(1, content="n"),
    )
    held = plot.plant(status="quarantined", expires_at=NOW, content="held ")

    run = sweep_expiry(plot.tenant_id, now=NOW)

    assert (run.status, run.changed, run.scanned) == ("done", 4, 4)
    assert plot.statuses(due + held) == ["expired"] * 4
    assert plot.statuses(later + never) == ["live"] * 3
    assert plot.count("memory_index") == 3
    events = plot.look(
        "SELECT target_id, actor_id, before->>'status', after->>'status', policy_version FROM memory_auditevent"
        " WHERE tenant_id = %(tenant)s AND action = 'memory.expired'"
    )
    assert sorted(events) == sorted(
        [(f"mem_{one.hex}", "sweep.expiry", "live", "expired", 1) for one in due]
        + [(f"mem_{held[0].hex}", "sweep.expiry", "quarantined", "expired", 1)]
    )
    with plot.stage.context():
        kept = SweepRun.objects.get(id=run.id)
    assert (kept.status, kept.changed, kept.policy_version, kept.name) == ("done", 4, 1, "expiry")
    assert kept.finished_at is not None
    assert kept.finished_at >= kept.started_at == NOW


def test_expiry__revision_made_in_sql__is_what_the_store_would_have_kept() -> None:
    plot = Plot()
    (memory_id,) = plot.plant(expires_at=NOW - DAY)
    sweep_expiry(plot.tenant_id, now=NOW)
    with plot.stage.context():
        memory = Memory.objects.get(id=memory_id)
        revision = Revision.objects.get(memory_id=memory_id, version=2)
    assert revision.state == memories.snapshot(memory)
    assert (revision.event, revision.actor, revision.at) == ("memory.expired", "sweep.expiry", NOW)
    assert memory.status_changed_at == NOW


def test_expiry__run_again__changes_nothing() -> None:
    plot = Plot()
    plot.plant(3, expires_at=NOW - DAY)
    sweep_expiry(plot.tenant_id, now=NOW)
    events = plot.count("memory_auditevent")
    assert sweep_expiry(plot.tenant_id, now=NOW).changed == 0
    assert plot.count("memory_auditevent") == events


def test_expiry__dry_run__counts_and_changes_nothing() -> None:
    plot = Plot()
    due = plot.plant(3, expires_at=NOW - DAY)
    run = sweep_expiry(plot.tenant_id, now=NOW, dry_run=True)
    assert (run.changed, run.dry_run) == (3, True)
    assert plot.statuses(due) == ["live"] * 3


def test_expiry__more_than_a_batch__all_expire_and_progress_is_told() -> None:
    plot = Plot()
    plot.plant(2300, expires_at=NOW - DAY)
    told: list[int] = []
    run = sweep_expiry(plot.tenant_id, now=NOW, progress=lambda done, total: told.append(done))
    assert run.changed == 2300
    assert told == [1000, 2000, 2300]
    assert plot.look("SELECT changed, status FROM memory_sweeprun WHERE tenant_id = %(tenant)s") == [
        (2300, "done")
    ]


def test_expiry__25000_rows_3_expired__four_queries() -> None:
    plot = Plot()
    plot.plant(25_000)
    plot.plant(3, expires_at=NOW - DAY, content="due ")
    with CaptureQueriesContext(connection) as queries:
        run = sweep_expiry(plot.tenant_id, now=NOW)
    assert run.changed == 3
    asked = statements(queries)
    assert len(asked) <= 4, asked
    assert sum(float(one["time"]) for one in queries) < 0.2
