"""Background work that keeps memory true: one file per sweep, one call per tenant.

Every sweep may be run twice, side by side, and again after it was killed: it works in batches, each committed
whole with its audit events, and passes over rows that someone else holds.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final, Protocol
from uuid import UUID

from memory.models import SweepRun
from memory.services.sweeps.chain import sweep_chain
from memory.services.sweeps.compaction import sweep_compaction
from memory.services.sweeps.decay import sweep_decay
from memory.services.sweeps.dedup import sweep_dedup
from memory.services.sweeps.episodes import sweep_episodes
from memory.services.sweeps.expiry import sweep_expiry
from memory.services.sweeps.health import sweep_health
from memory.services.sweeps.poisoning import sweep_poisoning
from memory.services.sweeps.retention import sweep_retention
from memory.services.sweeps.run import Progress
from memory.services.sweeps.staleness import sweep_staleness
from memory.services.sweeps.tasks import sweep_tasks
from memory.services.sweeps.vectors import sweep_vectors


class Sweep(Protocol):
    """How every sweep is called."""

    def __call__(
        self,
        tenant_id: UUID,
        *,
        dry_run: bool = False,
        progress: Progress | None = None,
        now: datetime | None = None,
    ) -> SweepRun: ...


SWEEPS: Final[dict[str, Sweep]] = {
    "expiry": sweep_expiry,
    "decay": sweep_decay,
    "staleness": sweep_staleness,
    "compaction": sweep_compaction,
    "health": sweep_health,
    "chain": sweep_chain,
    "tasks": sweep_tasks,
    "retention": sweep_retention,
    "dedup": sweep_dedup,
    "episodes": sweep_episodes,
    "poisoning": sweep_poisoning,
    "vectors": sweep_vectors,
}

__all__ = [
    "SWEEPS", "Progress", "Sweep", "sweep_chain", "sweep_compaction", "sweep_decay", "sweep_dedup", "sweep_episodes",
    "sweep_expiry", "sweep_health", "sweep_poisoning", "sweep_retention", "sweep_staleness", "sweep_tasks",
    "sweep_vectors",
]  # fmt: skip
