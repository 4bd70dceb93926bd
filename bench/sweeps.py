"""What the sweeps do per second, beside the one SQL statement that would change the same rows and nothing else.

Each round plants a fresh tenant, of whose memories a tenth has faded and a twentieth has ended, and a bare table of
the same size.  Of what is left, a tenth of each scope is over its cap.  Health changes nothing: its rows are those that
it looks at, and the bare statement beside it counts the live ones by owner.

memgov's sweep changes status, revision, search index, run record and audit chain, batch by batch.  One worker does it:
this process.  Beside the rows per second stands the processor time of a row, of the worker and of the database (what
the sweep looks at to find its rows is in it), because a busy machine says little by the clock.
"""

from __future__ import annotations

import os
import resource
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import psycopg

from bench.fill import settled
from bench.machine import Quiet, cpu_seconds
from bench.plant import Planting, plant
from bench.stage import Stage
from memgov import clock

FADED, ENDED, SURPLUS = 10, 20, 10
"""One in so many."""

_COLUMNS = {
    "learned_at": f"CASE WHEN mod(n, {FADED}) = 0 THEN now() - interval '200 days' ELSE now() END",
    "status_changed_at": f"CASE WHEN mod(n, {FADED}) = 0 THEN now() - interval '200 days' ELSE now() END",
    "expires_at": f"CASE WHEN mod(n, {ENDED}) = 1 THEN now() - interval '1 hour' END",
}
_BARE = f"""
DROP TABLE IF EXISTS bare_memory;
CREATE TABLE bare_memory (id uuid PRIMARY KEY, owner text, content text, status text, confidence float8,
                          use_count int, last_used_at timestamptz, learned_at timestamptz, expires_at timestamptz);
INSERT INTO bare_memory
SELECT uuidv7(), 'u' || mod(n, 20), 'Acme Foods ' || n || ' is on the plan tier gold.', 'live', 0.9, 0, NULL,
       {_COLUMNS["learned_at"]}, {_COLUMNS["expires_at"]}
  FROM generate_series(1, {{rows}}) AS n;
CREATE INDEX ON bare_memory (status, expires_at);
VACUUM ANALYZE bare_memory;
"""
_STATEMENTS = {
    "decay": """UPDATE bare_memory SET status = 'evicted'
 WHERE status = 'live' AND confidence * (
       0.6 * exp(-least(100, extract(epoch FROM now() - greatest(last_used_at, learned_at)) / 86400 / 30))
       + 0.4 * ln(1 + use_count) / 3) < 0.15""",
    "expiry": "UPDATE bare_memory SET status = 'expired' WHERE status = 'live' AND expires_at <= now()",
    "compaction": f"""UPDATE bare_memory SET status = 'archived' WHERE id IN (
       SELECT id FROM (SELECT id, row_number() OVER weakest AS place, count(*) OVER (PARTITION BY owner) AS rows
                         FROM bare_memory WHERE status = 'live'
                       WINDOW weakest AS (PARTITION BY owner ORDER BY confidence, learned_at, id)) ranked
        WHERE place <= rows / {SURPLUS})""",
    "health": """SELECT owner, count(*), avg(confidence), count(*) FILTER (WHERE expires_at <= now())
  FROM bare_memory WHERE status = 'live' GROUP BY owner""",
}
_LOOKS: Final = frozenset({"health"})
"""Sweeps that look at rows and change none."""


def run(
    stage: Stage, sizes: Sequence[int], rounds: int, quiet: Quiet, tell: Callable[[str], None]
) -> list[dict[str, Any]]:
    """Rows per second by size and sweep, medians over the rounds."""
    found = []
    for size in sizes:
        blocks: dict[str, dict[str, list[Block]]] = {name: {"bare": [], "memgov": []} for name in _STATEMENTS}
        for number in range(rounds):
            tell(f"planting {size:,}")
            _plant(stage, size)
            for name in _STATEMENTS:
                if name == "compaction":
                    _cap(stage)
                order = ("bare", "memgov") if number % 2 else ("memgov", "bare")
                for system in order:
                    quiet.wait()
                    tell(f"sweep {name} {size:,} {system}")
                    block = measured(lambda: _bare(stage, name) if system == "bare" else _sweep(stage, name))  # noqa: B023
                    blocks[name][system].append(block)
        found += [_row(size, name, of_system) for name, of_system in blocks.items()]
    return found


