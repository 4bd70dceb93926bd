"""Reading the audit: the chain as it was hashed, and pages of it."""

from __future__ import annotations

from collections.abc import Iterator

from memory.domain.audit_chain import GENESIS, ChainEvent, Checkpoint
from memory.models import AuditCheckpoint, AuditEvent, AuditHead

HASHED = (
    "id", "seq", "at", "actor_kind", "actor_id", "actor_name", "action", "target_kind", "target_id", "scope",
    "reason", "before", "after", "policy_version", "request_id",
)  # fmt: skip


def chain() -> Iterator[ChainEvent]:
    """Every event of the current tenant in the order of the chain, from a server-side cursor."""
    previous = GENESIS
    for event in AuditEvent.objects.order_by("seq").iterator(chunk_size=2000):
        stored = bytes(event.hash)
        payload = {name: getattr(event, name) for name in HASHED}
        yield ChainEvent(f"evt_{event.id.hex}", event.seq, previous, stored, payload)
        previous = stored


def checkpoints() -> list[Checkpoint]:
    """Heads that the chain must still contain: those of earlier verifications, and the present head."""
    found = [Checkpoint(seq, bytes(head)) for seq, head in AuditCheckpoint.objects.values_list("seq", "hash")]
    head = AuditHead.objects.values_list("seq", "hash").first()
    if head and head[0] > 0:
        found.append(Checkpoint(head[0], bytes(head[1])))
    return found


def head() -> Checkpoint | None:
    """The head of the chain; None before the first event."""
    row = AuditHead.objects.values_list("seq", "hash").first()
    return Checkpoint(row[0], bytes(row[1])) if row else None
