"""The API's description of the blast radius."""

from __future__ import annotations

from typing import Final

from drf_spectacular.utils import OpenApiResponse

from memory.api.answers.others import JobAnswer
from memory.api.answers.reach import ReachAnswer
from memory.api.docs import IDEMPOTENCY, described, sent
from memory.api.reach_requests import ReachBody, ReachParameters
from memory.api.requests import EmptyBody

_TAG: Final = "blast radius"
_ACCEPTED: Final = {202: OpenApiResponse(JobAnswer, "Accepted; follow the job.")}

reach = described(
    "See how far something got", _TAG, operation_id="blast", parameters=[ReachParameters],
    answers={200: ReachAnswer}, problems=(403,),
    description="What a memory, agent, key, session, tool, source or time wrote, what was derived from that at any "
    "depth, the manifests that gave any of it, the agents and sessions that saw it, and what people decided. Takes a "
    "read grant on `*`. Texts are not repeated.",
)  # fmt: skip
quarantine = described(
    "Quarantine all that something reached", _TAG, operation_id="blast_quarantine", request=ReachBody,
    answers=_ACCEPTED, problems=(403, 409, 422), parameters=[IDEMPOTENCY],
    examples=[sent("All of a tool", {"tool": "web_fetch", "reason": "its pages were poisoned"})],
    description="One step, done by a worker: what was written and derived up to `seen` is held. Takes a write grant on "
    "`*`. The step can be taken back as one for 30 days.",
)  # fmt: skip
undo = described(
    "Take a quarantine step back", _TAG, operation_id="blast_undo", request=EmptyBody, answers=_ACCEPTED,
    problems=(403, 404, 409, 422), parameters=[IDEMPOTENCY], examples=[sent("Nothing to say", {})],
    description="Each memory gets back the status it had. What has changed since, or whose place is taken, is left and "
    "named in the job's `result`.",
)  # fmt: skip
