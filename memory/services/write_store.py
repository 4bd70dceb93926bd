"""The end of the write path: reconcile with what is known, store, and record the decision.

Runs inside the write's transaction.  Whatever it concludes, one decision row and at least one audit event say so.
"""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Any
from uuid import UUID

from memgov.ids import new_id
from memory.domain import lifecycle
from memory.domain.ids import show_id
from memory.domain.normalise import value_hash
from memory.domain.policy import Policy
from memory.domain.reconciliation import Action, Decision, reconcile
from memory.domain.similarity import judge
from memory.domain.types import Candidate, OutcomeKind, Status
from memory.models import Contradiction, Memory, WriteDecision
from memory.selectors.known import as_known, rows_for, shown_to
from memory.selectors.policies import ActivePolicy
from memory.services.candidates import Prepared
from memory.services.changes import Changes
from memory.services.compaction import compact_scope
from memory.services.promotion_triggers import open_triggered
from memory.services.purify import Clean
from memory.services.write_types import Outcome
from memory.store import decisions, memories, reviews
from memory.store.memories import Vector, VersionMoved
from tenants.principals import Principal

Reconciled = tuple[Decision, list[Memory]]


class Draft:
    """A write under way: who, what, under which policy, at which instant."""

    def __init__(self, principal: Principal, prepared: Prepared, active: ActivePolicy, now: datetime) -> None:
        self.principal, self.prepared, self.active, self.now = principal, prepared, active, now
        self.policy: Policy = active.policy.for_scope(prepared.candidate.scope)
        self.changes = Changes(principal, now, active)
        self.decision_id = new_id(now)
        self.counted: list[dict[str, Any]] = []

    def close(self, clean: Clean, outcome: OutcomeKind, **more: Any) -> Outcome:
        """Record the decision, append the audit events, and give the outcome."""
        memory: Memory | None = more.get("memory")
        candidate = clean.candidate
        result = Outcome(
            outcome=outcome, policy_version=self.active.number, decision_id=self.decision_id,
            findings=clean.findings, **more,
        )  # fmt: skip
        decisions.insert(
            WriteDecision(
                id=self.decision_id,
                at=self.now,
                agent_id=self.principal.agent_id,
                agent_name=self.principal.name,
                session=candidate.session or "",
                scope=str(candidate.scope),
                origin=candidate.origin.value,
                outcome=outcome.value,
                reason=result.reason or "",
                rule=result.rule or "",
                text="" if clean.held_secret and memory is None else candidate.content,
                memory_id=memory.id if memory else None,
                findings=[asdict(finding) for finding in clean.findings],
                policy_version=self.active.number,
                request_id=self.principal.request_id,
                task=candidate.task or "",
                undo={"changes": self.changes.undo, "counted": self.counted} if candidate.task else {},
            )
        )
        after = {"outcome": outcome.value, "reason": result.reason, "content": candidate.content}
        if memory is None:
            self.changes.add(f"write.{outcome.value}", "decision", show_id("dec", self.decision_id),
                             scope=str(candidate.scope), reason=result.reason or "", after=after)  # fmt: skip
        else:
            self.changes.note(_ACTIONS[outcome], memory, reason=result.reason or "", after=after)
        self.changes.finish()
        return result


_ACTIONS = {
    OutcomeKind.STORED: "memory.stored",
    OutcomeKind.SUPERSEDED: "memory.stored",
    OutcomeKind.DUPLICATE: "memory.confirmed",
    OutcomeKind.NEAR_DUPLICATE: "memory.confirmed",
    OutcomeKind.ECHO: "memory.echoed",
    OutcomeKind.HELD: "memory.held",
}


def refuse(
    draft: Draft, clean: Clean, reason: str | None, rule: str | None, explanation: str = ""
) -> Outcome:
    """Keep nothing but the decision."""
    return draft.close(clean, OutcomeKind.REJECTED, reason=reason, rule=rule, explanation=explanation)


def hold(draft: Draft, clean: Clean) -> Outcome:
    """Store the candidate in quarantine; the same text there already is not stored twice."""
    hashed = hash_of(clean.candidate, draft)
    known = Memory.objects.filter(
        scope=str(clean.candidate.scope), value_hash=hashed, status=Status.QUARANTINED.value
    ).first()
    if known is None:
        known = build(clean, draft, Status.QUARANTINED, hashed, reason=clean.reason or "")
        memories.insert(known, actor=draft.principal.name, vector=None)
    return draft.close(clean, OutcomeKind.HELD, reason=clean.reason, rule=clean.rule, memory=known)


def conclude(draft: Draft, clean: Clean, vector: Vector | None) -> Outcome:
    """Reconcile the candidate with the live rows of its scope and do what that says."""
    return carry_out(draft, clean, decide(draft, clean), vector)


def decide(draft: Draft, clean: Clean) -> Reconciled:
    """What the candidate is beside the live rows of its scope, and the rows that the decision touches, locked."""
    candidate, hashed = clean.candidate, hash_of(clean.candidate, draft)
    near = draft.policy.reconciliation.near_duplicates != "keep"
    rows = {row.id: row for row in rows_for(candidate, hashed, near=near)}
    decision = reconcile(
        candidate,
        [as_known(row) for row in rows.values()],
        draft.prepared.rule,
        draft.policy,
        value_hash=hashed,
        near=(lambda a, b: judge(a, b, None).verdict) if near else None,
        now=draft.now,
        shown_to_session=shown_to(candidate.session, rows),
    )
    return decision, _locked(decision, rows)


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


