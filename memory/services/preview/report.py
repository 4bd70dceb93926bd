"""The whole preview: every part in its order, as counts, samples and notes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from memory.domain.policy import Policy
from memory.domain.policy_diff import changes, in_words
from memory.domain.preview.tally import Tally, as_json
from memory.selectors import preview_rows as found
from memory.selectors.policies import ActivePolicy, active_policy
from memory.services.preview import entries, reads, writes
from memory.services.preview.looking import Trial, looking

Progress = Callable[[int, int], None]
"""Told how much is done of how much."""

WRITES: Final = 200
READS: Final = 50
MOST_WRITES: Final = 2000
MOST_READS: Final = 500
_REPLAYED: Final = frozenset(
    {"defaults", "admission", "sanitisation", "reconciliation", "decay", "freshness", "retrieval", "digest"}
)


@dataclass(frozen=True, slots=True)
class PreviewReport:
    """What a draft would do beside the policy in force.  Every part holds only what differs between the two."""

    against: int
    at: datetime
    looked_at: dict[str, int]
    stored: list[dict[str, Any]]
    written: list[dict[str, Any]]
    read: list[dict[str, Any]]
    notes: list[str]

    def as_json(self) -> dict[str, Any]:
        return {
            "against": self.against, "at": self.at.isoformat(), "looked_at": self.looked_at, "stored": self.stored,
            "written": self.written, "read": self.read, "notes": self.notes,
        }  # fmt: skip


def preview_report(
    tenant_id: UUID, draft: Policy, *, now: datetime, writes_most: int = WRITES, reads_most: int = READS,
    progress: Progress | None = None,
) -> PreviewReport:  # fmt: skip
    """Try the draft on the tenant's readable entries, its last writes and its last reads.

    Writes nothing: every statement runs in a read-only transaction.  The same data at the same instant give the same
    report.  Keeps counts and a few samples, however much it looks at.
    """
    with looking(tenant_id):
        present = active_policy()
        total = found.readable_count(now)
    trial = Trial(
        tenant_id, present, ActivePolicy(present.number, draft, present.words, present.mounted), now
    )
    done, most = 0, total + writes_most + reads_most

    def tell(more: int) -> None:
        nonlocal done
        done += more
        if progress is not None:
            progress(min(done, most), most)

    tell(0)
    stored = {name: Tally() for name in entries.PARTS}
    entries.removals(trial, stored)
    tell(0)
    look = entries.Entries(trial, stored)
    if look.needed():
        look.look(tell)
    else:
        tell(total)
    entries.same_texts(trial, stored)
    entries.said_alike(trial, stored)
    written = {name: Tally() for name in writes.PARTS}
    repeated = writes.replay_writes(trial, written, writes_most, tell)
    read = {name: Tally() for name in reads.PARTS}
    asked = reads.repeat_reads(trial, read, reads_most, tell)
    digests = reads.repeat_digests(trial, read, reads_most)
    trial.notes.extend(_not_replayed(present.policy, draft))
    return PreviewReport(
        against=present.number,
        at=now,
        looked_at={"entries": total, "writes": repeated, "reads": asked, "digests": digests},
        stored=as_json(stored, entries.PARTS),
        written=as_json(written, writes.PARTS),
        read=as_json(read, reads.PARTS),
        notes=trial.notes,
    )


def _not_replayed(present: Policy, draft: Policy) -> list[str]:
    """The changes whose effect is not shown, because it lies beyond what is stored, written and read."""
    was, will = present.model_dump(mode="json"), draft.model_dump(mode="json")
    lines = [
        in_words(*one)
        for one in changes(was, will)
        if one[0].split(" ")[0] not in (*_REPLAYED, "scopes") or "half life" in one[0]
    ]
    return [f"not tried here: {line}" for line in lines]
