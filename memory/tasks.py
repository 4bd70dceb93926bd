"""Celery tasks: they take ids, and one service enters the tenant and does the work.

One message per tenant.  Every task may be delivered twice, or again after its worker was killed.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Event
from typing import Any
from uuid import UUID

from celery import Task, shared_task
from celery.signals import beat_init, worker_ready
from django.db import InterfaceError, OperationalError

from memgov import clock, heartbeat
from memory import schedule
from memory.demo.sandbox import sandbox_fill
from memory.services.alert_delivery import deliveries_send, delivery_send
from memory.services.alerts_watch import sweeps_watched
from memory.services.blast import blast_run
from memory.services.deletion_steps import deletion_run
from memory.services.erasure_run import erasure_run
from memory.services.manifest_months import manifest_months_keep
from memory.services.preview import preview_run
from memory.services.process_watch import process_noted, watch_beat, watch_worker
from memory.services.sweep_runs import sweep_undo_run
from memory.services.sweeps import SWEEPS
from memory.services.sweeps.due import sweep_is_due
from memory.services.tenant_ends import tenants_end
from memory.services.transfer_files import expire
from memory.services.transfer_run import transfer_run
from memory.services.write_jobs import LEASE, write_job_run
from tenants.models import Tenant

# A database that is away for a while costs a message nothing but time.
_RETRIED: dict[str, Any] = {
    "acks_late": True,
    "autoretry_for": (OperationalError, InterfaceError),
    "retry_backoff": 5,
    "retry_backoff_max": 300,
}


def _is_active(tenant_id: str) -> bool:
    """Whether there is anything to do: messages outlive the tenants that they are about."""
    return Tenant.objects.filter(id=UUID(tenant_id), status=Tenant.Status.ACTIVE).exists()


def _job_done(task: Task[Any, Any], run: Callable[[UUID, UUID], str], tenant_id: str, job_id: str) -> str:
    """Carry a job on; how it ended.  While another worker is at it, the message comes back later: that one may have
    died."""
    if not _is_active(tenant_id):
        return "gone"
    ended = run(UUID(tenant_id), UUID(job_id))
    if ended == "busy":
        raise task.retry(countdown=LEASE.total_seconds())
    return ended


@shared_task(name=schedule.DISPATCH, acks_late=True)
def dispatch_sweep(name: str) -> int:
    """Send the sweep to every active tenant, one message each; how many."""
    if name not in SWEEPS:
        raise ValueError(f"there is no sweep {name!r}")
    active = Tenant.objects.filter(status=Tenant.Status.ACTIVE).order_by("id").values_list("id", flat=True)
    count = 0
    for tenant_id in active.iterator():
        run_sweep.apply_async((name, str(tenant_id)), expires=schedule.VALID_SECONDS[name])
        count += 1
    return count


@shared_task(name=schedule.RUN, max_retries=5, **_RETRIED)
def run_sweep(name: str, tenant_id: str) -> str | None:
    """One sweep for one tenant; the status of its run, None when it is not due.  A tenant that is gone or suspended is
    passed over."""
    if not _is_active(tenant_id):
        return None
    if not sweep_is_due(UUID(tenant_id), name):
        return None
    return SWEEPS[name](UUID(tenant_id)).status


@shared_task(name=schedule.WRITE_JOB, bind=True, max_retries=10, **_RETRIED)
def run_write_job(self: Task[Any, Any], tenant_id: str, job_id: str) -> str:
    """Write what was accepted; how it ended."""
    return _job_done(self, write_job_run, tenant_id, job_id)


@shared_task(name=schedule.BLAST_JOB, bind=True, max_retries=10, **_RETRIED)
def run_blast_job(self: Task[Any, Any], tenant_id: str, job_id: str) -> str:
    """Quarantine what a seed reached, or take such a step back; how it ended."""
    return _job_done(self, blast_run, tenant_id, job_id)


@shared_task(name=schedule.SWEEP_UNDO, bind=True, max_retries=10, **_RETRIED)
def run_sweep_undo(self: Task[Any, Any], tenant_id: str, job_id: str) -> str:
    """Bring back what one run of a sweep took; how it ended."""
    return _job_done(self, sweep_undo_run, tenant_id, job_id)


@shared_task(name=schedule.DELETE_JOB, bind=True, max_retries=10, **_RETRIED)
def run_delete_job(self: Task[Any, Any], tenant_id: str, job_id: str) -> str:
    """Delete many memories, or take such a step back; how it ended."""
    return _job_done(self, deletion_run, tenant_id, job_id)


@shared_task(name=schedule.ERASE_JOB, bind=True, max_retries=10, **_RETRIED)
def run_erase_job(self: Task[Any, Any], tenant_id: str, job_id: str) -> str:
    """Erase all about a subject; how it ended."""
    return _job_done(self, erasure_run, tenant_id, job_id)


@shared_task(name=schedule.PREVIEW_JOB, bind=True, max_retries=10, **_RETRIED)
def run_preview_job(self: Task[Any, Any], tenant_id: str, job_id: str) -> str:
    """Try a draft of a policy; how it ended."""
    return _job_done(self, preview_run, tenant_id, job_id)


@shared_task(name=schedule.TRANSFER_JOB, bind=True, max_retries=10, **_RETRIED)
def run_transfer_job(self: Task[Any, Any], tenant_id: str, job_id: str) -> str:
    """Read a foreign store, import it, or export the tenant; how it ended."""
    return _job_done(self, transfer_run, tenant_id, job_id)


@shared_task(name=schedule.MONTHS, acks_late=True)
def keep_manifest_months() -> dict[str, list[str]]:
    """Make the coming months of the manifest tables, drop those that are over for everybody."""
    kept = manifest_months_keep()
    return {name: [f"{month:%Y-%m}" for month in getattr(kept, name)] for name in ("made", "dropped", "left")}


@shared_task(name=schedule.SANDBOX, acks_late=True)
def fill_sandbox(tenant_id: str) -> str:
    """Live the short history of a visitor's own copy of the demo; how it ended."""
    return sandbox_fill(UUID(tenant_id))


