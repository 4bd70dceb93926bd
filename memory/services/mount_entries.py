"""From the entries of a mount manifest to memories: those that are listed by id, and those that it says itself."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from uuid import UUID

from memory.domain import audit_chain
from memory.domain.freshness import band
from memory.domain.ids import show_id
from memory.domain.mount import Declared, Problem
from memory.domain.normalise import value_hash
from memory.domain.scopes import OWNED_KINDS, parse_scope
from memory.domain.types import Band, Kind, Origin, OutcomeKind, Status
from memory.models import Memory
from memory.selectors.policies import ActivePolicy
from memory.services.errors import ServiceError
from memory.services.memory_write import memory_write_joined
from memory.services.mount_types import Resolved
from memory.services.write_types import Outcome, WriteRequest
from memory.store.audit import text_key
from tenants.principals import Principal

_WRITTEN = frozenset(
    {OutcomeKind.STORED, OutcomeKind.SUPERSEDED, OutcomeKind.DUPLICATE, OutcomeKind.NEAR_DUPLICATE}
)


def said(one: Declared) -> str:
    """What the file says in an entry of its own, as a keyed digest; "" for an entry by id."""
    if one.memory_id is not None:
        return ""
    whole = json.dumps(
        [one.scope, one.kind, one.content, sorted(one.paths), sorted(one.tags)], ensure_ascii=True
    )
    return audit_chain.text_digest(text_key(), whole)


def is_given(memory: Memory, now: datetime) -> bool:
    """Whether a reader could get the memory as a declared one."""
    return memory.status == Status.LIVE and (memory.expires_at is None or memory.expires_at > now)


def says_still(memory: Memory, one: Declared) -> bool:
    """Whether the memory says what the file says; somebody may have edited it since."""
    return bytes(memory.value_hash) == value_hash(one.content)


def is_fresh(memory: Memory, now: datetime, active: ActivePolicy) -> bool:
    """Whether the memory needs no confirmation."""
    policy = active.policy.for_scope(parse_scope(memory.scope))
    rule = active.words.registry.lookup(memory.predicate) if memory.predicate else None
    return band(Kind(memory.kind), rule, memory.learned_at, now, policy) is Band.FRESH


def listed(
    one: Declared, known: Mapping[UUID, Memory], now: datetime, covers: Callable[[str], bool]
) -> Resolved | Problem:
    """The memory that an entry names by its id."""
    assert one.memory_id is not None
    memory, shown = known.get(one.memory_id), show_id("mem", one.memory_id)
    if memory is None or memory.status == Status.ERASED:
        return Problem(one.line, "unknown_id", f"there is no memory {shown} in this tenant")
    if parse_scope(memory.scope).kind in OWNED_KINDS:
        return Problem(
            one.line, "out_of_scope", f"{shown} lives in {memory.scope}, which belongs to one agent"
        )
    if one.scope is not None and one.scope != memory.scope:
        return Problem(one.line, "out_of_scope", f"{shown} lives in {memory.scope}, not in {one.scope}")
    if not covers(memory.scope):
        return Problem(
            one.line, "out_of_scope", f"{shown} lives in {memory.scope}, which is not among the scopes"
        )
    if not is_given(memory, now):
        return Problem(
            one.line, "not_live", f"{shown} is {_state(memory)}: only a live memory can be mounted"
        )
    return Resolved(memory, "listed")


def _state(memory: Memory) -> str:
    if memory.status == Status.LIVE:
        return "expired"
    heir = memory.superseded_by or memory.merged_into
    into = "by" if memory.superseded_by else "into"
    return f"{memory.status} {into} {show_id('mem', heir)}" if heir else str(memory.status)


def written(writer: Principal, name: str, one: Declared) -> Resolved | Problem:
    """The memory that stands for an entry's sentence, by the one write path; what that refuses is a problem."""
    request = WriteRequest(
        content=one.content,
        scope=one.scope,
        kind=one.kind,
        origin=Origin.SYSTEM_DEFINED.value,
        paths=one.paths,
        tags=one.tags,
        metadata={"mount": name},
    )
    try:
        outcome = memory_write_joined(writer, request)
    except ServiceError as error:
        return Problem(one.line, error.code, f"cannot be stored: {error.detail}")
    wrong = _wrong(one, outcome)
    if wrong is not None or outcome.memory is None:
        return Problem(one.line, *(wrong or ("refused", "is refused")))
    return Resolved(outcome.memory, outcome.outcome.value)


def _wrong(one: Declared, outcome: Outcome) -> tuple[str, str] | None:
    """Code and sentence of what stands against the outcome; None when the sentence is live as the file has it."""
    memory, reason = outcome.memory, outcome.reason or outcome.outcome.value
    if outcome.outcome is OutcomeKind.REJECTED:
        return reason, f"is refused ({reason}): {outcome.explanation or outcome.rule or 'by the policy'}"
    if memory is None or outcome.outcome not in _WRITTEN or memory.status != Status.LIVE:
        return reason, f"would be held for a person ({reason}): settle that first"
    if outcome.findings and memory.content != one.content:
        kinds = sorted({finding.kind for finding in outcome.findings})
        return (
            f"contains_{kinds[0]}",
            f"would be stored with {', '.join(kinds)} taken out: take it out of the file",
        )
    if not says_still(memory, one):
        shown = show_id("mem", memory.id)
        return "near_duplicate", f"says nearly what {shown} says: list that id, or use its words"
    return None
