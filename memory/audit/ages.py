"""Whether a row is stale: expired, ended, replaced in its own store, or not confirmed for a long time."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from memory.audit.model import Category, Finding
from memory.domain.freshness import band
from memory.domain.policy import Policy
from memory.domain.registry import DEFAULT_REGISTRY
from memory.domain.types import Band, Kind
from memory.importers.records import ForeignRecord

_POLICY: Final = Policy()


def stale(record: ForeignRecord, now: datetime) -> Finding | None:
    """Why a row with dates is stale, None where it is not or has none."""
    if record.retired:
        return Finding(Category.STALE, "stale.retired", record.retired)
    if record.expires_at is not None and record.expires_at <= now:
        return Finding(Category.STALE, "stale.expired", f"expired on {record.expires_at:%Y-%m-%d}")
    if record.valid_to is not None and record.valid_to <= now:
        return Finding(Category.STALE, "stale.ended", f"no longer true since {record.valid_to:%Y-%m-%d}")
    learned = record.last_confirmed
    if learned is None:
        return None
    rule = DEFAULT_REGISTRY.lookup(record.predicate) if record.predicate and record.value else None
    if band(Kind.FACT, rule, learned, now, _POLICY) is not Band.OUTDATED:
        return None
    days = (now - learned).days
    return Finding(
        Category.STALE, "stale.outdated", f"last confirmed on {learned:%Y-%m-%d}, {days:,} days ago"
    )
