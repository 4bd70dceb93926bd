"""`memory.domain.freshness.band` as a condition on rows, so that a list in one band shows rows that say that band.

By kind, by the tenant's own rules of predicates, and by the policy as it holds for each scope.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db.models import Q

from memory.domain.freshness import limits
from memory.domain.policy import Policy
from memory.domain.registry import PredicateRule, Registry
from memory.domain.types import Band, Kind
from memory.selectors.scope_rules import policies_by_key


def in_band(band: Band, policy: Policy, registry: Registry, now: datetime) -> Q:
    """Rows that are in the band at `now`."""
    by_key = policies_by_key(policy)
    named = [key for key in by_key if ":" in key]
    special = [rule for rule in registry.rules() if rule.volatile or not rule.ages]
    if all(one.freshness == policy.freshness for one in by_key.values()):
        return _banded(band, policy, special, now)
    found = Q()
    for key, own in by_key.items():
        found |= _lies_in(key, named) & _banded(band, own, special, now)
    return found


def _lies_in(key: str, named: Iterable[str]) -> Q:
    """Rows that fall under a key of `policies_by_key`."""
    if ":" in key:
        return Q(scope=key)
    return (Q(scope=key) | Q(scope__startswith=f"{key}:")) & ~Q(scope__in=list(named))


def _banded(band: Band, policy: Policy, special: Iterable[PredicateRule], now: datetime) -> Q:
    """Under one policy: by kind, but for predicates whose age is judged by a rule of their own."""
    volatile = [rule.name for rule in special if rule.volatile and rule.ages]
    ageless = [rule.name for rule in special if not rule.ages]
    found = Q(predicate__in=ageless) if band is Band.FRESH else Q()
    found |= Q(predicate__in=volatile) & _aged(band, policy, None, now)
    for kind in Kind:
        found |= Q(kind=kind.value) & ~Q(predicate__in=[*volatile, *ageless]) & _aged(band, policy, kind, now)
    return found


def _aged(band: Band, policy: Policy, kind: Kind | None, now: datetime) -> Q:
    """Learned at a time that lies in the band, for a kind, or for volatile predicates (None)."""
    volatile = PredicateRule("", volatile=True) if kind is None else None
    days = limits(kind or Kind.FACT, volatile, policy)
    assert days is not None  # only what does not age has no limits
    fresh, aging = now - timedelta(days=days.fresh_days), now - timedelta(days=days.aging_days)
    if band is Band.FRESH:
        return Q(learned_at__gte=fresh)
    if band is Band.AGING:
        return Q(learned_at__lt=fresh, learned_at__gte=aging)
    return Q(learned_at__lt=aging)
