"""Tasks and sessions: working memory by key, and the end of both."""

from __future__ import annotations

from typing import Any

from rest_framework.response import Response

from memory.api import work_docs as docs
from memory.api.endpoint import Endpoint, version_in_if_match
from memory.api.idempotency import idempotent
from memory.api.problems import Problem, respond
from memory.api.representation import when
from memory.api.requests import EmptyBody
from memory.api.work_requests import RollbackBody, TaskEndBody, WorkingBody
from memory.domain.ids import show_id
from memory.models import WorkingValue, WorkRun
from memory.services.session_end import session_end
from memory.services.task_complete import TaskEnd, task_complete
from memory.services.task_rollback import task_rollback, task_rollback_undo
from memory.services.working import (
    HELD,
    WorkingOutcome,
    WorkingWrite,
    working_delete,
    working_get,
    working_list,
    working_put,
)


def value_json(row: WorkingValue) -> dict[str, Any]:
    """A working value with everything that its task may know."""
    return {
        "id": show_id("wrk", row.id),
        "task": row.task,
        "key": row.key,
        "value": row.value,
        "version": row.version,
        "status": row.status,
        "succeeded": row.succeeded,
        "importance": row.importance,
        "summary": row.summary or None,
        "origin": row.origin,
        "trust": row.trust,
        "session": row.session or None,
        "tool": row.tool or None,
        "findings": row.findings,
        "recorded_at": when(row.recorded_at),
        "updated_at": when(row.updated_at),
        "expires_at": when(row.expires_at),
    }


class OneWorkingValue(Endpoint):
    """`PUT`, `GET` and `DELETE tasks/{task}/working/{key}`"""

    @docs.working_put
    def put(self, request: Any, task: str, key: str) -> Response:
        write = WorkingWrite(**self.body(WorkingBody))
        version = version_in_if_match(request, required=False)
        kept = working_put(self.principal, task, key, write, version=version)
        if kept.row is None:
            return self._refused(kept)
        status = 202 if kept.row.status == HELD else 201 if kept.created else 200
        return Response(value_json(kept.row), status=status, headers={"ETag": f'"{kept.row.version}"'})

    @docs.working_get
    def get(self, request: Any, task: str, key: str) -> Response:
        row = working_get(self.principal, task, key)
        return Response(value_json(row), headers={"ETag": f'"{row.version}"'})

    @docs.working_delete
    def delete(self, request: Any, task: str, key: str) -> Response:
        return Response({"deleted": working_delete(self.principal, task, key).key})

    def _refused(self, kept: WorkingOutcome) -> Response:
        code = kept.reason or "rejected"
        findings = [
            {"kind": one.kind, "field": one.field, "span": list(one.span), "rule": one.rule}
            for one in kept.findings
        ]
        more = {
            "reason": code,
            "rule": kept.rule,
            "findings": findings,
            "policy_version": kept.policy_version,
        }
        detail = f"the policy refused this value ({code}); nothing was stored"
        return respond(Problem(422, code, detail, more=more), self.request)


class WorkingValues(Endpoint):
    """`GET tasks/{task}/working`"""

    @docs.working_list
    def get(self, request: Any, task: str) -> Response:
        rows = working_list(self.principal, task)
        return Response({"results": [value_json(row) for row in rows], "next": None, "previous": None})


def run_json(run: WorkRun) -> dict[str, Any]:
    """A task or session that has ended, with what came of it."""
    return {run.kind: run.name, "status": run.status, **run.result, "ended_at": when(run.ended_at)}


class Complete(Endpoint):
    """`POST tasks/{task}/complete`"""

    @docs.task_complete
    @idempotent
    def post(self, request: Any, task: str) -> Response:
        return Response(run_json(task_complete(self.principal, task, TaskEnd(**self.body(TaskEndBody)))))


class Rollback(Endpoint):
    """`POST tasks/{task}/rollback`"""

    @docs.task_rollback
    @idempotent
    def post(self, request: Any, task: str) -> Response:
        return Response(
            run_json(task_rollback(self.principal, task, self.body(RollbackBody).get("reason", "")))
        )


class RollbackUndo(Endpoint):
    """`POST tasks/{task}/rollback/undo`"""

    @docs.task_rollback_undo
    @idempotent
    def post(self, request: Any, task: str) -> Response:
        self.body(EmptyBody)
        run = task_rollback_undo(self.principal, task)
        return Response({"task": run.name, "status": run.status, "ended_at": when(run.ended_at)})


class SessionEnd(Endpoint):
    """`POST sessions/{session}/end`"""

    @docs.session_end
    @idempotent
    def post(self, request: Any, session: str) -> Response:
        self.body(EmptyBody)
        return Response(run_json(session_end(self.principal, session)))
