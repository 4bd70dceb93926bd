"""Imports and exports asked for, worked on and looked at."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memory.models import Job
    from tests.factories import Stage


ROWS = (
    b'[{"memory": "Pumps of the lower basin are serviced each March."},'
    b' {"memory": "ok"}, {"memory": "Valve 9 opens towards the north wall."}, {"memory": ""}]'
)


def look(stage: Stage, content: bytes = ROWS, **wish: str) -> Job:
    from memory.services.transfer_files import Incoming
    from memory.services.transfers import Wish, import_look

    incoming = Incoming()
    incoming.write(content)
    return import_look(stage.owner.principal, incoming, Wish("store.json", **wish))


def run(stage: Stage, job: Job) -> Job:
    from memory.services.transfer_run import transfer_run

    transfer_run(stage.tenant.id, job.id)
    return now_of(stage, job)


def now_of(stage: Stage, job: Job) -> Job:
    from memory.models import Job as Jobs

    with stage.context():
        found: Job = Jobs.objects.get(id=job.id)
    return found


def contents(stage: Stage) -> list[str]:
    from memory.models import Memory

    with stage.context():
        return sorted(Memory.objects.values_list("content", flat=True))


def events(stage: Stage) -> list[str]:
    from memory.models import AuditEvent

    with stage.context():
        found = AuditEvent.objects.filter(target_kind="job").order_by("seq").values_list("action", flat=True)
        return list(found)


def files(stage: Stage) -> list[Path]:
    from memory.services.transfer_files import folder_of

    return sorted(folder_of(stage.tenant.id).iterdir())
