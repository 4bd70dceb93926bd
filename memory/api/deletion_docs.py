"""The API's description of deleting many memories at once."""

from __future__ import annotations

from typing import Final

from drf_spectacular.utils import OpenApiResponse

from memory.api.answers.deletions import DeletionAnswer
from memory.api.answers.others import JobAnswer
from memory.api.deletion_requests import DeletionBody
from memory.api.docs import IDEMPOTENCY, described, sent
from memory.api.requests import EmptyBody

_TAG: Final = "memories"
_ACCEPTED: Final = OpenApiResponse(JobAnswer, "More than 500 go: accepted; follow the job.")

delete_many = described(
    "Delete many memories", _TAG, operation_id="memories_delete", request=DeletionBody,
    answers={200: DeletionAnswer, 202: _ACCEPTED}, problems=(403, 404, 409, 412, 422), parameters=[IDEMPOTENCY],
    examples=[
        sent("By a filter, only asking", {"filter": {"session": "s-2041"}, "reason": "a test run", "dry_run": True}),
        sent("By ids", {"ids": ["mem_0198f2d1a4c87b3e9d10c2f4a6b8e0d1"], "reason": "no longer true"}),
    ],
    description="One step, which can be taken back as one for 30 days. An agent deletes what it wrote itself where it "
    "may write; with a write grant on `*` also what others wrote. What is left is counted by reason. Nothing to "
    "delete is a problem, never a success with 0.",
)  # fmt: skip
undo = described(
    "Take a deletion back", _TAG, operation_id="memories_delete_undo", request=EmptyBody,
    answers={202: OpenApiResponse(JobAnswer, "Accepted; follow the job.")}, problems=(403, 404, 409, 422),
    parameters=[IDEMPOTENCY], examples=[sent("Nothing to say", {})],
    description="Each memory gets back the status it had. What has changed since, or whose place is taken, is left and "
    "named in the job's `result`.",
)  # fmt: skip
