"""What a candidate would have met at an earlier instant: rows that were readable then, whatever became of them."""

from __future__ import annotations

from datetime import datetime
from typing import Final
from uuid import UUID

from django.db import connection
from django.db.models import Q

from memory.domain.claims import claim_key
from memory.domain.text import query_terms
from memory.domain.types import Candidate
from memory.models import Memory
from memory.models.memory import LIVE_STATUSES
from memory.selectors.known import NEAR_LIMIT
from tenants.context import current_tenant_id

_GONE: Final = ("superseded", "merged", "archived", "evicted", "expired", "deleted")
_NEEDED: Final = (
    "tenant_id", "id", "version", "status", "content", "value", "value_hash", "predicate", "confidence", "trust",
    "origin", "learned_at", "valid_from", "pinned_at", "agent_id", "session", "subject", "tool",
    "expires_at", "valid_to", "begins_at", "single_valued",
)  # fmt: skip
_ALIKE: Final = """
SELECT i.memory_id FROM memory_index i WHERE i.tenant_id = %s AND i.scope = %s AND i.terms && %s::text[]
 ORDER BY cardinality(ARRAY(SELECT unnest(i.terms) INTERSECT SELECT unnest(%s::text[]))) DESC, 1 LIMIT %s
"""


def rows_met_at(candidate: Candidate, value_hash: bytes, at: datetime) -> list[Memory]:
    """The rows to reconcile with as of that instant, whatever their status is now, in the order of their ids.

    Free text that is gone by now is only met where it said the same or claimed something of the same thing: the
    index of words holds what is readable today.
    """
    readable = Q(status__in=LIVE_STATUSES) | Q(status__in=_GONE, status_changed_at__gte=at)
    rows = Memory.objects.filter(readable, scope=str(candidate.scope), recorded_at__lt=at).only(*_NEEDED)
    if candidate.keyed:
        rows = rows.filter(subject=candidate.subject, predicate=candidate.predicate)
    else:
        rows = rows.filter(_says_alike(candidate, value_hash), predicate="")
    return list(rows.order_by("id"))


def _says_alike(candidate: Candidate, value_hash: bytes) -> Q:
    ways, claim = Q(value_hash=value_hash), claim_key(candidate.content)
    if claim:
        ways |= Q(claim=claim)
    alike = _worded_alike(candidate)
    return ways | Q(id__in=alike) if alike else ways


def _worded_alike(candidate: Candidate) -> list[UUID]:
    terms = query_terms(candidate.content)
    if not terms:
        return []
    with connection.cursor() as cursor:
        cursor.execute(_ALIKE, [current_tenant_id(), str(candidate.scope), terms, terms, NEAR_LIMIT])
        return [row[0] for row in cursor.fetchall()]
