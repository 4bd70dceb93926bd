"""The API's description, call by call: what each is for, what it takes, what it answers.

Problems that every call can answer with are added by `memory.api.schema`; here stand those of the call.
"""

from __future__ import annotations

from typing import Any, Final

from drf_spectacular.utils import (
    OpenApiExample,
    OpenApiParameter,
    OpenApiResponse,
    PolymorphicProxySerializer,
    extend_schema,
)

from memory.api.answers import others, reads
from memory.api.answers.memories import (
    BatchAnswer,
    CheckAnswer,
    DeletedAnswer,
    MemoryAnswer,
    OutcomeAnswer,
    ProblemAnswer,
    RefusedAnswer,
    RevisionAnswer,
)
from memory.api.answers.shapes import page_answer
from memory.api.problems import CONTENT_TYPE, phrase
from memory.api.requests import (
    AnswerBody,
    AuditParameters,
    BatchBody,
    DeleteParameters,
    DigestParameters,
    EditBody,
    EmptyBody,
    HealthParameters,
    ManifestParameters,
    MemoryListParameters,
    PageParameters,
    PromotionBody,
    PromotionListParameters,
    RetrieveBody,
    UsageBody,
    VerifyBody,
    WriteBody,
)

_MEMORY: Final = "mem_0198f2d1a4c87b3e9d10c2f4a6b8e0d1"
_MANIFEST: Final = "man_0198f2d1a4c87b3e9d10c2f4a6b8e0d2"
_JOB: Final = "job_0198f2d1a4c87b3e9d10c2f4a6b8e0d4"
_PROMOTION: Final = "prm_0198f2d1a4c87b3e9d10c2f4a6b8e0d3"

IDEMPOTENCY: Final = OpenApiParameter(
    "Idempotency-Key",
    str,
    OpenApiParameter.HEADER,
    description="1 to 200 visible ASCII characters. The same request again within 24 hours gets the same answer "
    "(`Idempotent-Replayed: true`) and does nothing.",
)
PREFER: Final = OpenApiParameter(
    "Prefer",
    str,
    OpenApiParameter.HEADER,
    description="`respond-async`: answer at once with 202 and a job to follow at `jobs/{id}`; the results are there.",
)
IF_MATCH: Final = OpenApiParameter(
    "If-Match",
    str,
    OpenApiParameter.HEADER,
    description='The `ETag` of the memory as you read it, such as `"3"`.',
)
IF_NONE_MATCH: Final = OpenApiParameter(
    "If-None-Match", str, OpenApiParameter.HEADER, description="The `ETag` of the digest that you have."
)


def problem(*statuses: int) -> dict[Any, Any]:
    """Responses with a problem for these statuses."""
    return {(status, CONTENT_TYPE): OpenApiResponse(ProblemAnswer, phrase(status)) for status in statuses}


def described(summary: str, tag: str, **more: Any) -> Any:
    """The description of one call, for the decorator of its method."""
    answers = {**more.pop("answers"), **problem(*more.pop("problems", ()))}
    return extend_schema(summary=summary, tags=[tag], responses=answers, **more)


def sent(name: str, value: Any) -> OpenApiExample:
    """An example of a body."""
    return OpenApiExample(name, value=value, request_only=True)


_FACT = {
    "subject": "user:42", "predicate": "plan", "value": "enterprise", "scope": "project:alpha",
    "origin": "tool_verified", "tool": "billing", "session": "s-2041",
}  # fmt: skip
_SENTENCE = {
    "content": "Deployments of alpha go through the staging cluster first.", "scope": "project:alpha",
    "kind": "procedure", "origin": "user_explicit", "ttl": "2w", "applies_to": {"paths": ["deploy/*"]},
}  # fmt: skip
_WRITTEN: Final = {
    201: OpenApiResponse(OutcomeAnswer, "Stored, alone or in place of an older value."),
    200: OpenApiResponse(OutcomeAnswer, "Known already: a duplicate, a near duplicate, or an echo."),
    202: OpenApiResponse(
        PolymorphicProxySerializer(
            "HeldOrQueued", [OutcomeAnswer, others.JobAnswer], resource_type_field_name=None
        ),
        "Held for a person; the memory's `status` says how. With `Prefer: respond-async`, the job.",
    ),
    (422, CONTENT_TYPE): OpenApiResponse(RefusedAnswer, "Refused by the policy; `code` is the reason."),
}

