"""What else is under way when a subject is erased: nothing that was asked for before may bring it back afterwards.

Candidates that wait to be written lose what is the subject's.  Imports and exports are stopped, and their files go:
an export holds the whole tenant, and a packed upload cannot be looked through.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from memory.domain.needles import Needles
from memory.domain.normalise import BadText, TooLong, normalise_subject
from memory.models import Job
from memory.services.errors import Conflict, NotFound
from memory.services.job_queue import TASK_OF_KIND
from memory.services.transfer_files import folder_of, remove
from memory.services.transfers import KINDS as TRANSFERS
from memory.services.transfers import transfer_cancel
from memory.store import jobs
from tenants.context import tenant_context
from tenants.principals import Principal

_LONGEST_WAIT: Final = 20.0
_LOOK_AGAIN: Final = 0.2
_PROBLEM: Final = {
    "status": 410,
    "code": "erased",
    "detail": "the subject was erased after this was sent; it was not written",
}


def waiting_cleaned(names: Sequence[str], needles: Needles) -> tuple[int, dict[UUID, int]]:
    """Take the subject out of what waits to be written: how many items, and of the jobs under way how far they are.

    Inside the tenant's context.
    """
    items, under_way = 0, {}
    rows: Any = Job.objects.filter(status__in=(jobs.QUEUED, jobs.RUNNING)).exclude(request=None)
    for job in rows.exclude(kind__in=tuple(TASK_OF_KIND)).order_by("id"):
        request = jobs.request_of(job)
        if not isinstance(request, list):
            continue
        kept = [{"problem": _PROBLEM} if _is_theirs(item, names, needles) else item for item in request]
        found = sum(one is not other for one, other in zip(kept, request, strict=True))
        if found:
            items += found
            jobs.put_request(job, kept)
        if job.status == jobs.RUNNING:
            under_way[job.id] = job.done
    return items, under_way


def _is_theirs(item: Mapping[str, Any], names: Sequence[str], needles: Needles) -> bool:
    asked = item.get("request")
    if not isinstance(asked, dict):
        return False
    try:
        subject = normalise_subject(str(asked.get("subject", "")))
    except (BadText, TooLong):
        subject = ""
    return subject in names or asked.get("scope") in names or needles.taken_out(asked) != asked


def waited_for(tenant_id: UUID, under_way: Mapping[UUID, int]) -> None:
    """Wait until these jobs have gone beyond the items that they had read before; not for ever."""
    end = time.monotonic() + _LONGEST_WAIT
    left = dict(under_way)
    while left and time.monotonic() < end:
        with tenant_context(tenant_id):
            now = dict(Job.objects.filter(id__in=list(left), status=jobs.RUNNING).values_list("id", "done"))
        left = {job_id: done for job_id, done in left.items() if now.get(job_id) == done}
        if left:
            time.sleep(_LOOK_AGAIN)


def transfers_stopped(principal: Principal) -> int:
    """Stop imports and exports that are under way; how many."""
    with tenant_context(principal.tenant_id):
        rows = Job.objects.filter(kind__in=TRANSFERS, status__in=(jobs.QUEUED, jobs.RUNNING))
        ids = list(rows.values_list("id", flat=True))
    stopped = 0
    for job_id in ids:
        try:
            transfer_cancel(principal, job_id)
            stopped += 1
        except (Conflict, NotFound):  # it ended at this very moment
            continue
    return stopped


def files_removed(tenant_id: UUID) -> int:
    """Take every kept file of the tenant away; how many."""
    gone = 0
    for path in list(folder_of(tenant_id).iterdir()):
        try:
            remove(tenant_id, UUID(hex=path.name[:32]))
        except ValueError:  # not one of ours
            continue
        gone += not path.exists()
    return gone
