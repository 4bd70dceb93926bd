"""What a principal may see and do; denied attempts are audited even though nothing else happens."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from inspect import signature
from typing import Concatenate, NoReturn, ParamSpec, TypeVar
from uuid import UUID

from memgov import clock
from memory.domain.scopes import Scope, Verb, may, parse_scope
from memory.models import Memory, Revision, ScopeRecord
from memory.selectors.mounts import declaring
from memory.selectors.visibility import is_owned_kind, rules_of
from memory.services.errors import Conflict, Denied, Invalid, NotFound
from memory.store import audit
from memory.store.memories import AlreadyLive, VersionMoved
from tenants.context import tenant_context
from tenants.principals import Principal

REVIEWERS = frozenset({"owner", "admin", "reviewer"})
ADMINS = frozenset({"owner", "admin"})
OWNERS = frozenset({"owner"})

LONGEST_REASON = 500
"""Letters of a reason or note: what the audit keeps.  Longer ones are refused and not cut: a cut reason misleads."""

P = ParamSpec("P")
R = TypeVar("R")


def denials_audited(
    service: Callable[Concatenate[Principal, P], R],
) -> Callable[Concatenate[Principal, P], R]:
    """For services: a denied call leaves an audit event, after its own transaction was taken back.

    A race that the database decided against the call is a `Conflict`; a reason that the audit cannot keep whole is
    `Invalid`.
    """
    told = [(at, name) for at, name in enumerate(signature(service).parameters) if name in ("reason", "note")]

    @wraps(service)
    def guarded(principal: Principal, /, *args: P.args, **kwargs: P.kwargs) -> R:
        for at, name in told:
            reason_fits(args[at - 1] if at <= len(args) else kwargs.get(name), name)
        try:
            return service(principal, *args, **kwargs)
        except Denied as denied:
            denial_recorded(principal, denied)
            raise
        except (AlreadyLive, VersionMoved):
            raise Conflict(
                "another memory took its place at this very moment; nothing was changed, look again",
                code="place_taken",
            ) from None

    return guarded


def reason_fits(text: object, name: str = "reason") -> None:
    """Raises `Invalid` for one that the audit cannot keep whole."""
    if isinstance(text, str) and len(text.strip()) > LONGEST_REASON:
        detail = (
            f"the {name} has {len(text.strip())} letters; the audit keeps {LONGEST_REASON}, so shorten it"
        )
        raise Invalid(detail, code="too_long", field=name)


def denial_recorded(principal: Principal, denied: Denied) -> None:
    """The audit event of a denied attempt, in a transaction of its own."""
    event = audit.Event(
        "access.denied",
        denied.target_kind,
        denied.target,
        reason=denied.detail,
        scope=denied.target if denied.target_kind == "scope" else "",
        after={"tried": denied.verb},
    )
    with tenant_context(principal.tenant_id):
        audit.append(principal, [event], clock.now())


def deny(principal: Principal, verb: Verb, scope: Scope) -> NoReturn:
    """Refuse an agent a verb on a scope."""
    detail = f"agent role {principal.role!r} has no {verb} grant on {scope}; nothing was stored"
    raise Denied(detail, verb=str(verb), target=str(scope))


def owns(principal: Principal, scope: Scope) -> bool:
    """Whether a session or task belongs to the principal."""
    return ScopeRecord.objects.filter(name=str(scope), owner_agent_id=principal.agent_id).exists()


def may_on(principal: Principal, verb: Verb, scope: Scope) -> bool:
    """Whether the principal may do it: members see everything in their tenant, agents by grants."""
    if principal.kind != "agent":
        return True
    owned = [scope] if is_owned_kind(scope) and owns(principal, scope) else []
    return may(verb, scope, agent_role=principal.role, rules=rules_of(principal), owned=owned)


def visible_memory(principal: Principal, memory_id: UUID) -> Memory:
    """The memory, if the principal may read its scope; else `NotFound`, as if it were not there."""
    memory: Memory | None = Memory.objects.filter(id=memory_id).first()
    if memory is None or not may_on(principal, Verb.READ, parse_scope(memory.scope)):
        raise NotFound("there is no such memory, or this key may not see it")
    return memory


def unread_scopes(principal: Principal, revisions: Iterable[Revision]) -> set[str]:
    """The scopes of versions that the principal may not read: a memory that was widened was narrower before, and who
    is shown it now is not shown what it said there."""
    scopes = {str(row.state["scope"]) for row in revisions if row.state.get("scope")}
    return {scope for scope in scopes if not may_on(principal, Verb.READ, parse_scope(scope))}


def not_declared(principal: Principal, memory: Memory) -> None:
    """Refuse an agent to change what a mount declares: what readers get as reviewed stays as it was reviewed."""
    if principal.kind != "agent":
        return
    mounts = declaring(memory.id)
    if mounts:
        raise Conflict(
            f"the memory is declared by the mount {mounts[0].name}; change its file. Nothing was changed",
            code="mounted",
        )


def require_role(principal: Principal, roles: frozenset[str], what: str) -> None:
    """Refuse members without one of the roles.  System jobs pass."""
    if principal.kind == "system" or (principal.kind == "member" and principal.role in roles):
        return
    needed = ", ".join(sorted(roles))
    detail = f"to {what} takes one of the roles {needed}; yours is {principal.role or 'none'}. Nothing was changed."
    raise Denied(detail, code="role_denied", verb=what, target=principal.id, target_kind=principal.kind)
