"""The end of the write path for what nobody vouches for: reconciled like any write, then held for a person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from memory.domain.policy import Policy
from memory.domain.policy_write_rules import ByTier
from memory.domain.reconciliation import Action, Decision
from memory.domain.types import OutcomeKind, Status
from memory.models import Contradiction, Memory
from memory.services.contradictions import contradiction_settle
from memory.services.errors import Conflict
from memory.services.purify import Clean
from memory.services.write_draft import (
    Draft,
    build,
    hash_of,
    held_already,
    held_now,
    open_contradictions,
)
from memory.services.write_store import MOST_PROPOSED, carry_out, decide
from memory.services.write_types import Offer, Outcome
from memory.store import memories
from tenants.context import savepoint

_NONE: Final = ByTier(narrow=0.0, middle=0.0, wide=0.0)
_SAID_ALREADY: Final = frozenset({Action.TOUCH, Action.MERGE_INTO_KNOWN, Action.NOTHING})
_REPLACING: Final = frozenset({Action.SUPERSEDE, Action.HOLD, Action.CONTEST, Action.INSERT_HISTORY})
_CLASHING: Final = _REPLACING - {Action.INSERT_HISTORY}
CONFLICT_SKIPPED: Final = "offer.skip"


def without_floors(policy: Policy) -> Policy:
    """The policy without its floors of trust and confidence: a person judges these, and until then nobody reads."""
    admission = policy.admission.model_copy(update={"trust_floor": _NONE, "confidence_floor": _NONE})
    return policy.model_copy(update={"admission": admission})


def hold_for_review(draft: Draft, clean: Clean, offer: Offer) -> Outcome:
    """Nothing new where a live row or an earlier candidate says it already; else a row that waits.

    A value that clashes with a live one opens a conflict, a likeness a merge: the person sees both.
    """
    candidate = clean.candidate
    hashed = hash_of(candidate, draft)
    waiting = held_already(draft, Status.CANDIDATE, candidate, hashed)
    if waiting is not None:
        return draft.close(clean, OutcomeKind.DUPLICATE, reason="duplicate", memory=waiting)
    decision, targets = decide(draft, clean)
    if decision.action in _SAID_ALREADY:
        return carry_out(draft, clean, (decision, targets), None)
    if offer.skip_conflicts and decision.action in _REPLACING:
        why = f"a live memory says otherwise: {targets[0].content[:120]!r}"
        return draft.close(
            clean, OutcomeKind.REJECTED, reason="conflict", rule=CONFLICT_SKIPPED, explanation=why
        )
    memory = build(clean, draft, Status.CANDIDATE, hashed, reason=offer.reason)
    if offer.learned_at is not None:
        memory.learned_at = min(offer.learned_at, draft.now)
    linked = decision.linked[:MOST_PROPOSED]
    last = draft.trails and not (targets or linked)
    memories.insert(memory, actor=draft.principal.name, vector=None, last=last)
    held_now(draft, Status.CANDIDATE, candidate, hashed, memory)
    kind = "conflict" if decision.action in _REPLACING else "merge"
    open_contradictions(draft, kind, memory, [row.id for row in targets])
    open_contradictions(draft, "merge", memory, linked)
    replaced = _settled(draft, offer, decision, memory, targets)
    return draft.close(
        clean,
        OutcomeKind.HELD,
        reason=offer.reason,
        rule="offer.replace" if replaced else "offer.review",
        memory=memory,
        replaced=replaced,
        linked=decision.linked,
    )


def _settled(
    draft: Draft, offer: Offer, decision: Decision, memory: Memory, targets: Sequence[Memory]
) -> Sequence[UUID]:
    """The live values that the offered one took the place of, on the word of who offers it.

    A pinned one stays, and so does every one of a value that is older than what is known: a person looks at the two.
    """
    if (
        not offer.settle_conflicts
        or decision.action not in _CLASHING
        or any(row.pinned_at for row in targets)
    ):
        return ()
    draft.changes.finish()  # that they were opened is audited before that they are settled
    try:
        with savepoint():
            for found in Contradiction.objects.filter(
                memory_b=memory.id, kind="conflict", status="open"
            ).order_by("id"):
                contradiction_settle(
                    draft.principal,
                    found.id,
                    "keep_b",
                    offer.settle_conflicts,
                    version=found.version,
                    by=offer.reason,
                )
    except Conflict:
        return ()
    memory.refresh_from_db()
    return [row.id for row in targets]
