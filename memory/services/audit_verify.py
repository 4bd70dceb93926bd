"""Verifying a tenant's audit chain, in the database or from an export, and exporting it.

An export is JSON lines: first what it is an export of, with the checkpoints known then, then the events as
they were hashed.  It is verified without a database.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, TextIO
from uuid import UUID

from django.conf import settings

from memory.domain import audit_chain
from memory.domain.audit_chain import GENESIS, ChainEvent, ChainReport, Checkpoint
from memory.selectors import audit
from memory.services.errors import Invalid
from memory.store import checkpoints
from tenants.context import tenant_context

FORMAT = "memgov audit export 1"


@dataclass(frozen=True, slots=True)
class Verification:
    """What was found, and the last event of the chain (None for an empty one)."""

    report: ChainReport
    head: Checkpoint | None


class _Watched:
    """The events as they pass, and the last one seen."""

    def __init__(self, events: Iterable[ChainEvent]) -> None:
        self._events = events
        self.last: Checkpoint | None = None

    def __iter__(self) -> Iterator[ChainEvent]:
        for event in self._events:
            self.last = Checkpoint(event.seq, event.hash)
            yield event


def audit_verify(tenant_id: UUID) -> Verification:
    """Walk the whole chain and compare it with every checkpoint: rows, head and the file outside."""
    with tenant_context(tenant_id):
        # Before the events are read: what is appended meanwhile is then in the events and not missed.
        known = _known(tenant_id)
        events = _Watched(audit.chain())
        report = _compared(events, known)
        head = audit.head()
    if report.ok and events.last and (head is None or head.seq < events.last.seq):
        said = (
            f"the chain goes on to number {events.last.seq}, its head says {head.seq if head else 'nothing'}"
        )
        report = ChainReport(False, report.count, None, "rewritten", said)
    return Verification(report, events.last)


def audit_export(tenant_id: UUID, slug: str, file: TextIO, now: datetime) -> int:
    """Write the chain as JSON lines; how many events."""
    count = 0
    with tenant_context(tenant_id):
        points = [{"seq": point.seq, "hash": point.hash.hex()} for point in _known(tenant_id)]
        _line(file, {"format": FORMAT, "tenant": slug, "tenant_id": str(tenant_id), "at": now.isoformat(),
                     "checkpoints": points})  # fmt: skip
        for event in audit.chain():
            payload = audit_chain.canonical_payload(event.payload)
            _line(file, {"id": event.id, "hash": event.hash.hex(), "payload": payload})
            count += 1
    return count


def audit_verify_file(path: Path) -> tuple[str, Verification]:
    """Verify an export; the name of its tenant and what was found.  Raises `Invalid` for anything else."""
    with path.open(encoding="utf-8") as file:
        try:
            header = json.loads(file.readline())
            if header["format"] != FORMAT:
                raise ValueError
            known = [Checkpoint(int(one["seq"]), bytes.fromhex(one["hash"])) for one in header["checkpoints"]]
        except (ValueError, KeyError, TypeError):
            raise Invalid(f"{path} is no audit export; `verify-audit --export` writes one") from None
        events = _Watched(_exported(file))
        return str(header.get("tenant", "")), Verification(_compared(events, known), events.last)


def _known(tenant_id: UUID) -> list[Checkpoint]:
    return [*audit.checkpoints(), *checkpoints.read_file(Path(settings.MEMGOV_CHECKPOINT_FILE), tenant_id)]


def _compared(events: Iterable[ChainEvent], known: list[Checkpoint]) -> ChainReport:
    """The walk's report; where it finds nothing, two checkpoints that contradict one another are the fault."""
    report = audit_chain.verify(events, known)
    by_seq: dict[int, bytes] = {}
    for point in known:
        if by_seq.setdefault(point.seq, point.hash) != point.hash and report.ok:
            said = f"two checkpoints disagree about event number {point.seq}"
            return ChainReport(False, report.count, None, "rewritten", said)
    return report


def _exported(file: TextIO) -> Iterator[ChainEvent]:
    previous = GENESIS
    for number, line in enumerate(file, 2):
        try:
            one: dict[str, Any] = json.loads(line)
            event = ChainEvent(
                str(one["id"]),
                int(one["payload"]["seq"]),
                previous,
                bytes.fromhex(one["hash"]),
                one["payload"],
            )
        except (ValueError, KeyError, TypeError):
            raise Invalid(f"line {number} of the export cannot be read") from None
        yield event
        previous = event.hash


def _line(file: TextIO, value: dict[str, Any]) -> None:
    file.write(json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n")
