"""The end of a session: what it learned is offered to the agent role's own scope, through the one write path.

Each memory is one transaction of its own, and the count of it is kept with its mark; an end that was
interrupted goes on where it stopped, and one that is asked for again finds nothing left to do.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from memgov import clock
from memory.domain import lifecycle
from memory.domain.ids import show_id
from memory.domain.scopes import Scope, ScopeKind, parse_scope
from memory.domain.types import Kind, Layer, OutcomeKind
from memory.models import Memory, ScopeRecord, WorkRun
from memory.selectors.policies import active_policy
from memory.services.access import denials_audited
from memory.services.changes import Changes
from memory.services.deadlocks import BUSY, unless_deadlocked
from memory.services.errors import Invalid, NotFound, ServiceError
from memory.services.memory_write import memory_write
from memory.services.working import only_agents
from memory.services.write_types import Outcome, WriteRequest
from memory.store import audit, memories, work
from tenants.context import tenant_context
from tenants.principals import Principal

# Outcomes after which a memory of the wider scope stands for the session's.
_CARRIED: Final = frozenset(
    {
        OutcomeKind.STORED,
        OutcomeKind.SUPERSEDED,
        OutcomeKind.DUPLICATE,
        OutcomeKind.NEAR_DUPLICATE,
        OutcomeKind.ECHO,
    }
)
_LIVE: Final = [status.value for status in lifecycle.READABLE]


@denials_audited
def session_end(principal: Principal, session: str) -> WorkRun:
    """Reconcile the agent's own session; `run.result["counts"]` counts outcomes, `["left"]` what stays behind.

    What is written to the session later is taken up by the next call.  Raises `NotFound` for another agent's.
    """
    only_agents(principal)
    scope = _scope(session)
    with tenant_context(principal.tenant_id):
        _is_own(principal, scope)
        done = set(_present(principal, scope).result.get("left", {}))
        rows = [row for row in _live_rows(scope) if show_id("mem", row.id) not in done]
    for row in rows:
        _reconcile(principal, scope, row)
    return _closed(principal, scope)


def _scope(session: str) -> Scope:
    try:
        return parse_scope(f"{ScopeKind.SESSION}:{session}")
    except ValueError as error:
        raise Invalid(str(error), field="session") from None


def _is_own(principal: Principal, scope: Scope) -> None:
    """A session that nobody used yet has nothing to reconcile; another agent's looks like none."""
    used = ScopeRecord.objects.filter(name=str(scope)).exclude(owner_agent_id=principal.agent_id)
    if used.exists():
        raise NotFound("there is no such session of this agent; nothing was changed")


def _live_rows(scope: Scope) -> list[Memory]:
    now = clock.now()
    return list(
        Memory.objects.filter(scope=str(scope), status__in=_LIVE)
        .exclude(expires_at__lte=now)
        .exclude(valid_to__lte=now)
        .exclude(layer=Layer.WORKING.value)
        .order_by("recorded_at", "id")
    )


def _present(principal: Principal, scope: Scope) -> WorkRun:
    return work.lock_run(principal, work.SESSION, scope.key, clock.now())


def _reconcile(principal: Principal, scope: Scope, row: Memory) -> None:
    """Offer one memory to the wider scope; where that took it up, the session's row gives way to it.

    Two ends of one session meet there: the one confirms what the other stored, and each holds what the other needs.
    """
    outcome, what, reason = unless_deadlocked(lambda: _offered(principal, row))
    unless_deadlocked(lambda: _noted(principal, scope, row, outcome, what, reason))


def _offered(principal: Principal, row: Memory) -> tuple[Outcome | None, str, str | None]:
    """What the wider scope made of it: the outcome if it was written, what to count, and the reason.

    Raises `Conflict` where other writers were in the way: the next call offers it again.
    """
    try:
        outcome = memory_write(principal, _request(principal, row))
    except ServiceError as error:
        if error.code == BUSY:
            raise
        return None, "rejected", error.code
    return outcome, outcome.outcome.value, outcome.reason


def _noted(
    principal: Principal, scope: Scope, row: Memory, outcome: Outcome | None, what: str, reason: str | None
) -> None:
    now = clock.now()
    with tenant_context(principal.tenant_id):
        run = _present(principal, scope)
        present = memories.lock([row.id])[row.id]
        result = _result(run)
        shown = show_id("mem", row.id)
        if present.status in _LIVE and shown not in result["left"]:
            result["counts"] = dict(sorted((Counter(result["counts"]) + Counter([what])).items()))
            if outcome is not None and outcome.memory is not None and outcome.outcome in _CARRIED:
                changes = Changes(principal, now, active_policy())
                changes.move(
                    present,
                    lifecycle.Event.MERGE,
                    "memory.merged",
                    "the session ended",
                    merged_into=outcome.memory.id,
                )
                changes.finish()
            else:
                result["left"][shown] = reason
            work.update_run(run, result=result, active_at=now)


def _result(run: WorkRun) -> dict[str, Any]:
    counts, left = run.result.get("counts", {}), run.result.get("left", {})
    return {"counts": dict(counts), "left": dict(left)}


def _request(principal: Principal, row: Memory) -> WriteRequest:
    """The memory as its writer would offer it to the agent role's own scope."""
    keyed = bool(row.predicate)
    return WriteRequest(
        content=row.content,
        subject=row.subject or None,
        predicate=row.predicate if keyed else None,
        value=row.value if keyed else None,
        scope=Scope(ScopeKind.AGENT, principal.role),
        layer=Layer(row.layer),
        kind=Kind(row.kind),
        origin=row.origin,
        confidence=row.confidence,
        importance=row.importance,
        session=row.session or None,
        task=row.task or None,
        tool=row.tool or None,
        input_hash=row.input_hash or None,
        derived_from=[row.id],
        paths=row.paths,
        tags=row.tags,
        expires_at=row.expires_at,
        valid_from=row.valid_from,
        valid_to=row.valid_to,
        review_by=row.review_by,
        metadata=row.metadata,
    )


def _closed(principal: Principal, scope: Scope) -> WorkRun:
    now = clock.now()
    with tenant_context(principal.tenant_id):
        run = _present(principal, scope)
        if run.status != work.ENDED or run.ended_at is None or run.active_at > run.ended_at:
            result = _result(run)
            work.update_run(run, status=work.ENDED, ended_at=now, active_at=now, result=result)
            event = audit.Event(
                "session.ended", "session", str(scope), scope=str(scope), after={"counts": result["counts"]},
                policy_version=active_policy().number,
            )  # fmt: skip
            audit.append(principal, [event], now)
    return run
