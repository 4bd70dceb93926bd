"""Chain verification: the whole audit chain is walked, and a chain that holds gets a checkpoint.

A broken chain is left exactly as it is: the run fails and says where, and no event is appended by it.
"""

from __future__ import annotations

import logging
from datetime import datetime
from pathlib import Path
from uuid import UUID

from django.conf import settings

from memory.models import SweepRun
from memory.services.audit_verify import Verification, audit_verify
from memory.services.sweeps.run import FAILED, Progress, Run, running
from memory.store import checkpoints
from tenants.context import tenant_context

log = logging.getLogger(__name__)


def sweep_chain(
    tenant_id: UUID, *, dry_run: bool = False, progress: Progress | None = None, now: datetime | None = None
) -> SweepRun:
    """Verify the chain; status `failed` when it is broken, with the first broken event in the note."""
    with running(tenant_id, "chain", dry_run=dry_run, progress=progress, now=now) as run:
        found = audit_verify(tenant_id)
        run.record.scanned = found.report.count
        if not found.report.ok:
            run.status = FAILED
            where = found.report.first_broken or "the end of the chain"
            run.record.note = f"broken at {where} ({found.report.problem}): {found.report.explanation}"
            log.error("audit chain of tenant %s %s", tenant_id, run.record.note)
        with tenant_context(tenant_id):
            if found.report.ok and not dry_run:
                _keep(run, found)
            run.finish()
    return run.result()


def _keep(run: Run, found: Verification) -> None:
    if found.head is None:
        return
    checkpoints.insert(found.head, run.now)
    try:
        checkpoints.append_to_file(Path(settings.MEMGOV_CHECKPOINT_FILE), run.tenant_id, found.head, run.now)
    except OSError as error:
        run.record.note = (
            f"the chain holds, but its checkpoint could not be kept outside the database: {error}"
        )
        log.warning("checkpoint file: %s", error)
