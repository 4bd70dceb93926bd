"""Sweeps as tasks: by a real worker, which may die at any point; one message per tenant; no storm of messages."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest
from celery.schedules import crontab
from django.core.cache import cache

from memgov import clock, heartbeat
from memgov.celery import app
from memory import schedule
from memory.domain.policy import Policy
from memory.services.sweeps import SWEEPS
from memory.tasks import dispatch_sweep, run_sweep
from tenants.models import Tenant
from tests.sweeps.planting import NOW, Plot
from tests.sweeps.processes import CeleryProcess, worker

pytestmark = pytest.mark.usefixtures("database")
UNGUARDED = Policy.model_validate({"retention": {"sweep_guard": 1.0}})


def _eventually(holds: Callable[[], bool], what: str) -> None:
    pause = threading.Event()
    for _ in range(600):
        if holds():
            return
        pause.wait(0.05)
    raise AssertionError(f"it never happened: {what}")


def test_worker__dispatched_sweep__evicts_and_audits_for_every_tenant(tmp_path: Path) -> None:
    long_ago = clock.now() - timedelta(days=400)
    plots = [Plot(UNGUARDED), Plot(UNGUARDED)]
    for plot in plots:
        plot.plant(3, at=long_ago)
    suspended = Plot(UNGUARDED)
    untouched = suspended.plant(at=long_ago)
    Tenant.objects.filter(id=suspended.tenant_id).update(status=Tenant.Status.SUSPENDED)
    app.control.purge()
    cache.delete("heartbeat:worker")
    with worker() as process:
        _eventually(lambda: heartbeat.lives(heartbeat.WORKER), "the worker's sign of life")
        dispatch_sweep.delay("decay")
        sent = int(process.until(r"memory\.dispatch_sweep\[.*succeeded in [\d.]+s: (\d+)")[1])
        for _ in range(sent):
            process.until(r"memory\.run_sweep\[.*succeeded")
        beat = CeleryProcess("beat", "--schedule", str(tmp_path / "beat"), "--pidfile", "")
        try:
            process.until(r"memory\.dispatch_sweep\[.*received")
        finally:
            beat.kill()
    assert sent >= 2
    for plot in plots:
        assert plot.count("memory_memory", "status = 'evicted'") == 3
        assert plot.count("memory_auditevent", "action = 'memory.evicted' AND actor_id = 'sweep.decay'") == 3
        assert plot.count("memory_index") == 0
    assert suspended.statuses(untouched) == ["live"]


def test_worker__killed_mid_sweep__no_half_batch_no_unaudited_row_and_the_rerun_finishes(
    superuser_url: str,
) -> None:
    plot = Plot(UNGUARDED)
    ids = sorted(plot.plant(2500, at=clock.now() - timedelta(days=400)))
    app.control.purge()
    with psycopg.connect(superuser_url) as holder:
        # The revision that the second batch is going to write for this row: its insert waits for this one.
        holder.execute("SET session_replication_role = replica")
        holder.execute(
            "INSERT INTO memory_revision (tenant_id, id, memory_id, version, at, event, actor, reason, state)"
            " VALUES (%s, gen_random_uuid(), %s, 2, now(), 'held', '', '', '{}')",
            [plot.tenant_id, ids[1500]],
        )
        with worker() as process, psycopg.connect(superuser_url, autocommit=True) as watcher:
            run_sweep.delay("decay", str(plot.tenant_id))
            waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype = 'transactionid'"
            _eventually(lambda: watcher.execute(waiting).fetchone() == (1,), "the second batch waits")
            process.kill()
        holder.rollback()

    assert plot.count("memory_memory", "status = 'evicted'") == 1000
    assert plot.look("SELECT status, changed FROM memory_sweeprun WHERE tenant_id = %(tenant)s") == [
        ("running", 1000)
    ]
    _agree(plot, 1000)
    app.control.purge()
    with worker() as process:
        run_sweep.delay("decay", str(plot.tenant_id))
        process.until(r"memory\.run_sweep\[.*succeeded in [\d.]+s: 'done'")
    _agree(plot, 2500)


def _agree(plot: Plot, evicted: int) -> None:
    """As many rows, revisions and audit events as evicted, of the same memories, and none of them findable."""
    assert plot.count("memory_memory", "status = 'evicted'") == evicted
    assert plot.count("memory_revision", "event = 'memory.evicted'") == evicted
    assert plot.count("memory_index") == 2500 - evicted
    unaudited = plot.look(
        """SELECT count(*) FROM memory_memory m WHERE m.tenant_id = %(tenant)s AND m.status = 'evicted' AND NOT EXISTS (
             SELECT FROM memory_auditevent e WHERE e.tenant_id = m.tenant_id AND e.action = 'memory.evicted'
                AND e.target_id = 'mem_' || replace(m.id::text, '-', ''))"""
    )
    assert unaudited == [(0,)]
    assert plot.count("memory_auditevent", "action = 'memory.evicted'") == evicted


def test_run_sweep__tenant_gone_or_unknown_sweep__is_passed_over_or_refused() -> None:
    assert run_sweep.run("decay", "01a22a90-dee6-750b-b795-5832e6bf26c6") is None
    with pytest.raises(ValueError, match="no sweep"):
        dispatch_sweep.run("everything")


def test_run_sweep__delivered_twice__does_it_once() -> None:
    plot = Plot(UNGUARDED)
    plot.plant(2, at=NOW - timedelta(days=400))
    assert run_sweep.run("decay", str(plot.tenant_id)) == "done"
    assert run_sweep.run("decay", str(plot.tenant_id)) == "done"
    assert plot.count("memory_auditevent", "action = 'memory.evicted'") == 2


def test_run_sweep__daily__runs_in_the_tenants_hours_once_a_day_and_catches_up() -> None:
    night = Plot(Policy.model_validate({"sweeps": {"off_peak_from": 22, "off_peak_until": 5}}))
    plain = Plot()
    day = datetime(2030, 5, 1, tzinfo=UTC)

    def runs(plot: Plot, hours: Iterable[float]) -> list[float]:
        ran = []
        for hour in hours:
            with clock.moved_to(day + timedelta(hours=hour, minutes=2)):
                if run_sweep.run("dedup", str(plot.tenant_id)):
                    ran.append(hour)
        return ran

    assert runs(night, range(48)) == [0, 22, 46]
    assert runs(plain, range(48)) == [0, 25], "at once where it never ran, then at its own hour"
    week = 24 * 9
    assert runs(plain, range(week + 14, week + 60)) == [week + 14, week + 25, week + 49], "one run catches up"
    assert runs(night, range(week + 12, week + 60)) == [week + 22, week + 46], (
        "but at no other hour than its own"
    )


@pytest.mark.parametrize("name", sorted(SWEEPS))
def test_schedule__every_sweep__is_sent_and_its_message_ends_before_the_next(name: str) -> None:
    entry = app.conf.beat_schedule[f"sweep-{name}"]
    when = entry["schedule"]
    assert entry["task"] in app.tasks
    assert entry["args"] == [name]
    daily = isinstance(when, crontab) and len(when.hour) == 1
    interval = 86400 if daily else 3600 if isinstance(when, crontab) else when.run_every.total_seconds()
    assert 0 < entry["options"]["expires"] < interval
    assert schedule.VALID_SECONDS[name] <= interval
