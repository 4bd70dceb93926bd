"""A write under way: what it collects, the row it builds, and the decision that closes it.

What is decided, and what that does to other rows, is `write_store`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from memgov.ids import new_id
from memory.domain.claims import claim_key
from memory.domain.ids import show_id
from memory.domain.normalise import value_hash
from memory.domain.policy import Policy
from memory.domain.registry import PredicateRule
from memory.domain.types import Candidate, OutcomeKind, Status
from memory.domain.validity import begins_later
from memory.models import Contradiction, Memory, WriteDecision
from memory.selectors.known import Met
from memory.selectors.policies import ActivePolicy
from memory.services.candidates import Prepared
from memory.services.changes import Changes
from memory.services.purify import Clean
from memory.services.write_types import Outcome
from memory.store import decisions, reviews
from tenants.principals import Principal

HeldKey = tuple[str, str, str, str, bytes]


class NeedsItsOwn(Exception):
    """A row stands beside others, which it would lock or link: it is not written together with many."""


@dataclass(slots=True)
class Shared:
    """What candidates that are written together were found to stand beside, read for all of them at once.

    `met` goes by the id of the draft's decision; `held` holds what waits already, by `held_key`.
    """

    met: Mapping[UUID, Met]
    held: dict[HeldKey, Memory]


def held_key(status: Status, candidate: Candidate, hashed: bytes) -> HeldKey:
    """By what a row that is held is the same: in quarantine by its text alone, else with its subject and predicate."""
    if status is Status.QUARANTINED:
        return status.value, str(candidate.scope), "", "", hashed
    return status.value, str(candidate.scope), candidate.subject or "", candidate.predicate or "", hashed


def held_already(draft: Draft, status: Status, candidate: Candidate, hashed: bytes) -> Memory | None:
    """What waits with the same words, if anything does."""
    key = held_key(status, candidate, hashed)
    if draft.shared is not None:
        return draft.shared.held.get(key)
    _, scope, subject, predicate, _ = key
    rows = Memory.objects.filter(scope=scope, value_hash=hashed, status=status.value)
    return (
        rows if status is Status.QUARANTINED else rows.filter(subject=subject, predicate=predicate)
    ).first()


def held_now(draft: Draft, status: Status, candidate: Candidate, hashed: bytes, memory: Memory) -> None:
    """Those that are written together after it find it, though the database does not hold it yet."""
    if draft.shared is not None:
        draft.shared.held[held_key(status, candidate, hashed)] = memory


class Draft:
    """A write under way: who, what, under which policy, at which instant."""

    def __init__(
        self,
        principal: Principal,
        prepared: Prepared,
        active: ActivePolicy,
        now: datetime,
        *,
        alone: bool = False,
    ) -> None:
        """`alone`: the transaction is this write's own, and what nobody asks about again may travel with its end."""
        self.principal, self.prepared, self.active, self.now = principal, prepared, active, now
        self.alone = alone
        self.beside = 0
        self.over: list[Memory] = []
        self.shared: Shared | None = None
        self.policy: Policy = active.policy.for_scope(prepared.candidate.scope)
        self.changes = Changes(principal, now, active)
        self.decision_id = new_id(now)
        self.counted: list[dict[str, Any]] = []

    @property
    def trails(self) -> bool:
        """Whether what is stored may travel with the end of the transaction: nothing in it looks for it again.

        The watch for bursts of junk counts an agent's decisions at once.
        """
        return self.alone and self.principal.agent_id is None

    def close(self, clean: Clean, outcome: OutcomeKind, **more: Any) -> Outcome:
        """Record the decision, append the audit events, and give the outcome."""
        memory: Memory | None = more.get("memory")
        candidate = clean.candidate
        result = Outcome(
            outcome=outcome, policy_version=self.active.number, decision_id=self.decision_id,
            findings=clean.told, **more,
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
                findings=[asdict(finding) for finding in clean.told],
                policy_version=self.active.number,
                request_id=self.principal.request_id,
                task=candidate.task or "",
                undo={"changes": self.changes.undo, "counted": self.counted} if candidate.task else {},
            ),
            at_once=outcome in _WATCHED and not self.trails,
        )
        after = {"outcome": outcome.value, "reason": result.reason, "content": candidate.content}
        if memory is None:
            self.changes.add(f"write.{outcome.value}", "decision", show_id("dec", self.decision_id),
                             scope=str(candidate.scope), reason=result.reason or "", after=after)  # fmt: skip
        else:
            self.changes.note(_ACTIONS[outcome], memory, reason=result.reason or "", after=after)
        self.changes.finish()
        return result


