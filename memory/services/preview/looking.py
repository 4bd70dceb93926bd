"""What every part of a preview works with: both policies, the instant, and a transaction that cannot write."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.db import connection

from memory.domain.preview.gate import Pair
from memory.domain.preview.tally import Standing
from memory.domain.registry import PredicateRule
from memory.domain.scopes import Scope, parse_scope
from memory.models import Memory
from memory.selectors.policies import ActivePolicy
from tenants.context import tenant_context

Tell = Callable[[int], None]
"""Told how many rows were looked at since the last time."""


@contextmanager
def looking(tenant_id: UUID) -> Iterator[None]:
    """A tenant context in which the database refuses every write."""
    with tenant_context(tenant_id):
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION READ ONLY")
        yield


@dataclass(frozen=True, slots=True)
class Trial:
    """A draft beside the policy in force, at one instant."""

    tenant_id: UUID
    present: ActivePolicy
    draft: ActivePolicy
    now: datetime
    notes: list[str] = field(default_factory=list)
    """What a reader of the result has to know: what was not looked at, and why."""
    _pairs: dict[tuple[str, str], Pair] = field(default_factory=dict)

    def at(self, scope: str) -> Pair:
        """Both policies as they apply to a scope.  Scopes that fall under the same overrides share them."""
        kind = f"{scope.partition(':')[0]}:*"
        named = self.present.policy.scopes.keys() | self.draft.policy.scopes.keys()
        key = (kind if kind in named else "", scope if scope in named else "")
        pair = self._pairs.get(key)
        if pair is None:
            where = parse_scope(scope)
            pair = Pair(self.present.policy.for_scope(where), self.draft.policy.for_scope(where))
            self._pairs[key] = pair
        return pair

    def rule(self, predicate: str) -> PredicateRule | None:
        return self.present.words.registry.lookup(predicate) if predicate else None


@lru_cache(maxsize=4096)
def scope_of(text: str) -> Scope:
    """The scope of a row; most rows share few."""
    return parse_scope(text)


def kinds_found(findings: Any) -> frozenset[str]:
    """The kinds among recorded findings."""
    return frozenset(str(one.get("kind", "")) for one in findings or ())


def standing_of(row: Memory, now: datetime, restored: bool) -> Standing:
    """What speaks for a stored entry."""
    pinned = row.pinned_at is not None and (row.pinned_until is None or row.pinned_until > now)
    return Standing(pinned, restored, row.use_count, row.reproductions, round(row.confidence * row.trust, 6))
