"""Writes repeated against an imaginary store, so that two policies can be compared on the same past.

The store begins with what was readable when the first of the writes came.  Both policies go the same way through the
same rules as a real write (`admission`, `reconciliation`), so that what differs in the end is the policies' doing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from memory.domain.admission import admit, review_wanted
from memory.domain.claims import claim_key
from memory.domain.lifecycle import READABLE
from memory.domain.policy import Policy
from memory.domain.preview.gate import sanitised
from memory.domain.reconciliation import Action, Decision, Near, reconcile
from memory.domain.registry import PredicateRule
from memory.domain.text import query_terms
from memory.domain.types import Candidate, Known, Origin, OutcomeKind, Status
from memory.domain.validity import begins_later

_COMPARED: Final = 20
"""Free texts that one write is compared with by its wording, as in a real write."""
_BELOW: Final = 1e-6


@dataclass(frozen=True, slots=True)
class Unknown:
    """What a refused write cannot have reached: it was below these floors then.  1 where nothing is known."""

    confidence: float = 1.0
    importance: float = 1.0
    trust: float = 1.0


@dataclass(frozen=True, slots=True)
class PastWrite:
    """A write as it is recorded.

    `given` says what its writer gave of confidence, importance, trust (a ceiling of its key) and time to live: what
    was not given follows the defaults of each policy.
    """

    id: UUID
    at: datetime
    candidate: Candidate
    value_hash: bytes
    outcome: OutcomeKind
    reason: str = ""
    rule: PredicateRule | None = None
    findings: frozenset[str] = frozenset()
    shown: frozenset[UUID] = frozenset()
    given: frozenset[str] = frozenset()
    unknown: Unknown = field(default_factory=Unknown)
    refused_for_good: bool = False
    """Refused for what no policy changes, such as an origin that the product does not know."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """What becomes of a write: the outcome, its reason code, and when it would end."""

    outcome: OutcomeKind
    reason: str
    expires_at: datetime | None = None

    @property
    def label(self) -> str:
        """`stored`, or with the reason: `rejected: low_confidence`."""
        plain = self.outcome in (OutcomeKind.STORED, OutcomeKind.DUPLICATE, OutcomeKind.NEAR_DUPLICATE,
                                 OutcomeKind.ECHO, OutcomeKind.SUPERSEDED)  # fmt: skip
        return str(self.outcome) if plain or not self.reason else f"{self.outcome}: {self.reason}"


class Replay:
    """An imaginary store under one policy."""

    def __init__(self, policy: Policy, near: Near) -> None:
        self._policy, self._near = policy, near
        self._rows: dict[UUID, Known] = {}
        self._keys: dict[tuple[str, str, str], set[UUID]] = defaultdict(set)
        self._texts: dict[str, dict[UUID, frozenset[str]]] = defaultdict(dict)

    def offer(self, write: PastWrite, base: Iterable[Known]) -> Replayed:
        """Repeat a write; `base` are the rows of the real store that it met, as they were then."""
        if write.refused_for_good:
            return Replayed(OutcomeKind.REJECTED, write.reason)
        candidate = self._under(write)
        policy = self._policy.for_scope(candidate.scope)
        admission = admit(candidate, policy, now=write.at, rule=write.rule)
        if not admission.admitted:
            return Replayed(OutcomeKind.REJECTED, admission.reason or "")
        verdict, reason = sanitised(
            write.findings, candidate.trust, candidate.kind, candidate.layer, policy.sanitisation
        )
        if verdict == "reject":
            return Replayed(OutcomeKind.REJECTED, reason)
        if verdict == "quarantine":
            return Replayed(OutcomeKind.HELD, reason)
        if review_wanted(candidate, policy):
            return Replayed(OutcomeKind.HELD, "low_confidence")
        keep_apart = policy.reconciliation.near_duplicates == "keep"
        decision = reconcile(
            candidate,
            self._met(write, candidate, base),
            write.rule,
            policy,
            value_hash=write.value_hash,
            near=None if keep_apart else self._near,
            now=write.at,
            shown_to_session=write.shown,
        )
        self._carry_out(write, candidate, decision)
        return Replayed(decision.outcome, decision.reason or "", candidate.expires_at)

    def _under(self, write: PastWrite) -> Candidate:
        """The candidate with the defaults of this policy where its writer said nothing."""
        c, given = write.candidate, write.given
        defaults = self._policy.for_scope(c.scope).defaults
        trust = defaults.trust[c.origin]
        confidence = c.confidence if "confidence" in given else defaults.confidence[c.origin]
        if c.origin is Origin.MODEL_INFERRED:
            confidence = min(confidence, defaults.model_inferred_cap)
        importance = c.importance if "importance" in given else defaults.importance
        expires_at, seconds = c.expires_at, defaults.ttl_seconds[c.layer]
        if "ttl" not in given:
            expires_at = None if seconds is None else write.at + timedelta(seconds=seconds)
        return replace(
            c,
            trust=min(c.trust if "trust" in given else trust, trust, _under_floor(write.unknown.trust)),
            confidence=min(confidence, _under_floor(write.unknown.confidence)),
            importance=min(importance, _under_floor(write.unknown.importance)),
            expires_at=expires_at,
        )

    def _met(self, write: PastWrite, c: Candidate, base: Iterable[Known]) -> Sequence[Known]:
        """The rows of the imaginary store that the write is compared with."""
        found = {row.id: self._rows.setdefault(row.id, row) for row in base}
        scope = str(c.scope)
        if c.keyed:
            ids = self._keys[scope, c.subject or "", c.predicate or ""]
            found |= {one: self._rows[one] for one in ids}
        else:
            found |= self._alike(scope, c, write.value_hash)
        return sorted(found.values(), key=lambda row: row.id)

    def _alike(self, scope: str, c: Candidate, value_hash: bytes) -> dict[UUID, Known]:
        texts, terms, claim = self._texts[scope], frozenset(query_terms(c.content)), claim_key(c.content)
        shared = sorted(((len(terms & has), one) for one, has in texts.items() if terms & has), reverse=True)
        near = {one for _count, one in shared[:_COMPARED]}
        same = {
            one for one in texts
            if self._rows[one].value_hash == value_hash or (claim and claim_key(self._rows[one].content) == claim)
        }  # fmt: skip
        return {one: self._rows[one] for one in near | same}

    def _carry_out(self, write: PastWrite, c: Candidate, decision: Decision) -> None:
        for target in decision.targets:
            self._change(target, write, decision)
        for gone in decision.over:
            self._rows[gone] = replace(self._rows[gone], status=Status.SUPERSEDED)
        row_made = decision.action not in (Action.TOUCH, Action.MERGE_INTO_KNOWN, Action.NOTHING)
        if row_made and decision.status in READABLE:
            self._insert(write, c, decision.status or Status.LIVE)

    def _change(self, target: UUID, write: PastWrite, decision: Decision) -> None:
        row = self._rows[target]
        if decision.action in _BECOME:
            self._rows[target] = replace(row, status=_BECOME[decision.action])
        elif decision.refreshes:
            self._rows[target] = replace(row, learned_at=max(row.learned_at, write.at))

    def _insert(self, write: PastWrite, c: Candidate, status: Status) -> None:
        row = Known(
            id=write.id, version=1, status=status, content=c.content, value=c.value, value_hash=write.value_hash,
            predicate=c.predicate, confidence=c.confidence, trust=c.trust, origin=c.origin, learned_at=write.at,
            valid_from=c.valid_from, agent=c.agent, session=c.session, subject=c.subject, tool=c.tool,
            expires_at=c.expires_at, valid_to=c.valid_to, begins_at=begins_later(c.valid_from, write.at),
            single_valued=c.keyed and write.rule is not None and write.rule.single_valued,
        )  # fmt: skip
        self._rows[row.id] = row
        if c.keyed:
            self._keys[str(c.scope), c.subject or "", c.predicate or ""].add(row.id)
        else:
            self._texts[str(c.scope)][row.id] = frozenset(query_terms(c.content))


_BECOME: Final = {
    Action.SUPERSEDE: Status.SUPERSEDED,
    Action.MERGE_INTO_NEW: Status.MERGED,
    Action.CONTEST: Status.CONTESTED,
}


def _under_floor(floor: float) -> float:
    return floor if floor >= 1.0 else max(0.0, floor - _BELOW)


def part_of(was: Replayed, will: Replayed) -> str | None:
    """The part of the report that a difference belongs to; None where there is none."""
    if (was.outcome, was.reason) == (will.outcome, will.reason):
        return None if _ends_alike(was, will) else "ends_otherwise"
    if will.outcome is OutcomeKind.REJECTED:
        return "refused" if was.outcome is not OutcomeKind.REJECTED else None
    if was.outcome is OutcomeKind.REJECTED:
        return "admitted"
    return _PARTS.get(will.outcome, "kept_apart")


def _ends_alike(was: Replayed, will: Replayed) -> bool:
    return was.expires_at == will.expires_at


_PARTS: Final = {
    OutcomeKind.HELD: "held",
    OutcomeKind.SUPERSEDED: "superseded",
    OutcomeKind.DUPLICATE: "merged",
    OutcomeKind.NEAR_DUPLICATE: "merged",
    OutcomeKind.ECHO: "merged",
}


def remembered(judge: Near) -> Near:
    """The judge, asked once about each pair."""
    known: dict[tuple[str, str], object] = {}

    def judged(one: str, other: str) -> object:
        pair = (one, other)
        if pair not in known:
            known[pair] = judge(one, other)
        return known[pair]

    return judged  # type: ignore[return-value]


__all__ = ["PastWrite", "Replay", "Replayed", "Unknown", "part_of", "remembered"]
