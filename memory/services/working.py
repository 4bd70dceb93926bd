"""Working memory: what a task keeps under its keys for a while.

The same authorisation and the same cleaning as a memory; the gates about worth and durability do not apply to a
scratch pad.  What directs in text that is not trusted is kept for its writer and never handed to a prompt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from memgov import clock
from memgov.ids import new_id
from memory.domain.episode import value_line
from memory.domain.ids import show_id
from memory.domain.normalise import NAME_LIMIT, BadText, TooLong, normalise_text
from memory.domain.policy import Policy
from memory.domain.scopes import Scope, ScopeKind, parse_scope
from memory.domain.types import Finding, Layer
from memory.models import WorkingValue, WorkRun
from memory.selectors.policies import ActivePolicy, active_policy
from memory.selectors.working import present_values, values_by_key
from memory.services.access import denials_audited
from memory.services.candidates import authorise, prepare
from memory.services.errors import Conflict, Invalid, NotFound, TooLarge, VersionConflict
from memory.services.purify import Clean
from memory.services.second_look import cleaned
from memory.services.write_types import WriteRequest
from memory.store import audit, work
from tenants.context import tenant_context
from tenants.principals import Principal

KEPT, HELD = "kept", "quarantined"
_ENDED: Final = frozenset({work.COMPLETED, work.ROLLED_BACK})
_UNKNOWN: Final = "there is no such value of a task of this agent; it may have expired"


@dataclass(frozen=True, slots=True)
class WorkingWrite:
    """A value as its writer sends it.  `succeeded`, `importance` and `summary` say what the step was worth."""

    value: object
    ttl: object = None
    succeeded: bool | None = None
    importance: float | None = None
    summary: str = ""
    origin: str | None = None
    confidence: float | None = None
    session: str | None = None
    tool: str | None = None


@dataclass(frozen=True, slots=True)
class WorkingOutcome:
    """What became of a value: `row` is None when the policy refused it, with the reason."""

    row: WorkingValue | None
    created: bool
    findings: Sequence[Finding]
    policy_version: int
    reason: str | None = None
    rule: str | None = None


def task_scope(task: str) -> Scope:
    """The scope of a task by its name.  Raises `Invalid`."""
    try:
        return parse_scope(f"{ScopeKind.TASK}:{task}")
    except ValueError as error:
        raise Invalid(str(error), field="task") from None


@denials_audited
def working_put(
    principal: Principal, task: str, key: str, write: WorkingWrite, *, version: int | None = None
) -> WorkingOutcome:
    """Keep a value under a key of the agent's own task; the one that was there is replaced.

    Raises `Invalid`, `TooLarge` (the value, or all that the task holds), `Denied` for another agent's task,
    `Conflict` for a task that has ended, `VersionConflict` when `version` is not the present one.
    """
    only_agents(principal)
    scope, key, now = task_scope(task), _key(key), clock.now()
    with tenant_context(principal.tenant_id):
        active = active_policy()
        clean = _cleaned(principal, scope, key, write, active, now)
        authorise(principal, scope)
        if clean.verdict == "reject":
            return _refused(principal, scope, key, clean, active, now)
        run = work.lock_run(principal, work.TASK, scope.key, now)
        _still_open(run)
        value = _row(principal, scope, key, write, clean, now)
        present = _present(principal, scope, key)
        if version is not None and version != (present.version if present else 0):
            raise VersionConflict("the value changed since you read it; nothing was stored")
        _fits(run, value, present, active.policy)
        work.put_value(value, present)
        work.update_run(run, active_at=now, status=work.OPEN)
        action = "working.held" if value.status == HELD else "working.stored"
        _audit(principal, action, value, active, now)
    return WorkingOutcome(value, present is None, clean.told, active.number, clean.reason, clean.rule)


def working_get(principal: Principal, task: str, key: str) -> WorkingValue:
    """The present value under a key of the agent's own task.  Raises `NotFound`."""
    scope, key = task_scope(task), _key(key)
    with tenant_context(principal.tenant_id):
        found = values_by_key(principal.agent_id, scope.key, [key], clock.now())
    if not found:
        raise NotFound(_UNKNOWN)
    return found[0]


def working_list(principal: Principal, task: str) -> list[WorkingValue]:
    """All present values of the agent's own task, by key."""
    scope = task_scope(task)
    with tenant_context(principal.tenant_id):
        return list(present_values(principal.agent_id, scope.key, clock.now()))


def working_delete(principal: Principal, task: str, key: str) -> WorkingValue:
    """Take a value away.  Raises `NotFound`."""
    scope, key, now = task_scope(task), _key(key), clock.now()
    with tenant_context(principal.tenant_id):
        found = values_by_key(principal.agent_id, scope.key, [key], now)
        if not found or not work.remove_values([found[0].id], now):
            raise NotFound(_UNKNOWN)
        _audit(principal, "working.deleted", found[0], active_policy(), now)
    return found[0]


def only_agents(principal: Principal) -> None:
    """Refuse people and jobs: tasks and sessions are those of agents."""
    if principal.agent_id is None:
        raise Invalid("working memory belongs to the tasks of agents", code="agents_only")


