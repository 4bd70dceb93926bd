"""The last writes repeated under a draft and under the policy in force, and where the outcomes part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final
from uuid import UUID

from memory.domain.defaults import RawCandidate, resolve_defaults
from memory.domain.normalise import value_hash
from memory.domain.policy import Policy
from memory.domain.preview.replay import PastWrite, Replay, Replayed, Unknown, part_of, remembered
from memory.domain.preview.tally import Sample, Standing, Tally
from memory.domain.registry import PredicateRule
from memory.domain.similarity import likeness
from memory.domain.types import Candidate, OutcomeKind, Status
from memory.models import Memory, WriteDecision
from memory.selectors import preview_rows as found
from memory.selectors.known_then import rows_met_at
from memory.selectors.policies import policy_numbered
from memory.services.preview.looking import (
    Tell,
    Trial,
    kinds_found,
    looking,
    scope_of,
    standing_of,
)
from memory.services.rows import candidate_of, known_of

PARTS: Final = (
    "admitted", "refused", "held", "merged", "superseded", "kept_apart", "ends_otherwise",
)  # fmt: skip
_OWN_ROW: Final = frozenset({OutcomeKind.STORED, OutcomeKind.SUPERSEDED, OutcomeKind.HELD})
_SLICE: Final = 50


def replay_writes(trial: Trial, tallies: Mapping[str, Tally], most: int, tell: Tell) -> int:
    """Repeat the last `most` writes under both policies; how many could be repeated."""
    with looking(trial.tenant_id):
        decisions = found.last_decisions(most, trial.now)
        past = _past(trial, decisions)
    writes = [one for one in past if one is not None]
    near = remembered(lambda one, other: likeness(one, other, None))
    stores = Replay(trial.present.policy, near), Replay(trial.draft.policy, near)
    alike = 0
    for start in range(0, len(writes), _SLICE):
        part = writes[start : start + _SLICE]
        with looking(trial.tenant_id):
            rows = found.memories_of({one.id for one in part})
            restored = found.restored_among(set(rows))
            for write in part:
                met = rows_met_at(write.candidate, write.value_hash, writes[0].at)
                base = [replace(known_of(one), status=_then(one)) for one in met]
                was, will = (store.offer(write, base) for store in stores)
                alike += was.outcome is write.outcome
                _count(trial, write, was, will, rows.get(write.id), restored, tallies)
        tell(len(part))
    _tell_how_well(trial, len(decisions), len(writes), alike)
    return len(writes)


def _then(row: Memory) -> Status:
    """The status of a row when it was met: what is gone by now was live."""
    return Status.CONTESTED if row.status == Status.CONTESTED else Status.LIVE


def _tell_how_well(trial: Trial, asked: int, repeated: int, alike: int) -> None:
    if asked > repeated:
        trial.notes.append(
            f"{asked - repeated} of {asked} writes have no text any more and were not repeated"
        )
    if repeated:
        trial.notes.append(
            f"under the policy in force {alike} of {repeated} repeated writes end as they did; refused ones are"
            " repeated from their text, with the defaults for what their writers gave beside it"
        )


def _count(
    trial: Trial, write: PastWrite, was: Replayed, will: Replayed, row: Memory | None, restored: set[UUID],
    tallies: Mapping[str, Tally],
) -> None:  # fmt: skip
    part = part_of(was, will)
    if part is None:
        return
    standing = standing_of(row, trial.now, row.id in restored) if row is not None else Standing()
    label = f"{was.label} → {will.label}" if part != "ends_otherwise" else _ends(will)
    kind = "memory" if row is not None else "decision"
    tallies[part].add(label, Sample(kind, write.id, label, standing))


def _ends(will: Replayed) -> str:
    return "without an end" if will.expires_at is None else "with another end"


def _past(trial: Trial, decisions: Sequence[WriteDecision]) -> list[PastWrite | None]:
    ids = {one.memory_id for one in decisions if one.memory_id}
    rows = found.memories_of(ids)
    first = found.first_states(ids)
    seen: set[UUID] = set()
    return [_write(trial, one, rows, first, seen) for one in decisions]


def _write(
    trial: Trial, one: WriteDecision, rows: Mapping[UUID, Memory], first: Mapping[UUID, Mapping[str, Any]],
    seen: set[UUID],
) -> PastWrite | None:  # fmt: skip
    """The write behind a decision; None when nothing of its text is left."""
    row = rows.get(one.memory_id) if one.memory_id else None
    outcome = OutcomeKind(one.outcome)
    own = row is not None and outcome in _OWN_ROW and row.id not in seen
    if not one.text or (outcome in _OWN_ROW and row is None):
        return None
    then = policy_numbered(trial.tenant_id, one.policy_version).for_scope(scope_of(one.scope))
    if row is not None and own:
        seen.add(row.id)
        candidate, given = _stored(row, one, first.get(row.id, {}), then)
    else:
        offered = _offered(trial, one, row, then)
        if offered is None:
            return None
        candidate, given = offered, frozenset()
    rule = trial.rule(candidate.predicate or "")
    return PastWrite(
        id=row.id if row is not None and own else one.id,
        at=one.at,
        candidate=candidate,
        value_hash=_hash(candidate, rule),
        outcome=outcome,
        reason=one.reason,
        rule=rule,
        findings=kinds_found(one.findings),
        shown=frozenset({one.memory_id}) if outcome is OutcomeKind.ECHO and one.memory_id else frozenset(),
        given=given,
        unknown=_unknown(one, then),
        refused_for_good=one.rule == "source.unknown",
    )


def _hash(candidate: Candidate, rule: PredicateRule | None) -> bytes:
    return value_hash(candidate.said, rule.normaliser) if rule else value_hash(candidate.said)


def _stored(
    row: Memory, one: WriteDecision, first: Mapping[str, Any], then: Policy
) -> tuple[Candidate, frozenset[str]]:
    """The candidate as it was when it came, and what of it its writer gave: what differs from the defaults of then."""
    was = {name: first.get(name, getattr(row, name)) for name in ("confidence", "importance", "trust")}
    candidate = replace(candidate_of(row), content=one.text, scope=scope_of(one.scope), **was)
    usual = {
        "confidence": then.defaults.confidence[candidate.origin],
        "importance": then.defaults.importance,
        "trust": then.defaults.trust[candidate.origin],
    }
    given = {name for name, value in was.items() if value != usual[name]}
    seconds = then.defaults.ttl_seconds[candidate.layer]
    span = (row.expires_at - row.recorded_at).total_seconds() if row.expires_at else None
    return candidate, frozenset(given | ({"ttl"} if span != seconds else set()))


def _offered(trial: Trial, one: WriteDecision, row: Memory | None, then: Policy) -> Candidate | None:
    """A candidate from the text of a decision: what its writer gave beside it is not kept."""
    raw = RawCandidate(
        content=one.text, scope=scope_of(one.scope), origin=one.origin, session=one.session or None
    )
    if row is not None and row.predicate and one.outcome == OutcomeKind.DUPLICATE:
        raw = replace(raw, subject=row.subject, predicate=row.predicate, value=row.value)
    try:
        return resolve_defaults(
            raw, agent_role="", key_ceiling=1.0, policy=then, now=one.at, agent=one.agent_id,
            registry=trial.present.words.registry,
        )  # fmt: skip
    except ValueError:  # a text that no limit of today would take
        return None


def _unknown(one: WriteDecision, then: Policy) -> Unknown:
    """What a refusal says about what is not recorded: it was below the floor of then."""
    tier, floors = scope_of(one.scope).tier, then.admission
    match one.reason:
        case "low_confidence":
            return Unknown(confidence=floors.confidence_floor.at(tier))
        case "low_importance":
            return Unknown(importance=floors.importance_floor)
        case "untrusted_source":
            return Unknown(trust=floors.trust_floor.at(tier))
    return Unknown()
