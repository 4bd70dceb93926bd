"""What a memory would meet in another scope: the same fact, or another value of the same key."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Q

from memgov import clock
from memory.domain.claims import rival_claims
from memory.domain.scopes import Scope
from memory.domain.validity import begins_later
from memory.models import Memory
from memory.models.memory import LIVE_STATUSES
from memory.selectors.vocabulary import name_now, predicate_now


@dataclass(frozen=True, slots=True)
class Rivals:
    """Live rows of the target scope: those that say the same, and those that contradict."""

    same: list[Memory]
    contradicting: list[Memory]


def rivals_in(memory: Memory, scope: Scope, *, as_named: bool = False) -> Rivals:
    """Live rows in `scope` that the memory duplicates or contradicts, by the names that the vocabulary has for it by
    now; `as_named`: by those that it has."""
    rows = Memory.objects.filter(
        scope=str(scope),
        subject=name_now(memory.subject),
        predicate=memory.predicate if as_named else predicate_now(memory.predicate),
        status__in=LIVE_STATUSES,
    ).exclude(id=memory.id)
    rows = rows.filter(_of_one_time(memory))
    if memory.claim and memory.single_valued and not memory.predicate:
        met = rows.filter(Q(claim=memory.claim) | Q(value_hash=memory.value_hash))
        return _of_claim(memory, list(met.order_by("id")))
    same = list(rows.filter(value_hash=memory.value_hash).order_by("id"))
    if not memory.single_valued:
        return Rivals(same, [])
    return Rivals(same, list(rows.exclude(value_hash=memory.value_hash).order_by("id")))


def _of_one_time(memory: Memory) -> Q:
    """What holds now and what begins later do not meet."""
    now = clock.now()
    later = begins_later(memory.valid_from, now)
    return Q(begins_at=later) if later else Q(begins_at=None) | Q(begins_at__lte=now)


def _of_claim(memory: Memory, rows: list[Memory]) -> Rivals:
    """Free text that claims something: the same value in any wording is the same."""
    contradicting = [row for row in rows if rival_claims(memory.content, row.content)]
    return Rivals([row for row in rows if row not in contradicting], contradicting)
