"""Sending a job's message: which task works on which kind of job."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from django.db import transaction

from memgov.celery import app
from memory import schedule

TASK_OF_KIND: Final = {
    "blast.quarantine": schedule.BLAST_JOB,
    "blast.undo": schedule.BLAST_JOB,
    "sweep.undo": schedule.SWEEP_UNDO,
    "memories.delete": schedule.DELETE_JOB,
    "memories.undelete": schedule.DELETE_JOB,
    "subject.erase": schedule.ERASE_JOB,
    "policy.preview": schedule.PREVIEW_JOB,
    "import.preview": schedule.TRANSFER_JOB,
    "import.run": schedule.TRANSFER_JOB,
    "import.undo": schedule.TRANSFER_JOB,
    "export.trial": schedule.TRANSFER_JOB,
    "export.run": schedule.TRANSFER_JOB,
}
"""Kinds that have a task of their own; the others are writes."""


def dispatch(tenant_id: UUID, job_id: UUID, kind: str = "") -> None:
    """Send the job's message once the transaction is committed.  A broker that is down loses no job: the sweep of
    tasks sends the message again."""
    task = TASK_OF_KIND.get(kind, schedule.WRITE_JOB)
    transaction.on_commit(lambda: app.send_task(task, [str(tenant_id), str(job_id)]), robust=True)
