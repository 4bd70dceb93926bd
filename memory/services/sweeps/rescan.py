"""Memories that today's rules would hold: read again when the rules or the policy about them changed.

What a person released, brought back or let in stays as that person decided.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from memory.domain import sanitisation
from memory.domain.ids import parse_id, show_id
from memory.domain.policy import Policy
from memory.domain.scopes import parse_scope
from memory.models import AuditEvent, Memory, SweepRun
from memory.selectors.policies import ActivePolicy
from memory.services.purify import purify
from memory.services.rows import candidate_of
from memory.services.sweeps.run import Run
from memory.store import bulk
from tenants.context import tenant_context

_BATCH: Final = 500
_BY_A_PERSON: Final = (
    "memory.released", "memory.quarantine_undone", "memory.restored", "memory.admitted", "memory.sweep_undone",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory that would be held now, at the version that was read, and what was found."""

    id: UUID
    version: int
    scope: str
    reason: str
    findings: Sequence[dict[str, Any]]


def rules_now(policy: Policy) -> str:
    """What the rules are: their code and the policy's part of them."""
    said = {"code": _code(), "policy": policy.sanitisation.model_dump(mode="json"), "scopes": policy.scopes}
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:32]


@lru_cache(maxsize=1)
def _code() -> str:
    folder = Path(str(sanitisation.__file__)).parent
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def last_rules(run: Run) -> str:
    """The rules of the last run that read everything.  Inside the tenant's context."""
    rows = SweepRun.objects.filter(name=run.record.name, dry_run=False, status__in=("done", "stopped"))
    last = rows.filter(details__has_key="rules").order_by("-started_at").first()
    return str(last.details["rules"]) if last else ""


def hits(run: Run, active: ActivePolicy) -> Iterator[Hit]:
    """Every readable memory that today's rules would hold, read batch by batch."""
    after = bulk.START
    while True:
        with tenant_context(run.tenant_id):
            rows = list(
                Memory.objects.filter(id__gt=after, status__in=("live", "contested")).order_by("id")[:_BATCH]
            )
            decided = decided_by_others([row.id for row in rows], _BY_A_PERSON)
        run.record.scanned = (run.record.scanned or 0) + len(rows)
        for row in rows:
            if row.id not in decided and (hit := judged(row, active.policy)) is not None:
                yield hit
        run.tell()
        if len(rows) < _BATCH:
            return
        after = rows[-1].id


def decided_by_others(ids: Sequence[UUID], events: Sequence[str]) -> set[UUID]:
    """Those about which somebody else than an agent decided so: an agent may bring back what a sweep took, and that is
    no judgement on it."""
    told = AuditEvent.objects.filter(target_id__in=[show_id("mem", one) for one in ids], action__in=events)
    return {
        parse_id("mem", target)
        for target in told.exclude(actor_kind="agent").values_list("target_id", flat=True)
    }


def judged(row: Memory, policy: Policy) -> Hit | None:
    """What today's rules find in it; None when they would let it pass."""
    clean = purify(candidate_of(row), policy.for_scope(parse_scope(row.scope)))
    reason = clean.reason or ("contains_secret" if clean.held_secret else None)
    if reason is None and clean.candidate.content != row.content:
        reason = "contains_pii"  # what the policy redacts now, and did not when this was written
    if reason is None:
        return None
    return Hit(row.id, row.version, row.scope, reason, [asdict(one) for one in clean.findings])