# The watch for bursts of junk counts these in the same transaction.
_WATCHED = frozenset({OutcomeKind.REJECTED, OutcomeKind.HELD})
_ACTIONS = {
    OutcomeKind.STORED: "memory.stored",
    OutcomeKind.SUPERSEDED: "memory.stored",
    OutcomeKind.DUPLICATE: "memory.confirmed",
    OutcomeKind.NEAR_DUPLICATE: "memory.confirmed",
    OutcomeKind.ECHO: "memory.echoed",
    OutcomeKind.HELD: "memory.held",
}


def hash_of(candidate: Candidate, draft: Draft) -> bytes:
    """The hash by which sameness is told, under the rule of the candidate's predicate."""
    rule = draft.prepared.rule
    return value_hash(candidate.said, rule.normaliser) if rule else value_hash(candidate.said)


def build(clean: Clean, draft: Draft, status: Status, hashed: bytes, *, reason: str = "") -> Memory:
    """A row for the candidate, not yet stored."""
    c, principal, rule = clean.candidate, draft.principal, draft.prepared.rule
    claim = "" if c.keyed else claim_key(c.content)
    return Memory(
        id=new_id(draft.now),
        scope=str(c.scope), layer=c.layer.value, kind=c.kind.value, subject=c.subject or "",
        predicate=c.predicate or "", claim=claim, single_valued=one_value(c, claim, rule, draft.policy),
        may_repeat=draft.policy.reconciliation.exact_duplicates == "keep",
        value=c.value or "", content=c.content, value_hash=hashed, paths=list(c.paths), tags=list(c.tags),
        metadata=dict(c.metadata), importance=c.importance, confidence=c.confidence, trust=c.trust,
        origin=c.origin.value, agent_id=principal.agent_id, agent_name=principal.name, key_id=principal.key_id,
        session=c.session or "", task=c.task or "", tool=c.tool or "", input_hash=c.input_hash or "",
        derived_from=list(c.derived_from), status=status.value, status_reason=reason, status_changed_at=draft.now,
        findings=[asdict(finding) for finding in clean.findings], policy_version=draft.active.number,
        recorded_at=draft.now, learned_at=draft.now, expires_at=c.expires_at, review_by=c.review_by,
        valid_from=c.valid_from, valid_to=c.valid_to, begins_at=begins_later(c.valid_from, draft.now),
    )  # fmt: skip


def one_value(c: Candidate, claim: str, rule: PredicateRule | None, policy: Policy) -> bool:
    """Whether the database has to keep another live value away: of the key, or of what a free text claims.

    Equal claims are one memory only where near duplicates are merged; else they may stand side by side.
    """
    rules = policy.reconciliation
    if rules.single_valued != "supersede":
        return False
    return bool(rule and rule.single_valued) if c.keyed else bool(claim) and rules.near_duplicates == "merge"


def open_contradictions(draft: Draft, kind: str, memory: Memory, others: Sequence[UUID]) -> None:
    """Put pairs before a person: `conflict`, `contested`, or `merge` for what may say the same."""
    found = [
        Contradiction(
            kind=kind, scope=memory.scope, subject=memory.subject, predicate=memory.predicate, memory_a=other,
            memory_b=memory.id, created_at=draft.now,
        )
        for other in others
    ]  # fmt: skip
    reviews.insert_contradictions(found)
    for one in found:
        shown = [show_id("mem", one.memory_a), show_id("mem", memory.id)]
        draft.changes.add(
            "contradiction.opened", "contradiction", show_id("con", one.id), scope=memory.scope,
            after={"kind": kind, "memories": shown},
        )  # fmt: skip
