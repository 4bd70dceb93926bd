"""The API's description of tasks and sessions."""

from __future__ import annotations

from typing import Final

from drf_spectacular.utils import OpenApiParameter

from memory.api.answers import work
from memory.api.docs import IDEMPOTENCY, described, sent
from memory.api.requests import EmptyBody
from memory.api.work_requests import RollbackBody, TaskEndBody, WorkingBody

_TAG: Final = "tasks and sessions"
_STEP: Final = {
    "value": {"rows": 12, "file": "report.csv"},
    "succeeded": True,
    "summary": "The export has 12 rows.",
}
_DONE: Final = {"outcome": "succeeded", "summary": "Sent the report."}
_IF_MATCH: Final = OpenApiParameter(
    "If-Match", str, OpenApiParameter.HEADER, description="The `ETag` of the value as you read it."
)

working_put = described(
    "Keep a working value", _TAG, operation_id="working_put", request=WorkingBody, parameters=[_IF_MATCH],
    answers={200: work.WorkingAnswer, 201: work.WorkingAnswer, 202: work.WorkingAnswer},
    problems=(403, 404, 409, 412, 413, 422), examples=[sent("A step", _STEP)],
    description="Keeps a value under a key of the agent's own task, for an hour when no `ttl` says otherwise. 201 for "
    "a new key, 200 for a replaced one, 202 when it is kept for its writer only because it directs.",
)  # fmt: skip
working_get = described(
    "Read a working value",
    _TAG,
    operation_id="working_get",
    answers={200: work.WorkingAnswer},
    problems=(404,),
)
working_delete = described(
    "Delete a working value", _TAG, operation_id="working_delete", request=None,
    answers={200: work.WorkingDeletedAnswer}, problems=(404,),
)  # fmt: skip
working_list = described(
    "List working values", _TAG, operation_id="working_list", answers={200: work.WorkingListAnswer},
    description="All present values of the agent's own task, by key, on one page.",
)  # fmt: skip
task_complete = described(
    "Complete a task", _TAG, operation_id="task_complete", request=TaskEndBody, parameters=[IDEMPOTENCY],
    answers={200: work.TaskEndAnswer}, problems=(404, 409, 422), examples=[sent("Done", _DONE)],
    description="Successful steps become episodic memories of the agent's role, the rest one structured episode; both "
    "pass the same gates as any write. Asking again answers the same.",
)  # fmt: skip
task_rollback = described(
    "Roll a task back", _TAG, operation_id="task_rollback", request=RollbackBody, parameters=[IDEMPOTENCY],
    answers={200: work.RollbackAnswer}, problems=(404, 409, 422), examples=[sent("Why", {"reason": "wrong input"})],
    description="Removes what the task wrote and lets stand again what it replaced, in one transaction. What others "
    "changed since is left and named.",
)  # fmt: skip
task_rollback_undo = described(
    "Take a rollback back", _TAG, operation_id="task_rollback_undo", request=EmptyBody, parameters=[IDEMPOTENCY],
    answers={200: work.TaskAnswer}, problems=(404, 409, 422), examples=[sent("Nothing to say", {})],
)  # fmt: skip
session_end = described(
    "End a session", _TAG, operation_id="session_end", request=EmptyBody, parameters=[IDEMPOTENCY],
    answers={200: work.SessionEndAnswer}, problems=(404, 409, 422), examples=[sent("Nothing to say", {})],
    description="Offers what the session learned to the agent role's own scope, in one go; counts by outcome.",
)  # fmt: skip
