"""Changing what a memory says or where it applies: the same gates as a write, on the fields that are named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final
from uuid import UUID

from memgov import clock
from memory.domain.admission import admit
from memory.domain.claims import claim_key
from memory.domain.defaults import RawCandidate
from memory.domain.ids import show_id
from memory.domain.normalise import value_hash
from memory.domain.policy import Policy
from memory.domain.scopes import Verb, parse_scope
from memory.domain.types import Kind, Layer
from memory.models import Memory
from memory.selectors.policies import ActivePolicy, active_policy
from memory.services.access import (
    REVIEWERS,
    denials_audited,
    deny,
    may_on,
    not_declared,
    require_role,
    visible_memory,
)
from memory.services.candidates import Prepared, prepare
from memory.services.changes import Changes
from memory.services.errors import Conflict, Invalid, VersionConflict
from memory.services.purify import Clean
from memory.services.second_look import cleaned
from memory.services.write_draft import one_value
from memory.store import audit, memories
from tenants.context import tenant_context
from tenants.principals import Principal

EDITABLE: Final = frozenset(
    {
        "content",
        "value",
        "importance",
        "confidence",
        "paths",
        "tags",
        "expires_at",
        "ttl",
        "valid_from",
        "valid_to",
        "review_by",
        "metadata",
        "kind",
        "layer",
    }
)


class Refused(Invalid):
    """The edit would not pass the gates of a write; `code` is the reason, nothing was changed."""

    status = 422


@denials_audited
def memory_edit(
    principal: Principal, memory_id: UUID, fields: Mapping[str, object], *, version: int
) -> Memory:
    """Change the named fields of a memory; everything else (pin, trust, provenance, times) stays.

    Raises `VersionConflict` when `version` is no longer the present one, `Invalid` for a field that cannot be
    edited, and `Refused` when the new text would not have been admitted, which is audited like a refused write.
    """
    try:
        return _edit(principal, memory_id, fields, version)
    except Refused as refused:
        event = audit.Event("write.rejected", "memory", show_id("mem", memory_id), reason=refused.code)
        with tenant_context(principal.tenant_id):
            audit.append(principal, [event], clock.now())
        raise


def _edit(principal: Principal, memory_id: UUID, fields: Mapping[str, object], version: int) -> Memory:
    unknown = sorted(fields.keys() - EDITABLE)
    if unknown:
        raise Invalid(f"{', '.join(unknown)} cannot be edited", code="unknown_field", field=unknown[0])
    if principal.kind == "member":
        require_role(principal, REVIEWERS, "edit a memory")
    now = clock.now()
    with tenant_context(principal.tenant_id):
        visible_memory(principal, memory_id)
        memory = memories.lock([memory_id])[memory_id]
        scope = parse_scope(memory.scope)
        if not may_on(principal, Verb.WRITE, scope):
            deny(principal, Verb.WRITE, scope)
        if memory.version != version:
            raise VersionConflict(
                f"the memory is at version {memory.version}, not {version}; nothing was changed"
            )
        if memory.status not in ("live", "contested", "candidate"):
            raise Conflict(
                f"a memory that is {memory.status} cannot be edited; restore it first", code="not_live"
            )
        not_declared(principal, memory)
        active = active_policy()
        prepared = prepare(principal, _as_request(memory, fields), active, now)
        clean = _gated(principal, prepared, memory, active)
        changes = Changes(principal, now, active)
        try:
            values = _new_values(memory, clean, fields, prepared, active.policy.for_scope(scope))
            changes.set(memory, "memory.edited", **values)
        except memories.AlreadyLive:
            raise Conflict(
                "another live memory of the scope says the same; nothing was changed", code="duplicate"
            ) from None
        changes.finish()
    return memory


def _as_request(memory: Memory, fields: Mapping[str, object]) -> RawCandidate:
    """The memory as if it were written anew with the named fields changed."""
    derived = memory.predicate and "value" in fields and "content" not in fields
    base = RawCandidate(
        content=None if derived else memory.content,
        subject=memory.subject or None,
        predicate=memory.predicate or None,
        value=memory.value or None,
        scope=memory.scope,
        layer=Layer(memory.layer),
        kind=Kind(memory.kind),
        origin=memory.origin,
        confidence=memory.confidence,
        importance=memory.importance,
        paths=memory.paths,
        tags=memory.tags,
        expires_at=None if "ttl" in fields else memory.expires_at,
        valid_from=memory.valid_from,
        valid_to=memory.valid_to,
        review_by=memory.review_by,
        metadata=memory.metadata,
    )
    changed: dict[str, Any] = dict(fields)
    return replace(base, **changed)


def _says_other(prepared: Prepared, memory: Memory) -> bool:
    """Whether the words are new: then they are trusted no more than what this writer may claim, or an edit would lend
    them the trust of whoever wrote the memory."""
    c = prepared.candidate
    return (c.content, c.value or "") != (memory.content, memory.value)


def _gated(principal: Principal, prepared: Prepared, memory: Memory, active: ActivePolicy) -> Clean:
    """The edited candidate through admission and sanitisation, at the trust that it then has."""
    trust = min(memory.trust, prepared.candidate.trust) if _says_other(prepared, memory) else memory.trust
    candidate = replace(prepared.candidate, trust=trust, confidence=prepared.candidate.confidence)
    policy = active.policy.for_scope(candidate.scope)
    admission = admit(candidate, policy, now=memory.recorded_at, rule=prepared.rule)
    if not admission.admitted:
        raise Refused(f"{admission.explanation}; nothing was changed", code=admission.reason or "rejected")
    clean = cleaned(principal, candidate, policy)
    if clean.verdict != "pass":
        detail = f"the new text holds {clean.rule}; {show_id('mem', memory.id)} was not changed"
        raise Refused(detail, code=clean.reason or "rejected")
    return clean


def _new_values(
    memory: Memory, clean: Clean, fields: Mapping[str, object], prepared: Prepared, policy: Policy
) -> dict[str, Any]:
    """The columns that the edit sets; the value's hash follows what the memory says."""
    c = clean.candidate
    columns: dict[str, Any] = {
        "content": c.content,
        "value": c.value or "",
        "importance": c.importance,
        "confidence": c.confidence,
        "paths": list(c.paths),
        "tags": list(c.tags),
        "expires_at": c.expires_at,
        "valid_from": c.valid_from,
        "valid_to": c.valid_to,
        "review_by": c.review_by,
        "metadata": dict(c.metadata),
        "kind": c.kind.value,
        "layer": c.layer.value,
    }
    named = {"expires_at" if name == "ttl" else name for name in fields}
    if "value" in named:
        named.add("content")
    values = {
        name: value for name, value in columns.items() if name in named and value != getattr(memory, name)
    }
    if {"content", "value"} & values.keys():
        if c.trust != memory.trust:
            values["trust"] = c.trust
        rule = prepared.rule
        hashed = value_hash(c.said, rule.normaliser) if rule else value_hash(c.said)
        if hashed != bytes(memory.value_hash):
            values["value_hash"] = hashed
        claim = "" if c.keyed else claim_key(c.content)
        if claim != memory.claim:
            values |= {"claim": claim, "single_valued": one_value(c, claim, rule, policy)}
    return values