def _locked(decision: Decision, rows: dict[UUID, Memory]) -> list[Memory]:
    """The rows that the decision touches, locked; `VersionMoved` if one is no longer what was judged."""
    if not decision.targets:
        return []
    locked = memories.lock(decision.targets)
    for target in decision.targets:
        if target not in locked or locked[target].version != rows[target].version:
            raise VersionMoved(str(target))
    return [locked[target] for target in decision.targets]


def hash_of(candidate: Candidate, draft: Draft) -> bytes:
    """The hash by which sameness is told, under the rule of the candidate's predicate."""
    rule = draft.prepared.rule
    return value_hash(candidate.said, rule.normaliser) if rule else value_hash(candidate.said)


def build(clean: Clean, draft: Draft, status: Status, hashed: bytes, *, reason: str = "") -> Memory:
    """A row for the candidate, not yet stored."""
    c, principal, rule = clean.candidate, draft.principal, draft.prepared.rule
    return Memory(
        id=new_id(draft.now),
        scope=str(c.scope), layer=c.layer.value, kind=c.kind.value, subject=c.subject or "",
        predicate=c.predicate or "", single_valued=bool(rule and rule.single_valued and c.keyed) and _single(draft),
        may_repeat=draft.policy.reconciliation.exact_duplicates == "keep",
        value=c.value or "", content=c.content, value_hash=hashed, paths=list(c.paths), tags=list(c.tags),
        metadata=dict(c.metadata), importance=c.importance, confidence=c.confidence, trust=c.trust,
        origin=c.origin.value, agent_id=principal.agent_id, agent_name=principal.name, key_id=principal.key_id,
        session=c.session or "", task=c.task or "", tool=c.tool or "", input_hash=c.input_hash or "",
        derived_from=list(c.derived_from), status=status.value, status_reason=reason, status_changed_at=draft.now,
        findings=[asdict(finding) for finding in clean.findings], policy_version=draft.active.number,
        recorded_at=draft.now, learned_at=draft.now, expires_at=c.expires_at, review_by=c.review_by,
        valid_from=c.valid_from, valid_to=c.valid_to,
    )  # fmt: skip


def _single(draft: Draft) -> bool:
    return draft.policy.reconciliation.single_valued == "supersede"


def _insert(
    draft: Draft, clean: Clean, decision: Decision, targets: list[Memory], vector: Vector | None
) -> Memory:
    """A new live row; what it may duplicate goes to the merge queue; a full scope loses its weakest."""
    memory = build(clean, draft, decision.status or Status.LIVE, hash_of(clean.candidate, draft))
    before = memories.insert(memory, actor=draft.principal.name, vector=vector)
    for other in decision.linked:
        open_contradiction(draft, "merge", memory, other)
    cap = draft.policy.reconciliation.cap
    if cap is not None and before + 1 > cap:
        compact_scope(draft.changes, memory.scope, before + 1 - cap, keep=memory.id)
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
    memories.insert(memory, actor=draft.principal.name, vector=vector)
    return memory


def _hold_conflict(
    draft: Draft, clean: Clean, decision: Decision, targets: list[Memory], vector: Vector | None
) -> Memory:
    """Too weak to replace what is known: kept as a candidate, and a person decides."""
    memory = build(clean, draft, Status.CANDIDATE, hash_of(clean.candidate, draft), reason="conflict")
    memories.insert(memory, actor=draft.principal.name, vector=None)
    for row in targets:
        open_contradiction(draft, "conflict", memory, row.id)
    return memory


def _contest(
    draft: Draft, clean: Clean, decision: Decision, targets: list[Memory], vector: Vector | None
) -> Memory:
    """As strong as what is known, from another source: both stand, marked, until a person decides."""
    for row in targets:
        if row.status == Status.LIVE:
            draft.changes.move(row, lifecycle.Event.CONTEST, "memory.contested", "contested")
    memory = build(clean, draft, Status.CONTESTED, hash_of(clean.candidate, draft), reason="contested")
    memories.insert(memory, actor=draft.principal.name, vector=vector)
    for row in targets:
        open_contradiction(draft, "contested", memory, row.id)
    return memory


def _nothing(
    draft: Draft, clean: Clean, decision: Decision, targets: list[Memory], vector: Vector | None
) -> Memory:
    """An echo of what the session was shown: counts for nothing."""
    return targets[0]


def open_contradiction(draft: Draft, kind: str, memory: Memory, other: UUID) -> None:
    """Put a pair before a person: `conflict`, `contested`, or `merge` for what may say the same."""
    contradiction = Contradiction(
        kind=kind, scope=memory.scope, subject=memory.subject, predicate=memory.predicate, memory_a=other,
        memory_b=memory.id, created_at=draft.now,
    )  # fmt: skip
    reviews.insert_contradiction(contradiction)
    draft.changes.add("contradiction.opened", "contradiction", show_id("con", contradiction.id), scope=memory.scope,
                      after={"kind": kind, "memories": [show_id("mem", other), show_id("mem", memory.id)]})  # fmt: skip


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