def own_task(principal: Principal, scope: Scope) -> WorkRun:
    """The agent's own task, held alone.  Raises `NotFound` when it never wrote under this name."""
    run = work.known_run(principal, work.TASK, scope.key)
    if run is None:
        raise NotFound("there is no such task of this agent; nothing was changed")
    return run


def _key(text: str) -> str:
    try:
        key = normalise_text(text, "key", NAME_LIMIT)
    except BadText as error:
        raise Invalid(str(error), field="key") from None
    except TooLong as error:
        raise TooLarge(str(error), field="key") from None
    if not key:
        raise Invalid("a key is not empty", field="key")
    return key


def _cleaned(
    principal: Principal, scope: Scope, key: str, write: WorkingWrite, active: ActivePolicy, now: datetime
) -> Clean:
    """The value as a candidate whose metadata it is, through the cleaning of every write."""
    request = WriteRequest(
        content=write.summary or key,
        scope=scope,
        layer=Layer.WORKING,
        origin=write.origin,
        confidence=write.confidence,
        importance=write.importance,
        session=write.session,
        task=scope.key,
        tool=write.tool,
        ttl=write.ttl,
        metadata={key: write.value},
    )
    try:
        candidate = prepare(principal, request, active, now).candidate
    except (Invalid, TooLarge) as error:
        raise _about_the_value(error) from None
    if candidate.expires_at is None:  # a policy without a time to live: a scratch pad still ends
        candidate = replace(candidate, expires_at=now + timedelta(hours=1))
    return cleaned(principal, candidate, active.policy.for_scope(scope))


def _about_the_value(error: Invalid | TooLarge) -> Invalid | TooLarge:
    """The value travels as metadata and the summary as content; problems are named as the caller knows them."""
    field = error.field or ""
    shown = "value" if field.startswith("metadata") else "summary" if field == "content" else field
    said = error.detail.replace(field, shown, 1) if field else error.detail
    return type(error)(f"{said}; nothing was stored", code=error.code, field=shown or None)


def _row(
    principal: Principal, scope: Scope, key: str, write: WorkingWrite, clean: Clean, now: datetime
) -> WorkingValue:
    c = clean.candidate
    assert principal.agent_id is not None and c.expires_at is not None
    ((clean_key, value),) = c.metadata.items()
    if clean_key != key:
        raise Invalid("a key holds no secret and no personal data; nothing was stored", field="key")
    return WorkingValue(
        id=new_id(now), task=scope.key, key=key, value=value, size=len(value_line(value).encode()),
        succeeded=write.succeeded, summary=c.content if write.summary else "", importance=write.importance,
        origin=c.origin.value, trust=c.trust, confidence=c.confidence, session=c.session or "", tool=c.tool or "",
        agent_id=principal.agent_id, agent_name=principal.name, status=KEPT if clean.verdict == "pass" else HELD,
        findings=[asdict(finding) for finding in clean.told], recorded_at=now, updated_at=now,
        expires_at=c.expires_at,
    )  # fmt: skip


def _present(principal: Principal, scope: Scope, key: str) -> WorkingValue | None:
    """The row under the key, expired or not: it is replaced."""
    row: WorkingValue | None = WorkingValue.objects.filter(
        agent_id=principal.agent_id, task=scope.key, key=key, removed_at=None
    ).first()
    return row


def _still_open(run: WorkRun) -> None:
    if run.status in _ENDED:
        what = "completed" if run.status == work.COMPLETED else "rolled back"
        raise Conflict(
            f"the task was {what}; nothing was stored. Use another task name for new work", code="task_ended"
        )


def _fits(run: WorkRun, value: WorkingValue, present: WorkingValue | None, policy: Policy) -> None:
    rules = policy.working
    keys, size = work.load_of(run, value.updated_at, beside=present.id if present else None)
    if keys + 1 > rules.max_keys_per_task:
        raise TooLarge(
            f"a task holds at most {rules.max_keys_per_task} working values; delete one or complete the task."
            " Nothing was stored",
            code="task_full",
            field="key",
        )
    if size + value.size > rules.max_bytes_per_task:
        raise TooLarge(
            f"the working values of a task take at most {rules.max_bytes_per_task} bytes together; this one would"
            f" make it {size + value.size}. Nothing was stored",
            code="task_full",
            field="value",
        )


def _refused(
    principal: Principal, scope: Scope, key: str, clean: Clean, active: ActivePolicy, now: datetime
) -> WorkingOutcome:
    event = audit.Event(
        "working.rejected", "task", str(scope), scope=str(scope), reason=clean.reason or "",
        after={"rule": clean.rule}, policy_version=active.number,
    )  # fmt: skip
    audit.append(principal, [event], now)
    return WorkingOutcome(None, False, clean.told, active.number, clean.reason, clean.rule)


def _audit(
    principal: Principal, action: str, value: WorkingValue, active: ActivePolicy, now: datetime
) -> None:
    after: dict[str, Any] = {"version": value.version, "value": value_line(value.value), "size": value.size}
    event = audit.Event(
        action, "working", show_id("wrk", value.id), scope=f"{ScopeKind.TASK}:{value.task}", after=after,
        policy_version=active.number,
    )  # fmt: skip
    audit.append(principal, [event], now)
