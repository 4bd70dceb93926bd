"""Age bands: fresh, aging, outdated, counted from when a memory was last learned or confirmed.

A read never changes a band; only a re-confirmation moves `learned_at`.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from memory.domain.policy import Policy
from memory.domain.policy_keep_rules import BandDays
from memory.domain.registry import PredicateRule
from memory.domain.types import Band, Kind


def limits(kind: Kind, rule: PredicateRule | None, policy: Policy) -> BandDays | None:
    """The band limits that apply; None for what does not age, such as a birthday."""
    if rule is not None and not rule.ages:
        return None
    if rule is not None and rule.volatile:
        return policy.freshness.volatile
    return policy.freshness.bands[kind]


def band(kind: Kind, rule: PredicateRule | None, learned_at: datetime, now: datetime, policy: Policy) -> Band:
    """Fresh up to and including the first limit (30 days), aging up to the second (90), then outdated."""
    days = limits(kind, rule, policy)
    if days is None:
        return Band.FRESH
    age = now - learned_at
    if age <= timedelta(days=days.fresh_days):
        return Band.FRESH
    return Band.AGING if age <= timedelta(days=days.aging_days) else Band.OUTDATED


def needs_reverify(
    kind: Kind,
    rule: PredicateRule | None,
    learned_at: datetime,
    now: datetime,
    policy: Policy,
    review_by: datetime | None = None,
) -> bool:
    """Whether it belongs on the re-verify list: its review is due and it was not confirmed since, or it is volatile
    and no longer fresh."""
    if review_by is not None and learned_at <= review_by <= now:
        return True
    volatile = rule is not None and rule.volatile
    return volatile and band(kind, rule, learned_at, now, policy) is not Band.FRESH
