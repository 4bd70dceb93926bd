"""From an answer of the API to the result of a tool: structured content for programs, text for models.

What the policy decided is an outcome and no error: an agent must not take it for a fault and try again.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from mcp_types import CallToolResult, TextContent

from memory.api.direct import Answer
from memory.domain.zero_characters import KIND as REMOVED
from memory.mcp.advice import about_outcome, about_problem

OUTCOME_MEMBERS: Final = (
    "outcome", "reason", "rule", "explanation", "memory", "replaced", "linked", "findings", "policy_version", "id",
)  # fmt: skip

Told = Callable[[Any], str]


def as_json(body: Any) -> str:
    """The answer itself.  As JSON a hostile text stays between its quotes."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


def result_of(answer: Answer, told: Told = as_json) -> CallToolResult:
    """The result of a tool; `told` puts a good answer into words."""
    if isinstance(answer.body, dict) and "outcome" in answer.body and answer.status in (200, 201, 202, 422):
        return _outcome(answer.body)
    if not answer.ok:
        return _error(answer)
    return CallToolResult(
        content=[TextContent(type="text", text=told(answer.body))], structured_content=answer.body
    )


def _outcome(body: dict[str, Any]) -> CallToolResult:
    found = {name: body.get(name) for name in OUTCOME_MEMBERS}
    found["advice"] = about_outcome(body["outcome"], body["reason"])
    return CallToolResult(
        content=[TextContent(type="text", text=_outcome_text(found))], structured_content=found
    )


def _outcome_text(found: dict[str, Any]) -> str:
    """`held (contains_instruction): … mem_… is quarantined.` and what to do about it."""
    reason = f" ({found['reason']})" if found["reason"] else ""
    parts = [f"{found['outcome']}{reason}"]
    if found["explanation"]:
        parts.append(found["explanation"])
    if memory := found["memory"]:
        parts.append(
            f"{memory['id'] or 'it'} is {memory['status']} in {memory['scope']}, version {memory['version']}"
        )
    if found["replaced"]:
        parts.append(f"it replaced {', '.join(found['replaced'])}")
    removed = [one["field"] for one in found["findings"] if one["kind"] == REMOVED]
    if kinds := sorted({one["kind"] for one in found["findings"]} - {REMOVED}):
        parts.append(f"found in the text: {', '.join(kinds)}")
    if removed:
        parts.append(f"zero characters were taken out of {', '.join(removed[:5])}")
    said = f"{parts[0]}: {'; '.join(parts[1:])}." if parts[1:] else f"{parts[0]}."
    return f"{said} {found['advice']}".strip()


def _error(answer: Answer) -> CallToolResult:
    body = dict(answer.body) if isinstance(answer.body, dict) else {"code": "error", "detail": ""}
    body["advice"] = about_problem(str(body.get("code")), answer.status)
    if "Retry-After" in answer.headers:
        body["retry_after"] = int(answer.headers["Retry-After"])
    text = f"{body['code']}: {body['detail']} {body['advice']}".strip()
    return CallToolResult(
        content=[TextContent(type="text", text=text)], structured_content=body, is_error=True
    )
