"""Writing review rows: promotion requests, decisions on them, contradictions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from memory.models import Contradiction, PromotionDecision, PromotionNote, PromotionRequest
from tenants.context import current_tenant_id


def insert_request(request: PromotionRequest) -> None:
    """Store a new promotion request."""
    request.tenant_id = current_tenant_id()
    PromotionRequest.objects.bulk_create([request])


def lock_request(request_id: UUID) -> PromotionRequest | None:
    """The request, locked."""
    return PromotionRequest.objects.select_for_update().filter(id=request_id).first()


def close_request(request: PromotionRequest, status: str, now: datetime, result: UUID | None) -> None:
    """End a locked request with a status and the memory that came of it."""
    update_request(request, status=status, decided_at=now, result_memory_id=result)


def update_request(request: PromotionRequest, **fields: object) -> None:
    """Change a locked request; every change raises its version."""
    request.version += 1
    PromotionRequest.objects.filter(id=request.id).update(version=request.version, **fields)
    for name, value in fields.items():
        setattr(request, name, value)


def insert_decision(decision: PromotionDecision) -> PromotionDecision:
    """Store a decision."""
    decision.tenant_id = current_tenant_id()
    PromotionDecision.objects.bulk_create([decision])
    return decision


def insert_contradictions(contradictions: Sequence[Contradiction]) -> None:
    """Store open contradictions; one that is already open for its pair stays as it is."""
    if not contradictions:
        return
    for contradiction in contradictions:
        contradiction.tenant_id = current_tenant_id()
    Contradiction.objects.bulk_create(contradictions, ignore_conflicts=True)


def lock_contradiction(contradiction_id: UUID) -> Contradiction | None:
    """The contradiction, locked."""
    return Contradiction.objects.select_for_update().filter(id=contradiction_id).first()


def update_contradiction(contradiction: Contradiction, **fields: object) -> None:
    """Change a locked contradiction; every change raises its version."""
    contradiction.version += 1
    Contradiction.objects.filter(id=contradiction.id).update(version=contradiction.version, **fields)
    for name, value in fields.items():
        setattr(contradiction, name, value)


def keep_undo(contradiction: Contradiction, undo: dict[str, Any]) -> None:
    """Keep what takes a locked settlement back; the decision itself is the same, and so is its version."""
    Contradiction.objects.filter(id=contradiction.id).update(undo=undo)
    contradiction.undo = undo


def insert_note(note: PromotionNote) -> PromotionNote:
    """Store a snooze, a question or an answer."""
    note.tenant_id = current_tenant_id()
    PromotionNote.objects.bulk_create([note])
    return note


def end_snoozes(request_id: UUID, actor_id: str, now: datetime) -> int:
    """End what one person put off; how many there were."""
    mine = PromotionNote.objects.filter(
        request_id=request_id, kind="snooze", actor_id=actor_id, ended_at=None
    )
    return mine.filter(until__gt=now).update(ended_at=now)