memory_write = described(
    "Write a memory", "memories", operation_id="memory_write", request=WriteBody, answers=_WRITTEN,
    problems=(403, 409, 413), parameters=[IDEMPOTENCY, PREFER],
    examples=[sent("A triple", _FACT), sent("A sentence", _SENTENCE)],
    description="Offer a candidate. It is normalised, admitted or refused, cleaned, compared with what is known, and "
    "stored with its audit event; the answer says which and why.",
)  # fmt: skip
batch = described(
    "Write many memories", "memories", operation_id="memory_write_batch", request=BatchBody,
    answers={200: BatchAnswer, 202: OpenApiResponse(others.JobAnswer, "Accepted; follow the job.")},
    problems=(409, 413, 422), parameters=[IDEMPOTENCY, PREFER],
    examples=[sent("Two items", {"items": [_FACT, _SENTENCE]})],
    description="Up to 500 candidates. Each has its own outcome or problem; one bad item harms no other.",
)  # fmt: skip
check = described(
    "Ask what a write would do", "memories", operation_id="memory_check", request=WriteBody,
    answers={200: CheckAnswer}, problems=(403, 409, 413), examples=[sent("A triple", _FACT)],
    description="The whole write, taken back at the end. Nothing is stored.",
)  # fmt: skip
memory_list = described(
    "List memories", "memories", operation_id="memory_list", parameters=[MemoryListParameters],
    answers={200: page_answer("Memory", MemoryAnswer, partial=True)},
    description="Memories of the scopes that this key reads, newest first. Without `status` only what a retrieval "
    "could return now.",
)  # fmt: skip
memory_get = described(
    "Read a memory", "memories", operation_id="memory_get", answers={200: MemoryAnswer},
    description="The `ETag` is the memory's version.",
)  # fmt: skip
memory_edit = described(
    "Change a memory", "memories", operation_id="memory_edit", request=EditBody, answers={200: MemoryAnswer},
    problems=(403, 409, 412, 413, 422, 428), parameters=[IF_MATCH],
    examples=[sent("A new value", {"value": "team", "confidence": 0.9})],
    description="Only the named fields change; pin, trust, provenance and times stay. The new text has to pass the "
    "same gates as a write.",
)  # fmt: skip
memory_delete = described(
    "Delete a memory", "memories", operation_id="memory_delete", request=None, answers={200: DeletedAnswer},
    problems=(403, 409, 412), parameters=[DeleteParameters, IF_MATCH],
    description="Takes it away from every reader. A person can restore it for 30 days.",
)  # fmt: skip
revisions = described(
    "Read a memory's history", "memories", operation_id="memory_revisions", parameters=[PageParameters],
    answers={200: page_answer("Revision", RevisionAnswer)},
)  # fmt: skip
verify = described(
    "Confirm a memory", "memories", operation_id="memory_verify", request=VerifyBody, answers={200: MemoryAnswer},
    problems=(403, 409, 412, 422), parameters=[IDEMPOTENCY],
    examples=[sent("With a reason", {"reason": "seen again in the billing system"})],
    description="Says that it is still true: the only act, beside learning it again, that makes it fresh.",
)  # fmt: skip
retrieve = described(
    "Retrieve memories for a decision", "reading", operation_id="retrieve", request=RetrieveBody,
    answers={200: reads.RetrievalAnswer}, problems=(409, 422), parameters=[IDEMPOTENCY],
    examples=[
        sent("A question", {"query": "which plan does user 42 have", "session": "s-2041", "limit": 5}),
        sent("High stakes", {"query": "may I delete the bucket", "high_stakes": True, "explain": True}),
    ],
    description="The few memories that apply now, fused from text and vectors, within hard limits; `block` is ready "
    "for a prompt. Every retrieval leaves a manifest.",
)  # fmt: skip
digest = described(
    "Read a scope's digest", "reading", operation_id="digest", parameters=[DigestParameters, IF_NONE_MATCH],
    answers={200: reads.DigestAnswer, 304: OpenApiResponse(description="The digest that you have is the present one.")},
    description="The bounded view of a scope for a prompt: fresh first, aging below and marked.",
)  # fmt: skip
manifest = described(
    "Read a manifest", "reading", operation_id="manifest_get", answers={200: reads.ManifestAnswer},
    parameters=[ManifestParameters],
    description="What was given at one read of this agent, rendered again from the versions of that time, also after "
    "edits and deletions, for as long as the policy keeps manifests. Erased text is gone.",
)  # fmt: skip
usage = described(
    "Report what was used", "reading", operation_id="manifest_usage", request=UsageBody,
    answers={200: reads.UsageAnswer}, problems=(409, 422), parameters=[IDEMPOTENCY],
    examples=[sent("One was used", {"used": [_MEMORY]})],
    description="Which memories of the manifest the agent really used, which it ignored, and which did harm. "
    "Idempotent, for 7 days after the read; a later report may say more of an entry, never less.",
)  # fmt: skip
promotion_create = described(
    "Ask for a wider scope", "promotions", operation_id="promotion_request", request=PromotionBody,
    answers={201: others.PromotionAnswer}, problems=(403, 404, 409, 412, 422), parameters=[IDEMPOTENCY],
    examples=[
        sent("To all agents", {"memory": _MEMORY, "version": 1, "to_scope": "shared", "reason": "used by three teams"})
    ],
    description="Opens a request bound to the memory's version. Low risk may be approved by policy at once; "
    "`shared` and `global` always need a person.",
)  # fmt: skip
promotion_list = described(
    "List promotion requests", "promotions", operation_id="promotion_list", parameters=[PromotionListParameters],
    answers={200: page_answer("Promotion", others.PromotionAnswer)},
)  # fmt: skip
promotion_get = described(
    "Read a promotion request",
    "promotions",
    operation_id="promotion_get",
    answers={200: others.PromotionAnswer},
)
withdraw = described(
    "Withdraw a promotion request", "promotions", operation_id="promotion_withdraw", request=EmptyBody,
    answers={200: others.PromotionAnswer}, problems=(409, 422), parameters=[IDEMPOTENCY],
)  # fmt: skip
promotion_answer = described(
    "Answer a reviewer's question", "promotions", operation_id="promotion_answer", request=AnswerBody,
    answers={200: others.PromotionAnswer}, problems=(409, 422), parameters=[IDEMPOTENCY],
    examples=[sent("How it is known", {"text": "Read from the region field of the cluster's own console."})],
    description="A reviewer may ask the proposer before deciding; the questions stand in the request. Only the "
    "agent that proposed it answers.",
)  # fmt: skip
whoami = described(
    "Who am I", "looking on", operation_id="whoami", answers={200: others.WhoAmIAnswer},
    description="The tenant, agent, role, rights and limits of the key.",
)  # fmt: skip
health = described(
    "Read health", "looking on", operation_id="health", parameters=[HealthParameters],
    answers={200: others.HealthAnswer},
    description="Every metric now, with its state, and its snapshots over time: by hour, and by day where hours were "
    "folded, with the lowest and highest of the day. A missing figure is null, not 0.",
)  # fmt: skip
audit = described(
    "List audit events", "looking on", operation_id="audit_list", parameters=[AuditParameters],
    answers={200: page_answer("Event", others.EventAnswer)},
    description="Events of scopes that this key reads, and whatever this agent did, newest first.",
)  # fmt: skip
job = described("Follow a job", "looking on", operation_id="job_get", answers={200: others.JobAnswer})

PATH_IDS: Final = {
    "step_id": _JOB,
    "deletion_id": _JOB,
    "memory_id": _MEMORY,
    "manifest_id": _MANIFEST,
    "promotion_id": _PROMOTION,
}
