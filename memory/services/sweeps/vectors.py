"""Vectors: what came in since the last run is taken into the vector index, in tenants that are large enough to need it.

Until then a search looks at each of these rows, so that nothing is missed; a run only makes searches faster.  Nothing
of a memory changes, and nothing is audited.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final
from uuid import UUID

from memory.models import MemoryIndex, SweepRun
from memory.selectors.candidates import MOST_EXACT
from memory.selectors.policies import active_policy
from memory.services.sweeps.run import Progress, running
from memory.store import search_index
from tenants.context import tenant_context

_BATCH: Final = 500


def sweep_vectors(
    tenant_id: UUID, *, dry_run: bool = False, progress: Progress | None = None, now: datetime | None = None
) -> SweepRun:
    """Feed the vector index of a tenant with more rows than are looked at one by one."""
    with running(tenant_id, "vectors", dry_run=dry_run, progress=progress, now=now) as run:
        with tenant_context(tenant_id):
            run.record.policy_version = active_policy().number
            wanted = MemoryIndex.objects.filter(settled=False, embedding__isnull=False).count()
            small = MemoryIndex.objects.count() <= MOST_EXACT
        if dry_run:
            run.record.changed = 0 if small else wanted
        taken = 0 if small or dry_run else _BATCH
        while taken == _BATCH:
            with tenant_context(tenant_id):
                taken = search_index.settle(_BATCH)
            run.record.changed += taken
            run.tell(wanted)
        with tenant_context(tenant_id):
            run.finish()
    return run.result()
