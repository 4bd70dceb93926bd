"""What an agent's host can attach without a tool call: digests of scopes, and manifests of earlier reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final
from urllib.parse import quote, unquote

from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)

from memory.api.direct import Answer, Call, call_rest
from memory.domain.scopes import readable_patterns
from memory.mcp.advice import about_problem
from memory.mcp.results import as_json
from memory.selectors.visibility import rules_of
from tenants.principals import Principal

DIGEST, MANIFEST = "memgov://digest/", "memgov://manifests/"

TEMPLATES: Final = [
    ResourceTemplate(
        name="digest",
        title="Digest of a scope",
        uri_template=DIGEST + "{scope}",
        description="The bounded summary of a scope, such as project:alpha, for a prompt. Reference data.",
        mime_type="text/plain",
    ),
    ResourceTemplate(
        name="manifest",
        title="Injection manifest",
        uri_template=MANIFEST + "{id}",
        description="What an earlier search or digest returned, with ranks, scores and versions.",
        mime_type="application/json",
    ),
]


def listed(principal: Principal) -> list[Resource]:
    """A digest for each scope that the agent's grants name one by one."""
    named = readable_patterns(principal.role, rules_of(principal)).exact
    return [
        Resource(
            name=f"digest of {scope}",
            title=f"Digest of {scope}",
            uri=DIGEST + quote(scope, safe=":"),
            mime_type="text/plain",
        )
        for scope in sorted(named)
    ]


def read(principal: Principal, uri: str, request_id: str) -> ReadResourceResult:
    """The resource.  Raises a protocol error with the API's code as data."""
    if uri.startswith(DIGEST):
        call = Call("GET", "digest", query={"scope": unquote(uri.removeprefix(DIGEST))})
        return _contents(uri, "text/plain", call_rest(principal, call, request_id), lambda body: body["text"])
    if uri.startswith(MANIFEST):
        call = Call("GET", "manifest", {"manifest_id": unquote(uri.removeprefix(MANIFEST))})
        return _contents(uri, "application/json", call_rest(principal, call, request_id), as_json)
    raise MCPError(
        INVALID_PARAMS, f"there are {DIGEST}SCOPE and {MANIFEST}ID; {uri[:200]!r} is neither", {"uri": uri}
    )


def _contents(
    uri: str, kind: str, answer: Answer, shown: Callable[[dict[str, object]], object]
) -> ReadResourceResult:
    if not answer.ok:
        code, detail = answer.body["code"], answer.body["detail"]
        said = f"{code}: {detail} {about_problem(code, answer.status)}".strip()
        number = INTERNAL_ERROR if answer.status >= 500 else INVALID_PARAMS
        raise MCPError(number, said, {"uri": uri, "code": code, "status": answer.status})
    text = str(shown(answer.body))
    return ReadResourceResult(contents=[TextResourceContents(uri=uri, mime_type=kind, text=text)])
