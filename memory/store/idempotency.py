"""Keeping the answers to requests that carry an idempotency key.

A row is taken before the work and completed after it, each in a transaction of its own, so that of two equal
requests at once one works and the other is told.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from memgov.ids import floor_id, new_id
from memory.models import IdempotencyKey
from tenants.context import current_tenant_id

KEPT_FOR = timedelta(hours=24)
# After this an unfinished row belongs to a process that died; no request runs that long.
ABANDONED_AFTER = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Taken:
    """The row of a key: ours to complete (`mine`), or somebody's, with the answer once there is one."""

    id: UUID
    mine: bool
    body_hash: bytes
    status: int | None
    answer: Any


def take(key_id: UUID, key: str, body_hash: bytes, now: datetime) -> Taken:
    """Take the key for a request, unless an answer or a running request holds it."""
    row = IdempotencyKey(
        tenant_id=current_tenant_id(),
        id=new_id(now),
        key_id=key_id,
        key=key,
        body_hash=body_hash,
        created_at=now,
    )
    IdempotencyKey.objects.bulk_create([row], ignore_conflicts=True)
    held = IdempotencyKey.objects.select_for_update().get(key_id=key_id, key=key)
    if held.id == row.id:
        return Taken(row.id, True, body_hash, None, None)
    age = now - held.created_at
    if age > KEPT_FOR or (held.status is None and age > ABANDONED_AFTER):
        IdempotencyKey.objects.filter(id=held.id).update(
            body_hash=body_hash, status=None, answer=None, created_at=now
        )
        return Taken(held.id, True, body_hash, None, None)
    return Taken(held.id, False, bytes(held.body_hash), held.status, held.answer)


def complete(row_id: UUID, status: int, answer: Any) -> None:
    """Keep the answer for whoever asks again."""
    IdempotencyKey.objects.filter(id=row_id).update(status=status, answer=answer)


def release(row_id: UUID) -> None:
    """Give the key back: nothing was done under it."""
    IdempotencyKey.objects.filter(id=row_id, status=None).delete()


def drop_old(now: datetime, most: int) -> int:
    """Delete at most `most` keys whose time is over; with 0 only count them.  A key that somebody just takes again is
    passed over."""
    end = now - KEPT_FOR
    rows = IdempotencyKey.objects.filter(id__lt=floor_id(end), created_at__lt=end)
    if not most:
        return rows.count()
    held = rows.select_for_update(skip_locked=True).order_by("id").values_list("id", flat=True)
    ids = list(held[:most])
    IdempotencyKey.objects.filter(id__in=ids).delete()
    return len(ids)
