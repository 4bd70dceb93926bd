"""Writing jobs: their request (encrypted while it waits), their lease, their progress and their end."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from cryptography.fernet import Fernet
from django.conf import settings
from django.db.models import F

from memory.models import Job
from tenants.context import current_tenant_id

QUEUED, RUNNING, DONE, FAILED, CANCELLED = "queued", "running", "done", "failed", "cancelled"
ENDED: Final = (DONE, FAILED, CANCELLED)
LEASE: Final = timedelta(seconds=60)
"""After this without a sign of it, a worker is taken for dead."""


def insert(job: Job, request: Any) -> None:
    """Store a job with what it is to do."""
    job.tenant_id = current_tenant_id()
    job.request = _box().encrypt(json.dumps(request).encode())
    Job.objects.bulk_create([job])


def request_of(job: Job) -> Any:
    """What the job is to do."""
    assert job.request is not None  # it is kept until the job has ended
    return json.loads(_box().decrypt(bytes(job.request)))


def request_again(job_id: UUID) -> Any:
    """What the job is to do by now: an erasure takes out what it erases.  None when it has ended."""
    job: Job | None = Job.objects.filter(id=job_id).only("tenant_id", "id", "request").first()
    return request_of(job) if job is not None and job.request is not None else None


def put_request(job: Job, request: Any) -> None:
    """Have a job that has not ended do something else."""
    kept = _box().encrypt(json.dumps(request).encode())
    Job.objects.filter(id=job.id).exclude(request=None).update(request=kept)


def _box() -> Fernet:
    """The tenant's own key, derived from the product's secret."""
    secret = str(settings.SECRET_KEY).encode()
    key = hmac.new(secret, b"memgov job request " + current_tenant_id().bytes, hashlib.sha256).digest()
    return Fernet(base64.urlsafe_b64encode(key))


def take(job_id: UUID, now: datetime) -> Job | None:
    """The job, marked as being worked on and counted; None when it has ended, is not there, or another worker is alive
    on it."""
    job: Job | None = Job.objects.select_for_update().filter(id=job_id).first()
    if job is None or job.status in ENDED:
        return None
    if job.status == RUNNING and now - job.touched_at < LEASE:
        return None
    job.status, job.takes = RUNNING, job.takes + 1
    Job.objects.filter(id=job.id).update(status=RUNNING, touched_at=now, takes=job.takes)
    return job


def lock(job_id: UUID) -> Job | None:
    """The job, locked."""
    job: Job | None = Job.objects.select_for_update().filter(id=job_id).first()
    return job


def keep_result(job: Job, result: dict[str, Any]) -> None:
    """Keep what is to be told of the job."""
    Job.objects.filter(id=job.id).update(result=result)
    job.result = result


def touch(job_id: UUID, now: datetime) -> None:
    """Say that whoever works on it is alive."""
    Job.objects.filter(id=job_id).update(touched_at=now)


def progress(job_id: UUID) -> int:
    """How much of the job is done."""
    return int(Job.objects.values_list("done", flat=True).get(id=job_id))


def tell(job: Job, done: int, total: int, now: datetime) -> None:
    """How far the work is; a sign of life as well."""
    Job.objects.filter(id=job.id, status=RUNNING).update(done=done, total=total, touched_at=now)


def got_further(job: Job) -> None:
    """Count the workers of a job anew: one has done work that stays."""
    Job.objects.filter(id=job.id, status=RUNNING).update(takes=0)
    job.takes = 0


def conclude(job: Job, result: dict[str, Any], now: datetime) -> None:
    """End the job with what came of it."""
    Job.objects.filter(id=job.id, status=RUNNING).update(
        status=DONE, result=result, request=None, done=F("total"), finished_at=now, touched_at=now
    )


def cancel(job: Job, now: datetime) -> None:
    """End a job that waits; ask the worker of one that runs to stop."""
    job.result = {**(job.result or {}), "cancel": True}
    if job.status == QUEUED:
        job.status = CANCELLED
        Job.objects.filter(id=job.id).update(
            status=CANCELLED, result=job.result, request=None, finished_at=now, touched_at=now
        )
    else:
        Job.objects.filter(id=job.id).update(result=job.result)


def is_cancelled(job_id: UUID) -> bool:
    """Whether the job was asked to stop."""
    return Job.objects.filter(id=job_id, result__cancel=True).exists()


def is_held(job_id: UUID) -> bool:
    """Whether the job is being worked on."""
    return Job.objects.filter(id=job_id, status=RUNNING).exists()


def advance(job: Job, results: Sequence[Any], now: datetime) -> bool:
    """Keep the results so far; False when another worker has taken over."""
    result = {"results": list(results)}
    rows = Job.objects.filter(id=job.id, status=RUNNING, done=job.done)
    if not rows.update(done=len(results), result=result, touched_at=now, takes=0):
        return False
    job.done = len(results)
    return True


def end(job: Job, status: str, now: datetime, error: str = "") -> None:
    """End the job; what it was to do is forgotten."""
    Job.objects.filter(id=job.id, status=RUNNING).update(
        status=status, error=error[:500], request=None, finished_at=now, touched_at=now
    )


def stranded(since: datetime, limit: int) -> list[tuple[UUID, str]]:
    """Jobs, with their kind, that nobody has worked on since: their message was lost, or their worker died."""
    rows = Job.objects.filter(status__in=(QUEUED, RUNNING), touched_at__lte=since).exclude(request=None)
    return list(rows.order_by("touched_at", "id").values_list("id", "kind")[:limit])
