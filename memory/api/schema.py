"""What the generator of the API's description cannot know: the credential, and problems that any call can meet."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension, OpenApiSerializerFieldExtension
from drf_spectacular.generators import SchemaGenerator

from memory.api.docs import PATH_IDS
from memory.api.problems import CONTENT_TYPE, phrase

TITLE = "memgov"
DESCRIPTION = """Governed long-term memory for AI agents.

Agents write candidates and read what applies now; every write passes a policy, every read leaves a manifest,
every change leaves an audit event. Errors are RFC 9457 problems with a stable `code`."""

TAGS = {
    "memories": "Offer candidates; list, read, change, confirm and delete memories.",
    "reading": "What a prompt gets, the manifest of it, and the report of what was used.",
    "tasks and sessions": "Working memory by key, and the end of tasks and sessions.",
    "promotions": "Ask for a wider scope.",
    "looking on": "Who the key is, health, audit, jobs.",
}

_HEADERS: dict[int, Any] = {
    415: {
        "Accept-Encoding": {
            "description": "With `unsupported_encoding`: `identity`, a body as it is.",
            "schema": {"type": "string"},
        }
    },
    429: {"Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer"}}},
}


class IdentifierShape(OpenApiSerializerFieldExtension):
    """An id's prefix and digits as a pattern."""

    target_class = "memory.api.strict.Identifier"

    def map_serializer_field(self, auto_schema: Any, direction: str) -> dict[str, str]:
        return {"type": "string", "pattern": f"^({'|'.join(self.target.prefixes)})_[0-9a-f]{{32}}$"}


class AgentKeyScheme(OpenApiAuthenticationExtension):
    """`Authorization: Bearer mgk_…`"""

    target_class = "memory.api.authentication.AgentKeyAuthentication"
    name = "agentKey"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "bearerFormat": "mgk_…", "description": "An agent key."}


def describe() -> dict[str, Any]:
    """The OpenAPI 3.1 document of the API.  Takes about a second; the same at every call."""
    schema: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
    schema["info"] = {"title": TITLE, "version": "1", "description": DESCRIPTION}
    schema["tags"] = [{"name": name, "description": words} for name, words in TAGS.items()]
    for name, component in schema["components"]["schemas"].items():
        if name.endswith("Request"):
            component["additionalProperties"] = False
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            _complete(path, method, operation)
    return schema


def _complete(path: str, method: str, operation: dict[str, Any]) -> None:
    """Add the problems that the call's shape brings with it, and examples of ids."""
    statuses = {400, 401, 429, 503}
    if "{" in path or "scope" in {one["name"] for one in operation.get("parameters", [])}:
        statuses.add(404)
    if method in ("post", "put", "patch"):
        statuses |= {411, 413, 415}
    for status in sorted(statuses):
        operation["responses"].setdefault(str(status), _problem(status))
    operation["responses"] = dict(sorted(operation["responses"].items()))
    for parameter in operation.get("parameters", []):
        if parameter["name"] in PATH_IDS:
            parameter["example"] = PATH_IDS[parameter["name"]]


def _problem(status: int) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "description": phrase(status),
        "content": {CONTENT_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemAnswer"}}},
    }
    if status in _HEADERS:
        answer["headers"] = _HEADERS[status]
    return answer
