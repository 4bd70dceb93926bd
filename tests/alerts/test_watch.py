"""Sweeps that fail or stop, a broken chain, late measuring, silent processes: alerts that end when it is over."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from django.core.cache import cache

from memgov import clock, heartbeat
from memory.models import Alert, AlertDelivery, SweepRun
from memory.services import process_watch
from memory.services.alert_settings import channel_add
from memory.services.alerts_watch import process_watched, sweeps_watched
from memory.services.sweeps import sweep_chain
from tenants.models import Tenant
from tests.sweeps.planting import NOW, Plot

pytestmark = pytest.mark.usefixtures("database")
HOUR = timedelta(hours=1)


def ran(plot: Plot, name: str, status: str, hour: int, note: str = "") -> None:
    with plot.stage.context():
        SweepRun(name=name, status=status, started_at=NOW + hour * HOUR, note=note).save()


def standing(plot: Plot) -> list[tuple[str, str, str]]:
    with plot.stage.context():
        rows = Alert.objects.filter(ended_at=None).order_by("kind")
        return list(rows.values_list("kind", "target", "severity"))


def test_sweep__failed__alerts_until_it_runs_well_again() -> None:
    plot = Plot()
    ran(plot, "expiry", "done", 0)
    ran(plot, "decay", "failed", 0, "OperationalError: the disk is full")
    for minute in range(3):
        sweeps_watched(plot.tenant_id, NOW + HOUR + timedelta(minutes=minute))
    assert standing(plot) == [("sweep_failed", "decay", "critical")]
    with plot.stage.context():
        assert "the disk is full" in Alert.objects.get().message and Alert.objects.get().count == 1
    ran(plot, "decay", "running", 1)
    sweeps_watched(plot.tenant_id, NOW + 1.5 * HOUR)
    assert len(standing(plot)) == 1, "one that has only begun proves nothing"
    ran(plot, "decay", "done", 2)
    sweeps_watched(plot.tenant_id, NOW + 2 * HOUR)
    assert standing(plot) == []


def test_sweep__stopped_by_the_guard__waits_for_a_person() -> None:
    plot = Plot()
    ran(plot, "compaction", "stopped", 0, "project:alpha would lose 80 of 100")
    sweeps_watched(plot.tenant_id, NOW)
    assert standing(plot) == [("sweep_stopped", "compaction", "warning")]
    with plot.stage.context():
        assert "80 of 100" in Alert.objects.get().message


def test_chain__broken__is_critical_and_told(superuser_url: str) -> None:
    import psycopg

    plot = Plot()
    channel_add(plot.stage.owner.principal, "email", "alerts@example.test", "critical")
    with psycopg.connect(superuser_url) as intruder:
        intruder.execute("SET session_replication_role = replica")
        intruder.execute(
            "UPDATE memory_auditevent SET reason = 'rewritten' WHERE tenant_id = %s AND seq = 1",
            [plot.tenant_id],
        )
    run = sweep_chain(plot.tenant_id)
    assert run.status == "failed"
    sweeps_watched(plot.tenant_id)
    assert standing(plot) == [("chain_broken", "chain", "critical")]
    with plot.stage.context():
        assert "broken at" in AlertDelivery.objects.get().body["data"]["message"]


def test_measuring__hours_ago__is_late_until_it_is_done() -> None:
    plot = Plot()
    sweeps_watched(plot.tenant_id, NOW)
    assert standing(plot) == [], "a tenant that was never measured has just begun"
    ran(plot, "health", "done", 0)
    sweeps_watched(plot.tenant_id, NOW + 3 * HOUR)
    assert standing(plot) == []
    sweeps_watched(plot.tenant_id, NOW + 5 * HOUR)
    assert standing(plot) == [("sweep_late", "health", "warning")]
    ran(plot, "health", "done", 6)
    sweeps_watched(plot.tenant_id, NOW + 6 * HOUR)
    assert standing(plot) == []


def test_process__silent_then_back__is_one_alert_with_an_end() -> None:
    plot = Plot()
    for _ in range(3):
        process_watched(plot.tenant_id, "worker", lives=False, now=NOW)
    assert standing(plot) == [("process_silent", "worker", "critical")]
    process_watched(plot.tenant_id, "beat", lives=True, now=NOW)
    assert len(standing(plot)) == 1
    process_watched(plot.tenant_id, "worker", lives=True, now=NOW + HOUR)
    assert standing(plot) == []


def test_worker__silent__beat_notes_and_tells_it_itself() -> None:
    """The thread that beat runs, with the real signs of life and a real mailbox."""
    from django.test import override_settings

    from tests.receivers import mail_server

    plot = Plot()
    channel_add(plot.stage.owner.principal, "email", "alerts@example.test")
    cache.delete("heartbeat:worker")
    # Every active tenant is told, and the tests before this one left thousands.
    others = list(
        Tenant.objects.filter(status="active").exclude(id=plot.tenant_id).values_list("id", flat=True)
    )
    Tenant.objects.filter(id__in=others).update(status="suspended")
    stop, pause = threading.Event(), threading.Event()
    smtp = "django.core.mail.backends.smtp.EmailBackend"
    with (
        mail_server() as box,
        override_settings(EMAIL_BACKEND=smtp, EMAIL_HOST="127.0.0.1", EMAIL_PORT=box.port),
    ):
        thread = process_watch.watch_worker(stop, first=0.05, every=0.05)
        try:
            for _ in range(400):
                mine = [one for one in box.mails if plot.stage.tenant.slug in str(one["Subject"])]
                if mine:
                    break
                cache.delete("heartbeat:worker")  # another test's worker may live
                pause.wait(0.05)
            assert "The worker gives no sign of life" in str(mine[0]["Subject"])
            heartbeat.give(heartbeat.WORKER)
            for _ in range(400):
                if not standing(plot):
                    break
                pause.wait(0.05)
            assert standing(plot) == []
        finally:
            stop.set()
            thread.join(10)
            cache.delete("heartbeat:worker")
            Tenant.objects.filter(id__in=others).update(status="active")


def test_look__tells_changes_only() -> None:
    look = process_watch.Look("worker")
    cache.delete("heartbeat:worker")
    assert [look.changed(), look.changed()] == [False, None]
    heartbeat.give(heartbeat.WORKER)
    assert [look.changed(), look.changed()] == [True, None]
    cache.delete("heartbeat:worker")
    assert clock.now() and look.changed() is False
