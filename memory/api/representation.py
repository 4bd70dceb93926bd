"""What clients get: rows and outcomes as JSON values.  Shapes are described in `answers`, decisions made elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from memory.domain.freshness import band
from memory.domain.ids import show_id
from memory.domain.lifecycle import standing
from memory.domain.policy import Policy
from memory.domain.scopes import Verb, may, parse_scope
from memory.domain.types import Kind
from memory.models import (
    AuditEvent,
    Job,
    Memory,
    PromotionDecision,
    PromotionNote,
    PromotionRequest,
    Revision,
)
from memory.selectors.visibility import rules_of
from memory.selectors.vocabulary import words_known
from memory.services.write_types import Outcome
from tenants.principals import Principal


def when(instant: datetime | None) -> str | None:
    """An instant in UTC, to the microsecond."""
    if instant is None:
        return None
    return (instant if instant.tzinfo is UTC else instant.astimezone(UTC)).isoformat()[:-6] + "Z"


def named(prefix: str, uuid: UUID | None) -> str | None:
    """An id with its prefix."""
    return show_id(prefix, uuid) if uuid else None


def ids(prefix: str, uuids: Sequence[UUID]) -> list[str]:
    """Ids with their prefix."""
    return [show_id(prefix, uuid) for uuid in uuids]


def present_status(memory: Memory, now: datetime) -> str:
    """The status as a reader has to take it."""
    return standing(memory.status, memory.expires_at, now, memory.valid_to)


def is_withheld(memory: Memory, reader: Principal) -> bool:
    """Text in quarantine is shown to the agent that wrote it and to nobody else over the API."""
    return memory.status == "quarantined" and reader.kind == "agent" and memory.agent_id != reader.agent_id


def memory_json(memory: Memory, reader: Principal, policy: Policy, now: datetime) -> dict[str, Any]:
    """A memory with everything that its reader may know."""
    rule = words_known(memory.tenant_id).registry.lookup(memory.predicate) if memory.predicate else None
    own = policy.for_scope(parse_scope(memory.scope))
    withheld = is_withheld(memory, reader)
    return {
        "id": show_id("mem", memory.id),
        "version": memory.version,
        "status": present_status(memory, now),
        "status_reason": memory.status_reason or None,
        "scope": memory.scope,
        "layer": memory.layer,
        "kind": memory.kind,
        "subject": memory.subject or None,
        "predicate": memory.predicate or None,
        "value": None if withheld else memory.value or None,
        "content": None if withheld else memory.content,
        "withheld": "quarantined" if withheld else None,
        "applies_to": {"paths": memory.paths, "tags": memory.tags},
        "importance": memory.importance,
        "confidence": memory.confidence,
        "trust": memory.trust,
        "band": band(Kind(memory.kind), rule, memory.learned_at, now, own).value,
        "origin": memory.origin,
        "agent": {"id": named("agt", memory.agent_id), "name": memory.agent_name},
        "key": named("key", memory.key_id),
        "session": memory.session or None,
        "task": memory.task or None,
        "tool": memory.tool or None,
        "input_hash": memory.input_hash or None,
        "derived_from": ids("mem", memory.derived_from),
        "also_learned_in": memory.also_learned_in,
        "reproductions": memory.reproductions,
        "use_count": memory.use_count,
        "pin": _pin(memory, now),
        "superseded_by": named("mem", memory.superseded_by),
        "merged_into": named("mem", memory.merged_into),
        "findings": memory.findings,
        "metadata": {} if withheld else memory.metadata,
        "policy_version": memory.policy_version,
        **{name: when(getattr(memory, name)) for name in MEMORY_TIMES},
    }


MEMORY_TIMES = (
    "recorded_at", "learned_at", "last_used_at", "expires_at", "review_by", "valid_from", "valid_to",
)  # fmt: skip


def _pin(memory: Memory, now: datetime) -> dict[str, Any] | None:
    if memory.pinned_at is None or (memory.pinned_until is not None and memory.pinned_until <= now):
        return None
    return {
        "by": memory.pinned_by,
        "reason": memory.pin_reason,
        "at": when(memory.pinned_at),
        "until": when(memory.pinned_until),
    }


def outcome_json(outcome: Outcome, reader: Principal, policy: Policy, now: datetime) -> dict[str, Any]:
    """What became of a candidate.  A key that writes where it may not read is not shown what others wrote there."""
    row = outcome.memory if outcome.memory is not None and _may_see(reader, outcome.memory) else None
    return {
        "outcome": outcome.outcome.value,
        "reason": outcome.reason,
        "rule": outcome.rule,
        "explanation": outcome.explanation,
        "memory": memory_json(row, reader, policy, now) if row else None,
        "replaced": ids("mem", outcome.replaced),
        "linked": ids("mem", outcome.linked),
        "findings": [
            {"kind": one.kind, "field": one.field, "span": list(one.span), "rule": one.rule}
            for one in outcome.findings
        ],
        "policy_version": outcome.policy_version,
        "id": show_id("dec", outcome.decision_id),
    }


def _may_see(reader: Principal, memory: Memory) -> bool:
    if reader.kind != "agent" or memory.agent_id == reader.agent_id:
        return True
    return may(Verb.READ, parse_scope(memory.scope), agent_role=reader.role, rules=rules_of(reader))


def revision_json(revision: Revision, *, withheld: str | None) -> dict[str, Any]:
    """A version of a memory; `withheld` says why not all of it: `quarantined`, or `scope` for what it was where this
    reader may not read."""
    state = {} if withheld == "scope" else dict(revision.state)
    if withheld == "quarantined":
        state |= {"content": None, "value": None, "metadata": {}}
    if state:
        for name in ("superseded_by", "merged_into"):
            state[name] = named("mem", UUID(state[name])) if state.get(name) else None
    return {
        "version": revision.version,
        "at": when(revision.at),
        "event": revision.event,
        "actor": revision.actor,
        "reason": None if withheld == "scope" else revision.reason or None,
        "state": state,
        "withheld": withheld,
    }


def promotion_json(
    request: PromotionRequest, decisions: Sequence[PromotionDecision], notes: Sequence[PromotionNote] = ()
) -> dict[str, Any]:
    """A promotion request with what was decided on it, and what was asked and answered, oldest first."""
    return {
        "id": show_id("prm", request.id),
        "memory": show_id("mem", request.memory_id),
        "memory_version": request.memory_version,
        "from_scope": request.from_scope,
        "to_scope": request.to_scope,
        "reason": request.reason,
        "trigger": request.trigger,
        "proposer": {"kind": request.proposer_kind, "id": request.proposer_id, "name": request.proposer_name},
        "risk": request.risk,
        "risk_reasons": request.risk_reasons,
        "approvals_needed": request.approvals_needed,
        "status": request.status,
        "version": request.version,
        "created_at": when(request.created_at),
        "decided_at": when(request.decided_at),
        "result": named("mem", request.result_memory_id),
        "decisions": [
            {
                "action": one.action,
                "reason": one.reason,
                "actor": one.actor_name,
                "at": when(one.at),
                "undone_at": when(one.undone_at),
            }
            for one in decisions
        ],
        "questions": [
            {"kind": one.kind, "text": one.text, "by": one.actor_name, "at": when(one.at)}
            for one in notes
            if one.kind != "snooze"
        ],
    }


def event_json(event: AuditEvent) -> dict[str, Any]:
    """An audit event.  Texts stand in it as keyed digests only."""
    return {
        "id": show_id("evt", event.id),
        "seq": event.seq,
        "at": when(event.at),
        "actor": {"kind": event.actor_kind, "id": event.actor_id, "name": event.actor_name},
        "action": event.action,
        "target": {"kind": event.target_kind, "id": event.target_id},
        "scope": event.scope or None,
        "reason": event.reason or None,
        "before": event.before,
        "after": event.after,
        "policy_version": event.policy_version,
        "request_id": event.request_id or None,
        "hash": bytes(event.hash).hex(),
    }


def job_json(job: Job) -> dict[str, Any]:
    """An asynchronous piece of work."""
    return {
        "id": show_id("job", job.id),
        "kind": job.kind,
        "status": job.status,
        "done": job.done,
        "total": job.total,
        "result": job.result,
        "error": job.error or None,
        "created_at": when(job.created_at),
        "finished_at": when(job.finished_at),
    }
