"""From what a writer sends to a candidate: text normalised, defaults filled in, claims capped.

The second stage of the write pipeline. Whether the candidate is any good is decided by admission.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeVar, cast
from uuid import UUID

from memory.domain.normalise import (
    NAME_LIMIT,
    BadText,
    TooLong,
    content_of,
    normalise_metadata,
    normalise_subject,
    normalise_text,
    parse_ttl,
)
from memory.domain.policy import Policy
from memory.domain.registry import DEFAULT_REGISTRY, Registry
from memory.domain.scopes import Scope, ScopeKind, narrowest, parse_scope
from memory.domain.types import Candidate, Finding, Kind, Layer, Origin
from memory.domain.zero_characters import without_zero

T = TypeVar("T")

MAX_ITEMS: Final = 100
"""Most paths, tags or ancestors of one memory."""

_LAYER_OF_KIND: Final = {Kind.PROCEDURE: Layer.PROCEDURAL, Kind.EVENT: Layer.EPISODIC}
_LONGEST: Final = datetime(9000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class RawCandidate:
    """The fields of a write as they came, None where the writer said nothing. Types are those of the API."""

    content: str | None = None
    subject: str | None = None
    predicate: str | None = None
    value: str | None = None
    scope: str | Scope | None = None
    layer: Layer | None = None
    kind: Kind | None = None
    origin: str | None = None
    confidence: float | None = None
    importance: float | None = None
    session: str | None = None
    task: str | None = None
    tool: str | None = None
    input_hash: str | None = None
    derived_from: Sequence[UUID] = ()
    paths: Sequence[str] = ()
    tags: Sequence[str] = ()
    ttl: object = None
    expires_at: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    review_by: datetime | None = None
    metadata: Mapping[str, object] = field(default_factory=dict)


def resolve_defaults(
    raw: RawCandidate,
    *,
    agent_role: str,
    key_ceiling: float,
    policy: Policy,
    now: datetime,
    agent: str | UUID | None = None,
    ancestor_trust: float | None = None,
    aliases: Mapping[str, str] | None = None,
    registry: Registry = DEFAULT_REGISTRY,
) -> Candidate:
    """The candidate that the rest of the pipeline judges. Raises BadText and TooLong, each naming the field.

    `policy` is the tenant's; the overrides of the candidate's scope are applied here. Trust is that of the
    origin, at most the key's ceiling, at most the lowest of the ancestors. A `model_inferred` statement that
    names no scope starts in its session.  Zero characters are taken out of every text, and the candidate says where.
    """
    raw, removed = _kept(raw)
    origin, unknown = _origin(raw.origin, policy)
    session, task = _run(raw.session, ScopeKind.SESSION), _run(raw.task, ScopeKind.TASK)
    valid_from, valid_to = _aware(raw.valid_from, "valid_from"), _aware(raw.valid_to, "valid_to")
    if valid_from is not None and valid_to is not None and valid_to < valid_from:
        raise BadText("valid_to", "is before valid_from")
    scope = _scope(raw.scope, origin, session, task, agent_role)
    policy = policy.for_scope(scope)
    subject, predicate, value, content = _statement(raw, policy, aliases, registry)
    kind = raw.kind or Kind.FACT
    layer = raw.layer or _LAYER_OF_KIND.get(kind, Layer.SEMANTIC)
    trust = 0.0 if unknown else policy.defaults.trust[origin]
    return Candidate(
        content=content,
        scope=scope,
        subject=subject,
        predicate=predicate,
        value=value,
        layer=layer,
        kind=kind,
        origin=origin,
        trust=min(trust, key_ceiling, 1.0 if ancestor_trust is None else ancestor_trust),
        confidence=_confidence(raw.confidence, origin, policy),
        importance=_share(raw.importance, "importance", policy.defaults.importance),
        session=session,
        task=task,
        tool=_name(raw.tool, "tool"),
        input_hash=_name(raw.input_hash, "input_hash"),
        derived_from=tuple(dict.fromkeys(_few(raw.derived_from, "derived_from"))),
        paths=_names(raw.paths, "paths"),
        tags=_names(raw.tags, "tags"),
        expires_at=_expiry(raw, layer, policy, now),
        valid_from=valid_from,
        valid_to=valid_to,
        review_by=_aware(raw.review_by, "review_by"),
        metadata=normalise_metadata(raw.metadata, policy.text),
        agent=agent,
        unknown_origin=unknown,
        removed=removed,
    )


_TEXTS: Final = (
    "content", "subject", "predicate", "value", "scope", "origin", "session", "task", "tool", "input_hash", "paths",
    "tags", "metadata",
)  # fmt: skip


def _kept(raw: RawCandidate) -> tuple[RawCandidate, tuple[Finding, ...]]:
    """What of the texts can be kept, and what was taken out of them."""
    given = {name: value for name in _TEXTS if (value := getattr(raw, name))}
    changed, removed = without_zero(given)
    return (replace(raw, **cast(dict[str, Any], changed)) if changed else raw), removed


def _origin(given: str | None, policy: Policy) -> tuple[Origin, str | None]:
    if given is None:
        return policy.defaults.origin, None
    try:
        return Origin(given), None
    except ValueError:
        return Origin.EXTERNAL, given


def _scope(
    given: str | Scope | None, origin: Origin, session: str | None, task: str | None, agent_role: str
) -> Scope:
    try:
        if isinstance(given, Scope):
            return given
        if given is not None:
            return parse_scope(given)
        if origin is Origin.MODEL_INFERRED and session:
            return parse_scope(f"{ScopeKind.SESSION}:{session}")
        return narrowest(session, task, agent_role)
    except ValueError as error:
        raise BadText("scope", str(error)) from None


def _statement(
    raw: RawCandidate, policy: Policy, aliases: Mapping[str, str] | None, registry: Registry
) -> tuple[str | None, str | None, str | None, str]:
    """(subject, predicate, value, content): a whole triple, or free text that may name its subject."""
    limit = policy.text.content_characters
    subject = normalise_subject(raw.subject, aliases) if raw.subject else None
    predicate = registry.canonical(raw.predicate) if raw.predicate else None
    value = normalise_text(raw.value, "value", limit) if raw.value is not None else None
    content = normalise_text(raw.content, "content", limit) if raw.content is not None else ""
    if raw.predicate and not predicate:
        raise BadText("predicate", "has no letter or digit")
    if predicate and not subject:
        raise BadText("subject", "is needed with a predicate")
    if bool(predicate) != bool(value):
        raise BadText("predicate" if value else "value", "predicate and value come together")
    if subject and predicate and value and not content:
        content = content_of(subject, predicate, value)
    if not content:
        raise BadText("content", "give content, or subject, predicate and value")
    return subject, predicate, value, content


def _confidence(given: float | None, origin: Origin, policy: Policy) -> float:
    confidence = _share(given, "confidence", policy.defaults.confidence[origin])
    if origin is Origin.MODEL_INFERRED:
        return min(confidence, policy.defaults.model_inferred_cap)
    return confidence


def _share(given: float | None, field: str, default: float) -> float:
    if given is None:
        return default
    if isinstance(given, bool) or not 0.0 <= given <= 1.0:
        raise BadText(field, "must be from 0 to 1")
    return float(given)


def _expiry(raw: RawCandidate, layer: Layer, policy: Policy, now: datetime) -> datetime | None:
    """An explicit time, else an explicit TTL, else that of the layer; None never expires."""
    if raw.expires_at is not None:
        if raw.ttl is not None:
            raise BadText("ttl", "give ttl or expires_at, not both")
        return _aware(raw.expires_at, "expires_at")
    try:
        span = parse_ttl(raw.ttl)
    except ValueError as error:
        raise BadText("ttl", str(error).removeprefix("ttl: ")) from None
    seconds = policy.defaults.ttl_seconds[layer]
    if span is None and seconds is not None:
        span = timedelta(seconds=seconds)
    return None if span is None else now + span


def _aware(given: datetime | None, field: str) -> datetime | None:
    """In UTC; a time without a zone has many readings and is refused."""
    if given is None:
        return None
    if given.tzinfo is None:
        raise BadText(field, "needs a time zone, such as 2026-08-13T23:30:00+08:00")
    try:
        utc = given.astimezone(UTC)
    except OverflowError:
        raise BadText(field, "is out of range") from None
    if utc > _LONGEST:
        raise BadText(field, "is out of range")
    return utc


def _name(given: str | None, field: str) -> str | None:
    return (normalise_text(given, field, NAME_LIMIT) or None) if given is not None else None


def _run(given: str | None, kind: ScopeKind) -> str | None:
    """The name of a session or task, which is the key of a scope as well."""
    name = _name(given, kind.value)
    try:
        return parse_scope(f"{kind}:{name}").key if name else None
    except ValueError as error:
        raise BadText(kind.value, str(error)) from None


def _few(items: Sequence[T], field: str) -> Sequence[T]:
    if len(items) > MAX_ITEMS:
        raise TooLong(field, MAX_ITEMS, len(items), "items")
    return items


def _names(items: Sequence[str], field: str) -> tuple[str, ...]:
    clean = (_name(item, field) for item in _few(items, field))
    return tuple(dict.fromkeys(name for name in clean if name))
