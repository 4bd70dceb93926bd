"""The end of the write path: reconcile with what is known, store, and record the decision.

Runs inside the write's transaction.  Whatever it concludes, one decision row and at least one audit event say so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from memory.domain import lifecycle
from memory.domain.reconciliation import Action, Decision, reconcile
from memory.domain.similarity import likeness
from memory.domain.types import Candidate, Known, OutcomeKind, Status
from memory.models import Memory
from memory.selectors.known import Direction, Met, rows_met, shown_to
from memory.services.alerts import junk_watched
from memory.services.compaction import compact_scope
from memory.services.promotion_triggers import open_triggered
from memory.services.purify import Clean
from memory.services.write_draft import (
    Draft,
    NeedsItsOwn,
    build,
    hash_of,
    held_already,
    held_now,
    open_contradictions,
)
from memory.services.write_types import Outcome
from memory.store import memories
from memory.store.memories import Vector, VersionMoved

Reconciled = tuple[Decision, list[Memory]]

MOST_PROPOSED = 3
"""Pairs that one write puts before a person; the others of a cluster are linked to these."""


def refuse(
    draft: Draft, clean: Clean, reason: str | None, rule: str | None, explanation: str = ""
) -> Outcome:
    """Keep nothing but the decision."""
    outcome = draft.close(clean, OutcomeKind.REJECTED, reason=reason, rule=rule, explanation=explanation)
    junk_watched(draft.principal, draft.active, draft.now, str(clean.candidate.scope))
    return outcome


def hold(draft: Draft, clean: Clean) -> Outcome:
    """Store the candidate in quarantine; the same text there already is not stored twice."""
    hashed = hash_of(clean.candidate, draft)
    known = held_already(draft, Status.QUARANTINED, clean.candidate, hashed)
    if known is None:
        known = build(clean, draft, Status.QUARANTINED, hashed, reason=clean.reason or "")
        memories.insert(known, actor=draft.principal.name, vector=None, last=draft.trails)
        held_now(draft, Status.QUARANTINED, clean.candidate, hashed, known)
    outcome = draft.close(clean, OutcomeKind.HELD, reason=clean.reason, rule=clean.rule, memory=known)
    junk_watched(draft.principal, draft.active, draft.now, str(clean.candidate.scope))
    return outcome


def conclude(draft: Draft, clean: Clean, vector: Vector | None) -> Outcome:
    """Reconcile the candidate with the live rows of its scope and do what that says."""
    return carry_out(draft, clean, decide(draft, clean, vector), vector)


def decide(draft: Draft, clean: Clean, vector: Vector | None = None) -> Reconciled:
    """What the candidate is beside the live rows of its scope, and the rows that the decision touches, locked.

    Raises `NeedsItsOwn`, before anything is locked, for a row among many that would touch one or be linked to one.
    """
    candidate, hashed = clean.candidate, hash_of(clean.candidate, draft)
    near = draft.policy.reconciliation.near_duplicates != "keep"
    met = _met(draft, candidate, hashed, vector, near=near)
    draft.beside = met.held
    rows = {row.id: row for row in met.rows}
    cosines = {row.content: met.cosines.get(row.id) for row in met.rows}
    decision = reconcile(
        candidate,
        met.rows,
        draft.prepared.rule,
        draft.policy,
        value_hash=hashed,
        near=(lambda a, b: likeness(a, b, cosines.get(b))) if near else None,
        now=draft.now,
        shown_to_session=shown_to(candidate.session, rows),
    )
    if draft.shared is not None and (decision.targets or decision.linked or decision.over):
        raise NeedsItsOwn
    locked = _locked((*decision.targets, *decision.over), rows)
    draft.over = locked[len(decision.targets) :]
    return decision, locked[: len(decision.targets)]


def _met(draft: Draft, candidate: Candidate, hashed: bytes, vector: Vector | None, *, near: bool) -> Met:
    if draft.shared is not None:
        return draft.shared.met[draft.decision_id]
    direction = Direction(vector.values, vector.model_id) if vector else None
    counted = draft.policy.reconciliation.cap is not None
    return rows_met(candidate, hashed, near=near, vector=direction, counted=counted)


def carry_out(draft: Draft, clean: Clean, reconciled: Reconciled, vector: Vector | None) -> Outcome:
    """Store what was decided."""
    decision, targets = reconciled
    handle = _HANDLERS[decision.action]
    memory = handle(draft, clean, decision, targets, vector)
    replaced = decision.targets if decision.outcome is OutcomeKind.SUPERSEDED else ()
    return draft.close(
        clean,
        decision.outcome,
        reason=decision.reason,
        memory=memory,
        replaced=replaced,
        linked=decision.linked,
    )


def _locked(touched: Sequence[UUID], rows: Mapping[UUID, Known]) -> list[Memory]:
    """The rows that the decision touches, locked; `VersionMoved` if one is no longer what was judged."""
    if not touched:
        return []
    locked = memories.lock(touched)
    for target in touched:
        if target not in locked or locked[target].version != rows[target].version:
            raise VersionMoved(str(target))
    return [locked[target] for target in touched]


def _give_way(draft: Draft, memory: Memory) -> None:
    """What is over gives its place to the new row, before that is stored: the place is one."""
    for row in draft.over:
        draft.changes.move(
            row, lifecycle.Event.SUPERSEDE, "memory.superseded", "its time is over", superseded_by=memory.id
        )


def _insert(
    draft: Draft, clean: Clean, decision: Decision, targets: list[Memory], vector: Vector | None
) -> Memory:
    """A new live row; what it may duplicate goes to the merge queue; a full scope loses its weakest."""
    memory = build(clean, draft, decision.status or Status.LIVE, hash_of(clean.candidate, draft))
    over = draft.beside + 1 - (draft.policy.reconciliation.cap or draft.beside + 1)
    if over > 0:
        compact_scope(draft.changes, memory.scope, over)
    pairs = decision.linked[:MOST_PROPOSED]
    _give_way(draft, memory)
    memories.insert(memory, actor=draft.principal.name, vector=vector, last=draft.alone and not pairs)
    open_contradictions(draft, "merge", memory, pairs)
    return memory


def _history(
    draft: Draft, clean: Clean, decision: Decision, targets: list[Memory], vector: Vector | None
) -> Memory:
    """True once, not now: stored as superseded by the present value."""
    memory = build(
        clean, draft, Status.SUPERSEDED, hash_of(clean.candidate, draft), reason="older than what is known"
    )
    memory.superseded_by = targets[0].id
    memories.insert(memory, actor=draft.principal.name, vector=None)
    return memory


def _touch(
    draft: Draft, clean: Clean, decision: Decision, targets: list[Memory], vector: Vector | None
) -> Memory:
    """The known row is confirmed: fresher, perhaps reproduced, and its time to live starts anew."""
    row, candidate = targets[0], clean.candidate
    fields: dict[str, Any] = {}
    if decision.refreshes:
        fields["learned_at"] = max(row.learned_at, draft.now)
    if decision.reproduces and candidate.session not in (row.session, *row.also_learned_in):
        fields["also_learned_in"] = [*row.also_learned_in, candidate.session]
        fields["reproductions"] = row.reproductions + 1
    if row.expires_at and (candidate.expires_at is None or candidate.expires_at > row.expires_at):
        fields["expires_at"] = candidate.expires_at or draft.now + (row.expires_at - row.recorded_at)
    if fields:
        was = {name: memories.plain(getattr(row, name)) for name in fields}
        memories.count(row, **fields)
        now = {name: memories.plain(getattr(row, name)) for name in fields}
        draft.counted.append({"id": str(row.id), "was": was, "now": now})
    confirmed = (
        decision.refreshes and candidate.origin.value == "user_explicit" and row.origin != "user_explicit"
    )
    open_triggered(draft.principal, row, draft.active, draft.now, confirmed=confirmed)
    return row


def _merge_into_known(
    draft: Draft, clean: Clean, decision: Decision, targets: list[Memory], vector: Vector | None
) -> Memory:
    """The weaker wording is kept as merged; the known row is confirmed."""
    row = _touch(draft, clean, decision, targets, vector)
    merged = build(clean, draft, Status.MERGED, hash_of(clean.candidate, draft), reason="near_duplicate")
    merged.merged_into = row.id
    memories.insert(merged, actor=draft.principal.name, vector=None)
    return row


def _merge_into_new(
    draft: Draft, clean: Clean, decision: Decision, targets: list[Memory], vector: Vector | None
) -> Memory:
    """The stronger wording takes the place of the known ones, with their sessions and uses."""
    memory = build(clean, draft, Status.LIVE, hash_of(clean.candidate, draft))
    for row in targets:
        draft.changes.move(
            row, lifecycle.Event.MERGE, "memory.merged", "near_duplicate", merged_into=memory.id
        )
    sessions = {name for row in targets for name in (row.session, *row.also_learned_in) if name}
    memory.also_learned_in = sorted(sessions - {memory.session})
    memory.reproductions = len(memory.also_learned_in)
    memory.use_count = sum(row.use_count for row in targets)
    memory.last_used_at = max((row.last_used_at for row in targets if row.last_used_at), default=None)
    _give_way(draft, memory)
    memories.insert(memory, actor=draft.principal.name, vector=vector)
    return memory


def _supersede(
    draft: Draft, clean: Clean, decision: Decision, targets: list[Memory], vector: Vector | None
) -> Memory:
    """The newer value takes the place of the old ones, which stay in the history."""
    memory = build(clean, draft, decision.status or Status.LIVE, hash_of(clean.candidate, draft))
    for row in targets:
        draft.changes.move(
            row,
            lifecycle.Event.SUPERSEDE,
            "memory.superseded",
            decision.reason or "",
            superseded_by=memory.id,
        )
    _give_way(draft, memory)
    memories.insert(memory, actor=draft.principal.name, vector=vector, last=draft.alone)
    return memory


def _hold_conflict(
    draft: Draft, clean: Clean, decision: Decision, targets: list[Memory], vector: Vector | None
) -> Memory:
    """Too weak to replace what is known: kept as a candidate, and a person decides."""
    memory = build(clean, draft, Status.CANDIDATE, hash_of(clean.candidate, draft), reason="conflict")
    memories.insert(memory, actor=draft.principal.name, vector=None)
    open_contradictions(draft, "conflict", memory, decision.targets)
    return memory


def _contest(
    draft: Draft, clean: Clean, decision: Decision, targets: list[Memory], vector: Vector | None
) -> Memory:
    """As strong as what is known, from another source: both stand, marked, until a person decides."""
    for row in targets:
        if row.status == Status.LIVE:
            draft.changes.move(row, lifecycle.Event.CONTEST, "memory.contested", "contested")
    memory = build(clean, draft, Status.CONTESTED, hash_of(clean.candidate, draft), reason="contested")
    _give_way(draft, memory)
    memories.insert(memory, actor=draft.principal.name, vector=vector)
    open_contradictions(draft, "contested", memory, decision.targets)
    return memory


def _nothing(
    draft: Draft, clean: Clean, decision: Decision, targets: list[Memory], vector: Vector | None
) -> Memory:
    """An echo of what the session was shown: counts for nothing."""
    return targets[0]


_HANDLERS = {
    Action.INSERT: _insert,
    Action.INSERT_HISTORY: _history,
    Action.TOUCH: _touch,
    Action.MERGE_INTO_KNOWN: _merge_into_known,
    Action.MERGE_INTO_NEW: _merge_into_new,
    Action.SUPERSEDE: _supersede,
    Action.HOLD: _hold_conflict,
    Action.CONTEST: _contest,
    Action.NOTHING: _nothing,
}
