"""What it takes to try a policy on a tenant's own memories, and how much memory of the process that takes.

One planted tenant per size; a tenth of its memories is 200 days old.  The drafts go from what is a matter of one SQL
statement to what has every text judged again.
"""

from __future__ import annotations

import resource
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from bench.fill import settled
from bench.machine import Quiet
from bench.plant import Planting, plant
from bench.stage import Stage

_COLUMNS: Final = {
    "learned_at": "CASE WHEN mod(n, 10) = 0 THEN now() - interval '200 days' ELSE now() END",
    "status_changed_at": "CASE WHEN mod(n, 10) = 0 THEN now() - interval '200 days' ELSE now() END",
}
# Beside a policy in force whose gate asks nothing: so every switch of the default is new to every text.
DRAFTS: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "floor": ("default", {"decay": {"floor": 0.3}, "reconciliation": {"cap": 50}}),
    "bands": ("default", {"freshness": {"bands": {"fact": {"fresh_days": 10, "aging_days": 20}}}}),
    "trust": ("default", {"admission": {"trust_floor": {"narrow": 0.8, "middle": 0.8, "wide": 0.8}}}),
    "everything": ("open", {}),
}


def steps(sizes: Sequence[int], rounds: int) -> int:
    """How often `tell` will be called."""
    return len(sizes) * len(DRAFTS) * (1 + rounds)


def run(
    stage: Stage, sizes: Sequence[int], rounds: int, quiet: Quiet, tell: Callable[[str], None]
) -> list[dict[str, Any]]:
    """Seconds by the clock and of this process alone (medians over the rounds), and by how much it grew, by size and
    draft."""
    from memgov import clock
    from memory.domain.policy import Policy
    from memory.services.preview import preview_report

    found = []
    for size in sizes:
        for name, (present, document) in DRAFTS.items():
            tell(f"planting {size:,}")
            principal = stage.make_tenant(present)
            plant(principal, stage.servers.superuser_url, Planting(size, vectors=False, columns=_COLUMNS))
            settled(stage.servers.superuser_url)
            draft, wall, own = Policy.model_validate(document), [], []
            before = _most_memory()
            for _ in range(rounds):
                quiet.wait()
                tell(f"preview {name} {size:,}")
                began, worked = time.perf_counter(), time.process_time()
                report = preview_report(principal.tenant_id, draft, now=clock.now())
                wall.append(time.perf_counter() - began)
                own.append(time.process_time() - worked)
            found.append(
                {
                    "draft": name,
                    "size": size,
                    "entries": report.looked_at["entries"],
                    "told": sum(part["count"] for part in report.stored),
                    "seconds": round(statistics.median(wall), 2),
                    "own_seconds": round(statistics.median(own), 2),
                    "grown_mib": round((_most_memory() - before) / 1024, 1),
                }
            )
    return found


def _most_memory() -> int:
    """The most that this process ever held, in KiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
