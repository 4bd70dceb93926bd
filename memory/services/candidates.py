"""From a write request to a candidate, and the right to write it where it wants to live."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from memory.domain.defaults import resolve_defaults
from memory.domain.normalise import BadText, TooLong
from memory.domain.registry import PredicateRule
from memory.domain.scopes import Scope, Verb, may, parse_scope
from memory.domain.types import Candidate, Kind, Layer
from memory.models import Memory
from memory.selectors.policies import ActivePolicy
from memory.selectors.visibility import is_owned_kind, rules_of
from memory.services.access import REVIEWERS, deny, may_on, require_role
from memory.services.errors import Invalid, TooLarge
from memory.services.write_types import WriteRequest
from memory.store import scopes
from tenants.context import tenant_context
from tenants.principals import Principal


@dataclass(frozen=True, slots=True)
class Prepared:
    """A candidate with the registry's rule for its predicate and the domain text that it must fit."""

    candidate: Candidate
    rule: PredicateRule | None
    domain: str


def prepare(principal: Principal, request: WriteRequest, active: ActivePolicy, now: datetime) -> Prepared:
    """Normalise and fill in defaults.  Raises `Invalid` or `TooLarge`, naming the field."""
    try:
        if request.layer or request.kind:
            request = replace(
                request,
                layer=Layer(request.layer) if request.layer else None,
                kind=Kind(request.kind) if request.kind else None,
            )
        candidate = resolve_defaults(
            request,
            agent_role=principal.role,
            key_ceiling=principal.trust_ceiling,
            policy=active.policy,
            now=now,
            agent=principal.agent_id or principal.id,
            ancestor_trust=_ancestor_trust(principal, request.derived_from),
            aliases=active.words.aliases,
            registry=active.words.registry,
        )
    except BadText as error:
        raise Invalid(str(error), field=error.field) from None
    except TooLong as error:
        raise TooLarge(str(error), field=error.field) from None
    except ValueError as error:
        raise Invalid(str(error)) from None
    rule = active.words.registry.lookup(candidate.predicate) if candidate.predicate else None
    return Prepared(candidate, rule, active.policy.for_scope(candidate.scope).admission.domain.description)


def _ancestor_trust(principal: Principal, ancestors: Sequence[UUID]) -> float | None:
    """What is derived is trusted no more than the least trusted thing it comes from."""
    if not ancestors:
        return None
    with tenant_context(principal.tenant_id):
        rows = list(
            Memory.objects.filter(id__in=list(ancestors)[:200]).only("id", "tenant_id", "trust", "scope")
        )
        visible = [row for row in rows if may_on(principal, Verb.READ, parse_scope(row.scope))]
    if len(visible) < len(set(ancestors)):
        raise Invalid(
            "derived_from names memories that are not there or not yours to see", field="derived_from"
        )
    return min(float(row.trust) for row in visible)


def authorise(principal: Principal, scope: Scope) -> None:
    """Check the write grant; a session or task becomes the agent's at its first write.  Raises `Denied`.

    A denied write leaves no scope behind.
    """
    if principal.kind == "member":
        require_role(principal, REVIEWERS, "write a memory")
    granted = principal.kind != "agent" or may(
        Verb.WRITE, scope, agent_role=principal.role, rules=rules_of(principal)
    )
    if not granted and not is_owned_kind(scope):
        deny(principal, Verb.WRITE, scope)
    owner = scopes.ensure(principal.tenant_id, scope, principal.agent_id)
    if not granted and owner != principal.agent_id:
        deny(principal, Verb.WRITE, scope)