def steps(sizes: Sequence[int], rounds: int) -> int:
    """How often `tell` will be called."""
    return len(sizes) * rounds * (1 + 2 * len(_STATEMENTS))


@dataclass(frozen=True, slots=True)
class Block:
    """One measurement: rows per second, microseconds of processor time per row, and by how much the worker grew."""

    rate: float
    database: float
    worker: float
    grown_mib: float


def measured(work: Callable[[], int]) -> Block:
    """Do the work, which says how many rows it changed."""
    database, worker, memory = cpu_seconds(os.getpid()), time.process_time(), _most_memory()
    began = time.perf_counter()
    done = max(1, work())
    seconds = time.perf_counter() - began
    return Block(
        rate=done / seconds,
        database=(cpu_seconds(os.getpid()) - database) / done * 1e6,
        worker=(time.process_time() - worker) / done * 1e6,
        grown_mib=(_most_memory() - memory) / 1024,
    )


def _most_memory() -> int:
    """The most that this process has held, in KiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _row(size: int, name: str, blocks: dict[str, list[Block]]) -> dict[str, Any]:
    def middle(figure: str) -> dict[str, float]:
        return {
            system: round(statistics.median([getattr(one, figure) for one in of]), 1)
            for system, of in blocks.items()
        }

    quotients = [bare.rate / ours.rate for bare, ours in zip(blocks["bare"], blocks["memgov"], strict=True)]
    return {
        "sweep": name,
        "size": size,
        "rows_per_second": {system: round(rate) for system, rate in middle("rate").items()},
        # Of memgov only: the bare statement's connection, and its count with it, is gone when it has ended.
        "database_us_per_row": middle("database")["memgov"],
        "worker_us_per_row": middle("worker")["memgov"],
        "worker_grew_mib": middle("grown_mib")["memgov"],
        "bare_by_memgov": round(statistics.median(quotients), 1),
    }


def _plant(stage: Stage, size: int) -> None:
    # The first copies carry the ages; the originals are fresh, so that a size is a little more than its copies.
    plant(stage.make_tenant(), stage.servers.superuser_url, Planting(size, vectors=False, columns=_COLUMNS))
    settled(stage.servers.superuser_url)
    with psycopg.connect(stage.servers.url("superuser", "postgres"), autocommit=True) as connection:
        for statement in _BARE.replace("{rows}", str(size)).split(";"):
            if statement.strip():
                connection.execute(statement.encode())


def _bare(stage: Stage, name: str) -> int:
    with psycopg.connect(stage.servers.url("superuser", "postgres"), autocommit=True) as connection:
        done = connection.execute(_STATEMENTS[name].encode())
        return sum(row[1] for row in done.fetchall()) if name in _LOOKS else done.rowcount


def _cap(stage: Stage) -> None:
    """Lower the cap, so that a tenth of the fullest scope is over it."""
    from memory.selectors.policies import active_policy
    from memory.selectors.removal import live_by_scope
    from memory.services.policies import policy_activate
    from tenants.context import tenant_context
    from tenants.principals import system

    assert stage.principal
    tenant_id = stage.principal.tenant_id
    with tenant_context(tenant_id):
        most = max(one.live for one in live_by_scope(0, clock.now()))
        document = active_policy().policy.model_dump(mode="json")
    document["reconciliation"]["cap"] = max(1, most - most // SURPLUS)
    policy_activate(system(tenant_id, "bench"), document, "to measure compaction")


def _sweep(stage: Stage, name: str) -> int:
    from memory.services.sweeps import SWEEPS

    assert stage.principal
    done = SWEEPS[name](stage.principal.tenant_id)
    if done.status != "done":
        raise RuntimeError(f"the sweep {name} ended as {done.status}: {done.note}")
    return done.scanned if name in _LOOKS else done.changed
