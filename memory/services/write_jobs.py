"""Asynchronous writes: accepted now, written by a worker, each item through the one write path, exactly once.

An item's decision carries the job and the item as its request id.  A worker that goes on after another one died
finds by it what was written already.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from memgov import clock
from memgov.ids import new_id
from memory.domain.ids import show_id
from memory.domain.types import Finding, Kind, Layer, OutcomeKind
from memory.models import Job, Memory, WriteDecision
from memory.services.errors import Invalid, ServiceError
from memory.services.job_queue import dispatch
from memory.services.job_takes import give_up, taken, worn_out
from memory.services.memory_write import memory_write
from memory.services.write_types import STATUS_OF_OUTCOME, Outcome, WriteRequest
from memory.store import audit, jobs
from tenants.authentication import KeyRefused, principal_of_key
from tenants.context import tenant_context
from tenants.principals import Principal

LEASE: Final = jobs.LEASE
"""How long another worker waits for a sign of the one that works on a job."""
_KEPT_EVERY: Final = 25
_TIMES: Final = frozenset({"expires_at", "valid_from", "valid_to", "review_by"})

Item = WriteRequest | Mapping[str, Any]
"""A candidate, or the problem of an item that is none."""


def write_job_start(principal: Principal, kind: str, items: Sequence[Item]) -> Job:
    """Accept candidates; the job is there and audited when this returns, its message goes out with the commit."""
    if principal.key_id is None:
        raise Invalid("only agents write asynchronously", code="agents_only")
    now = clock.now()
    job = Job(
        id=new_id(now), kind=kind, agent_id=principal.agent_id, key_id=principal.key_id, actor_name=principal.name,
        total=len(items), created_at=now, touched_at=now,
    )  # fmt: skip
    with tenant_context(principal.tenant_id):
        jobs.insert(job, [_as_json(item) for item in items])
        event = audit.Event(
            "job.queued", "job", show_id("job", job.id), after={"kind": kind, "items": len(items)}
        )
        audit.append(principal, [event], now)
        dispatch(principal.tenant_id, job.id)
    return job


def write_job_run(tenant_id: UUID, job_id: UUID) -> str:
    """Work on a job until it is done: `done`, `failed`, `busy` when another worker is at it, `gone` otherwise."""
    with tenant_context(tenant_id):
        job = taken(job_id)
        if isinstance(job, str):
            return job
        if worn_out(job):
            return give_up(job, _who_asked(job))
        items = jobs.request_of(job)
        written = _written_before(job)
    assert job.key_id is not None  # jobs of writes come with the key that asked
    results = list((job.result or {}).get("results", []))
    while len(results) < len(items):
        try:  # what the key may do is what it may do now, also half way
            principal = principal_of_key(tenant_id, job.key_id, clock.now())
        except KeyRefused as refused:
            return _ended(job, jobs.FAILED, refused.detail)
        with tenant_context(tenant_id):  # an erasure may have taken some of it out
            items = jobs.request_again(job.id) or items
        for index in range(len(results), min(len(results) + _KEPT_EVERY, len(items))):
            results.append({"index": index, **_one(principal, job, index, items[index], written)})
        with tenant_context(tenant_id):
            if not jobs.advance(job, results, clock.now()):
                return "busy"
    return _ended(job, jobs.DONE)


def _who_asked(job: Job) -> Principal:
    """The agent that asked, for the audit alone: its key may be closed by now."""
    return Principal(
        job.tenant_id, "agent", show_id("agt", job.agent_id) if job.agent_id else "", job.actor_name,
        agent_id=job.agent_id, key_id=job.key_id, request_id=show_id("job", job.id),
    )  # fmt: skip


def _ended(job: Job, status: str, error: str = "") -> str:
    now = clock.now()
    with tenant_context(job.tenant_id):
        jobs.end(job, status, now, error)
    return status


def _one(
    principal: Principal, job: Job, index: int, item: Mapping[str, Any], written: Mapping[str, dict[str, Any]]
) -> dict[str, Any]:
    """One item's outcome or problem, whatever became of the others."""
    name = _request_id(job, index)
    if "problem" in item:
        return dict(item["problem"])
    if name in written:
        return written[name]
    try:
        outcome = memory_write(_for_item(principal, name), _from_json(item["request"]))
    except ServiceError as error:
        return {"status": error.status, "code": error.code, "detail": error.detail}
    return told(outcome)


def _request_id(job: Job, index: int) -> str:
    return f"{show_id('job', job.id)}.{index}"


def _for_item(principal: Principal, request_id: str) -> Principal:
    shown = {field.name: getattr(principal, field.name) for field in fields(principal)}
    return Principal(**{**shown, "request_id": request_id})


def told(outcome: Outcome) -> dict[str, Any]:
    """An outcome as JSON values; of the memory its id, since the job outlives what it says."""
    return {
        "status": STATUS_OF_OUTCOME[outcome.outcome],
        "outcome": outcome.outcome.value,
        "reason": outcome.reason,
        "rule": outcome.rule,
        "explanation": outcome.explanation,
        "memory": show_id("mem", outcome.memory.id) if outcome.memory else None,
        "replaced": [show_id("mem", one) for one in outcome.replaced],
        "linked": [show_id("mem", one) for one in outcome.linked],
        "findings": [_finding(asdict(one)) for one in outcome.findings],
        "policy_version": outcome.policy_version,
        "id": show_id("dec", outcome.decision_id),
    }


def _finding(one: Mapping[str, Any]) -> dict[str, Any]:
    return {**one, "span": list(one["span"])}


def _written_before(job: Job) -> dict[str, dict[str, Any]]:
    """Outcomes of items that a worker wrote before it died, by request id."""
    prefix = f"{show_id('job', job.id)}."
    rows = WriteDecision.objects.filter(
        agent_id=job.agent_id, at__gte=job.created_at, request_id__startswith=prefix
    )
    return {row.request_id: _told_again(row) for row in rows}


def _told_again(row: WriteDecision) -> dict[str, Any]:
    replaced = (
        Memory.objects.filter(superseded_by=row.memory_id) if row.outcome == OutcomeKind.SUPERSEDED else []
    )
    findings = [Finding(one["kind"], one["field"], tuple(one["span"]), one["rule"]) for one in row.findings]
    memory = Memory.objects.filter(id=row.memory_id).first() if row.memory_id else None
    outcome = Outcome(
        outcome=OutcomeKind(row.outcome), policy_version=row.policy_version, decision_id=row.id,
        reason=row.reason or None, rule=row.rule or None, memory=memory, replaced=[one.id for one in replaced],
        findings=findings,
    )  # fmt: skip
    return told(outcome)


def _as_json(item: Item) -> dict[str, Any]:
    if not isinstance(item, WriteRequest):
        return {"problem": dict(item)}
    given = {field.name: getattr(item, field.name) for field in fields(item)}
    return {"request": {name: _plain(value) for name, value in given.items() if value not in (None, (), [])}}


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return [str(one) if isinstance(one, UUID) else one for one in value]
    return value if isinstance(value, bool | int | float | dict | None) else str(value)


def _from_json(given: Mapping[str, Any]) -> WriteRequest:
    read: dict[str, Any] = dict(given)
    for name in _TIMES & read.keys():
        read[name] = datetime.fromisoformat(read[name])
    if "derived_from" in read:
        read["derived_from"] = [UUID(one) for one in read["derived_from"]]
    if "layer" in read:
        read["layer"] = Layer(read["layer"])
    if "kind" in read:
        read["kind"] = Kind(read["kind"])
    return WriteRequest(**read)
