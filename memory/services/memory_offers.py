"""Many offered candidates in few transactions: each passes the gates by itself, what they leave is stored together.

Only what stands beside nothing shares a transaction: new candidates, quarantined texts and refusals, which lock no row
that others use. Whatever confirms, clashes with or resembles a live memory is offered by itself, so that its locks are
held as shortly, and taken in the same order, as those of any write.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from django.db import IntegrityError, transaction

from memgov import clock
from memory.domain.types import Status
from memory.models import Memory
from memory.selectors.known import Met, rows_met_many
from memory.selectors.policies import ActivePolicy, policy_for
from memory.services.access import denials_audited
from memory.services.errors import Invalid, TooLarge
from memory.services.memory_write import Judged, judged, memory_offer, stored
from memory.services.write_draft import HeldKey, NeedsItsOwn, Shared, hash_of
from memory.services.write_types import Offer, Outcome, WriteRequest
from memory.store.memories import AlreadyLive, VersionMoved, of_rival
from tenants.context import tenant_context
from tenants.principals import Principal

MOST_TOGETHER: Final = 100
"""Rows of one transaction."""

Offered = tuple[WriteRequest, Offer]
Refusal = Invalid | TooLarge
_HELD: Final = (Status.CANDIDATE.value, Status.QUARANTINED.value)


@denials_audited
def memory_offers(
    principal: Principal, offered: Sequence[Offered], *, keep: bool = True
) -> list[Outcome | Refusal]:
    """`memory_offer` for each, in their order; what that would raise for one row stands in its place.

    Raises `Denied`. A fault leaves whole rows: those before it are stored, and a repetition finds them.
    """
    active, results, room = policy_for(principal), list[Outcome | Refusal](), MOST_TOGETHER
    found = [_judged(principal, one, active, keep=keep) for one in offered]
    while len(results) < len(offered):
        asked = range(len(results), min(len(results) + room, len(offered)))
        results += _together(principal, [(found[at], offered[at][1]) for at in asked], keep=keep)
        room = min(2 * room, MOST_TOGETHER)
        if len(results) < asked.stop:
            results.append(_by_itself(principal, offered[len(results)], keep=keep))
            room = 1  # one that stands beside something is seldom alone
    return results


def _judged(principal: Principal, one: Offered, active: ActivePolicy, *, keep: bool) -> Judged | Refusal:
    try:
        return judged(principal, *one, active, clock.now(), keep=keep)
    except (Invalid, TooLarge) as error:
        return error


def _by_itself(principal: Principal, one: Offered, *, keep: bool) -> Outcome | Refusal:
    try:
        return memory_offer(principal, *one, keep=keep)
    except (Invalid, TooLarge) as error:
        return error


def _together(
    principal: Principal, asked: Sequence[tuple[Judged | Refusal, Offer]], *, keep: bool
) -> list[Outcome | Refusal]:
    """What became of the first ones, up to one that has to be offered by itself."""
    done: list[Outcome | Refusal] = []
    try:
        with tenant_context(principal.tenant_id):
            _share([found for found, _ in asked if isinstance(found, Judged)])
            for found, offer in asked:
                try:
                    done.append(stored(found, offer) if isinstance(found, Judged) else found)
                except NeedsItsOwn:
                    break
            if not keep:
                transaction.set_rollback(True)
    except (AlreadyLive, VersionMoved):
        return []
    except IntegrityError as fault:
        if not of_rival(fault):
            raise
        return []
    return done


def _share(found: Sequence[Judged]) -> None:
    """Read in two messages what each would ask for."""
    hashes = {id(one): hash_of(one.clean.candidate, one.draft) for one in found}
    compared = [one for one in found if one.admission.admitted and one.clean.verdict == "pass"]
    met = rows_met_many(
        [
            (one.clean.candidate, hashes[id(one)], one.draft.policy.reconciliation.near_duplicates != "keep")
            for one in compared
        ]
    )
    shared = Shared(_by_decision(compared, met), _held(set(hashes.values())))
    for one in found:
        one.draft.shared = shared


def _by_decision(compared: Sequence[Judged], met: Sequence[Met]) -> dict[UUID, Met]:
    return {one.draft.decision_id: rows for one, rows in zip(compared, met, strict=True)}


def _held(hashes: set[bytes]) -> dict[HeldKey, Memory]:
    rows = Memory.objects.filter(value_hash__in=hashes, status__in=_HELD).order_by("-id")
    return {_key_of(row): row for row in rows}


def _key_of(row: Memory) -> HeldKey:
    if row.status == Status.QUARANTINED:
        return row.status, row.scope, "", "", bytes(row.value_hash)
    return row.status, row.scope, row.subject, row.predicate, bytes(row.value_hash)
