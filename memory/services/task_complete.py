"""The end of a task: successful steps become episodic memories, the rest one structured episode.

Every memory goes through the one write path, each in a transaction of its own; only then is the task marked.
An end that was interrupted is simply asked for again: what it wrote already is met as a duplicate, and the
answer is kept with the task.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from memgov import clock
from memory.domain.episode import Step, episode_data, episode_text, step_text
from memory.domain.ids import show_id
from memory.domain.scopes import Scope, ScopeKind
from memory.domain.types import Kind, Layer
from memory.models import WorkingValue, WorkRun
from memory.selectors.policies import active_policy
from memory.selectors.working import present_values
from memory.services.access import denials_audited
from memory.services.errors import Conflict, Invalid, ServiceError
from memory.services.memory_write import memory_write
from memory.services.working import HELD, only_agents, own_task, task_scope
from memory.services.write_types import Outcome, WriteRequest
from memory.store import audit, work
from tenants.context import tenant_context
from tenants.principals import Principal

OUTCOMES: Final = ("succeeded", "failed")
_DEFAULT_IMPORTANCE: Final = 0.7


@dataclass(frozen=True, slots=True)
class TaskEnd:
    """How the agent sees its task at the end; `succeeded` names steps that it had not marked before."""

    outcome: str = "succeeded"
    summary: str = ""
    succeeded: Collection[str] = ()


@denials_audited
def task_complete(principal: Principal, task: str, end: TaskEnd) -> WorkRun:
    """End the agent's own task; `run.result` says what became of each step.  Asking again changes nothing.

    Raises `NotFound` for a task that the agent never used, `Conflict` for one that was rolled back, `Invalid` for
    a step that is not there.
    """
    only_agents(principal)
    if end.outcome not in OUTCOMES:
        raise Invalid(f"the outcome is one of {', '.join(OUTCOMES)}", field="outcome")
    scope = task_scope(task)
    with tenant_context(principal.tenant_id):
        run = own_task(principal, scope)
        if _is_over(run):
            return run
        values = list(present_values(principal.agent_id, scope.key, clock.now()))
    _known(end, values)
    told = _written(principal, scope.key, end, values)
    return _closed(principal, scope, end, values, told)


def _is_over(run: WorkRun) -> bool:
    if run.status == work.ROLLED_BACK:
        raise Conflict("the task was rolled back; there is nothing to complete", code="task_ended")
    return run.status == work.COMPLETED


def _known(end: TaskEnd, values: Sequence[WorkingValue]) -> None:
    missing = sorted(set(end.succeeded) - {value.key for value in values})
    if missing:
        raise Invalid(f"the task holds no value {missing[0]!r}; nothing was changed", field="succeeded")


def _written(principal: Principal, task: str, end: TaskEnd, values: Sequence[WorkingValue]) -> dict[str, Any]:
    """Write the memories of the task; what became of them, as JSON values."""
    promoted: list[dict[str, Any]] = []
    steps: list[Step] = []
    kept: list[UUID] = []
    for value in values:
        succeeded = True if value.key in end.succeeded else value.succeeded
        step = Step(value.key, value.value, value.summary, succeeded)
        told = _promoted(principal, value, step) if succeeded and value.status != HELD else None
        if told is not None:
            promoted.append({"key": value.key, **told})
        remembered = told is not None and told["memory"] is not None
        if remembered and told is not None:
            kept.append(UUID(told["memory"][4:]))
        steps.append(Step(value.key, value.value, value.summary, succeeded, remembered))
    episode = _episode(principal, task, end, values, steps, kept) if steps or end.summary else None
    counts = Counter(one["outcome"] for one in promoted)
    return {
        "outcome": end.outcome,
        "promoted": promoted,
        "episode": episode,
        "counts": dict(sorted(counts.items())),
    }


def _promoted(principal: Principal, value: WorkingValue, step: Step) -> dict[str, Any]:
    importance = _DEFAULT_IMPORTANCE if value.importance is None else value.importance
    request = WriteRequest(
        content=step_text(step),
        scope=Scope(ScopeKind.AGENT, principal.role),
        layer=Layer.EPISODIC,
        kind=Kind.EVENT,
        origin=value.origin,
        confidence=value.confidence,
        importance=importance,
        session=value.session or None,
        task=value.task,
        tool=value.tool or None,
        metadata={"step": value.key},
    )
    return _offered(principal, request)


def _episode(
    principal: Principal,
    task: str,
    end: TaskEnd,
    values: Sequence[WorkingValue],
    steps: Sequence[Step],
    derived_from: Sequence[UUID],
) -> dict[str, Any]:
    """The rest in one memory, trusted no more than the least trusted step."""
    shown = [step for step, value in zip(steps, values, strict=True) if value.status != HELD]
    weakest = min(values, key=lambda value: value.trust, default=None)
    request = WriteRequest(
        content=episode_text(task, end.outcome, end.summary, shown),
        scope=Scope(ScopeKind.AGENT, principal.role),
        layer=Layer.EPISODIC,
        kind=Kind.EVENT,
        origin=weakest.origin if weakest else None,
        task=task,
        derived_from=list(derived_from)[:100],
        metadata={"episode": episode_data(task, end.outcome, shown[:100])},
    )
    return _offered(principal, request)


def _offered(principal: Principal, request: WriteRequest) -> dict[str, Any]:
    """What the write path made of it; a text that it cannot take harms no other step."""
    try:
        outcome = memory_write(principal, request)
    except ServiceError as error:
        return {"outcome": "rejected", "reason": error.code, "memory": None}
    return told_of(outcome)


def told_of(outcome: Outcome) -> dict[str, Any]:
    """An outcome in three words."""
    return {
        "outcome": outcome.outcome.value,
        "reason": outcome.reason,
        "memory": show_id("mem", outcome.memory.id) if outcome.memory else None,
    }


def _closed(
    principal: Principal, scope: Scope, end: TaskEnd, values: Sequence[WorkingValue], told: dict[str, Any]
) -> WorkRun:
    now = clock.now()
    with tenant_context(principal.tenant_id):
        run = own_task(principal, scope)
        if _is_over(run):
            return run
        ids = [value.id for value in values]
        work.remove_values(ids, now)
        work.update_run(
            run, status=work.COMPLETED, ended_at=now, result=told, undo={"values": [str(one) for one in ids]}
        )
        event = audit.Event(
            "task.completed", "task", str(scope), scope=str(scope), reason=end.outcome,
            after={"counts": told["counts"], "values": len(ids)}, policy_version=active_policy().number,
        )  # fmt: skip
        audit.append(principal, [event], now)
    return run
