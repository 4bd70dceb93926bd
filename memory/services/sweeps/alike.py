"""What of a scope says the same: pairs by shared words (`memory.domain.similarity`), judged by the rule of the write
path (`memory.domain.reconciliation`), so that the sweep never merges what a write would not have.

A pair that a person has judged, or of which one was brought back by a person, is never merged here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from uuid import UUID

from memory.domain.policy import Policy
from memory.domain.reconciliation import Action, reconcile
from memory.domain.similarity import block_keys, candidate_pairs, likeness
from memory.models import Contradiction, Memory, MountEntry
from memory.selectors.policies import ActivePolicy
from memory.services.rows import candidate_of, known_of
from memory.services.sweeps.rescan import decided_by_others

MOST_PROPOSED: Final = 3
"""Pairs of one memory that are put before a person."""
_BACK: Final = ("memory.restored", "memory.sweep_undone")


@dataclass(slots=True)
class Plan:
    """What is to be done in one scope: pairs (lost, kept) as they were judged, and pairs for a person."""

    scope: str
    live: int
    merges: list[tuple[Memory, Memory]] = field(default_factory=list)
    proposals: list[tuple[Memory, Memory]] = field(default_factory=list)


def plan(scope: str, policy: Policy, active: ActivePolicy, now: datetime) -> Plan:
    """Look at the live memories of a scope.  Inside the tenant's context; locks nothing."""
    rows = list(
        Memory.objects.filter(scope=scope, status="live")
        .exclude(expires_at__lte=now)
        .exclude(valid_to__lte=now)
        .order_by("id")
    )
    found = Plan(scope, len(rows))
    judged = _judged_pairs(scope)
    kept_apart = _kept_apart([row.id for row in rows])
    gone: set[UUID] = set()
    proposed: dict[UUID, int] = defaultdict(int)
    for a, b in _pairs(rows):
        if a.id in gone or b.id in gone or frozenset((a.id, b.id)) in judged:
            continue
        verdict = _verdict(a, b, policy, active, now)
        if verdict is None:
            continue
        lost, kept, same = verdict
        if same and lost.id not in kept_apart and kept.id not in kept_apart and lost.pinned_at is None:
            gone.add(lost.id)
            found.merges.append((lost, kept))
        elif proposed[a.id] < MOST_PROPOSED and proposed[b.id] < MOST_PROPOSED:
            proposed[a.id] += 1
            proposed[b.id] += 1
            found.proposals.append((a, b))
    found.proposals = [pair for pair in found.proposals if gone.isdisjoint((pair[0].id, pair[1].id))]
    return found


def _pairs(rows: Sequence[Memory]) -> Iterator[tuple[Memory, Memory]]:
    """Pairs worth judging: of one key, or free text, of one beginning, and with words in common."""
    groups: dict[tuple[str, str, datetime | None], list[Memory]] = defaultdict(list)
    for row in rows:
        key = (row.subject, row.predicate) if row.predicate else ("", "")
        groups[(*key, row.begins_at)].append(row)
    for group in groups.values():
        by_id = {row.id: row for row in group}
        keys = {row.id: block_keys(row.value if row.predicate else row.content) for row in group}
        for first, second in candidate_pairs(keys):
            yield by_id[first], by_id[second]


def _verdict(
    a: Memory, b: Memory, policy: Policy, active: ActivePolicy, now: datetime
) -> tuple[Memory, Memory, bool] | None:
    """(the one that gives way, the one that stays, whether they are the same); None where they are different."""
    decision = reconcile(
        candidate_of(b), [known_of(a)], active.words.registry.lookup(b.predicate) if b.predicate else None, policy,
        value_hash=bytes(b.value_hash), near=lambda one, other: likeness(one, other, None), now=now,
    )  # fmt: skip
    if decision.action is Action.MERGE_INTO_NEW:
        return a, b, True
    if decision.action in (Action.MERGE_INTO_KNOWN, Action.TOUCH):
        # The known one may be the weaker by a rounding, or the candidate pinned: what is pinned stays.
        return (a, b, True) if b.pinned_at is not None and a.pinned_at is None else (b, a, True)
    return (b, a, False) if decision.linked else None


def _judged_pairs(scope: str) -> set[frozenset[UUID]]:
    """Pairs that are, or once were, before a person."""
    rows = Contradiction.objects.filter(scope=scope).values_list("memory_a", "memory_b")
    return {frozenset(pair) for pair in rows}


def _kept_apart(ids: Sequence[UUID]) -> set[UUID]:
    """Memories that a person brought back, or that a mount declares: a sweep does not merge them."""
    back = decided_by_others(list(ids), _BACK)
    declared = MountEntry.objects.filter(memory_id__in=list(ids)).values_list("memory_id", flat=True)
    return {*back, *declared}