@shared_task(name=schedule.TENANT_ENDS, acks_late=True)
def end_tenants() -> dict[str, str]:
    """Delete the tenants whose day has come, or close them where this worker may not delete; and old files."""
    ended = tenants_end()
    expire(clock.now())
    return ended


@shared_task(name=schedule.WATCH_ALL, acks_late=True)
def watch_all() -> int:
    """Send the watch to every active tenant, one message each; how many."""
    active = Tenant.objects.filter(status=Tenant.Status.ACTIVE).order_by("id").values_list("id", flat=True)
    count = 0
    for tenant_id in active.iterator():
        watch_tenant.apply_async((str(tenant_id),), expires=schedule.WATCH_SECONDS)
        count += 1
    return count


@shared_task(name=schedule.WATCH, acks_late=True)
def watch_tenant(tenant_id: str) -> int:
    """Look whether sweeps and the chain are well, and hand on the messages that are due; how many."""
    if not _is_active(tenant_id):
        return 0
    sweeps_watched(UUID(tenant_id))
    return deliveries_send(UUID(tenant_id))


@shared_task(name=schedule.DELIVER, acks_late=True, time_limit=60)
def deliver_alert(tenant_id: str, delivery_id: str) -> str:
    """Send one message about an alert; how it ended.  A repetition finds it taken or done."""
    if not _is_active(tenant_id):
        return "gone"
    return delivery_send(UUID(tenant_id), UUID(delivery_id))


@shared_task(name=schedule.NOTE_PROCESS, acks_late=True)
def note_process(name: str, lives: bool) -> int:
    """Note in every active tenant that a process fell silent or is back; how many."""
    return process_noted(name, lives=lives)


@shared_task(name=schedule.BEAT_HEARTBEAT, ignore_result=True)
def beat_heartbeat() -> None:
    """Beat lives, and its messages arrive."""
    heartbeat.give(heartbeat.BEAT)


worker_ready.connect(watch_beat, weak=False)


@beat_init.connect
def watch_from_beat(**_: Any) -> None:
    """Beat looks at the worker as long as it runs."""
    watch_worker(Event())


@beat_init.connect
def first_runs(sender: Any, **_: Any) -> None:
    """Send what is to run once when beat starts."""
    for name in schedule.AT_START:
        sender.app.send_task(schedule.DISPATCH, [name], expires=schedule.VALID_SECONDS[name])
    # After a long standstill this month may be missing.
    sender.app.send_task(schedule.MONTHS, expires=3600)
