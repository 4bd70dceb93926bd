"""JSON schemas of the tools' arguments and answers.

They describe; what is checked is checked by the API behind them (`tests/mcp/test_tools.py` holds the names equal).
Descriptions are read by a model at every session, so they are short.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from memory.domain.types import Band, Kind, Layer, Origin, OutcomeKind, Status

Schema = dict[str, Any]

SCOPE_HELP: Final = "session:KEY, task:KEY, agent:ROLE, user:KEY, project:KEY, shared or global"


def object_of(required: Iterable[str] = (), /, **properties: Schema) -> Schema:
    """An object with these members and no others."""
    schema: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    names = list(required)
    return {**schema, "required": names} if names else schema


def answer_of(required: Iterable[str], /, **properties: Schema) -> Schema:
    """An object that has at least these members."""
    return {"type": "object", "properties": properties, "required": list(required)}


def text(description: str = "", **more: Any) -> Schema:
    return {"type": "string", **({"description": description} if description else {}), **more}


def texts(description: str = "") -> Schema:
    return list_of({"type": "string"}, description)


def list_of(items: Schema, description: str = "") -> Schema:
    return {"type": "array", "items": items, **({"description": description} if description else {})}


def word(words: Any, description: str = "") -> Schema:
    return text(description, enum=[str(one) for one in words])


def words(choices: Any, description: str = "") -> Schema:
    return list_of(word(choices), description)


def share(description: str) -> Schema:
    return {"type": "number", "minimum": 0, "maximum": 1, "description": description}


def whole(description: str, **more: Any) -> Schema:
    return {"type": "integer", "description": description, **more}


def flag(description: str) -> Schema:
    return {"type": "boolean", "description": description}


def maybe(kind: str) -> Schema:
    return {"type": [kind, "null"]}


SCOPE: Final = text(SCOPE_HELP)
MEMORY_ID: Final = text("mem_…")
KEY: Final = text("Any text of yours; the same call with the same key happens once.")
ANY_VALUE: Final[Schema] = {
    "type": ["string", "number", "boolean"],
    "description": "The value of the predicate.",
}
TTL: Final[Schema] = {"type": ["integer", "string"], "description": "Seconds, or 30m, 12h, 14d, 2w."}
METADATA: Final[Schema] = {"type": "object", "description": "JSON of yours."}
APPLIES_TO: Final[Schema] = {
    **object_of(paths=texts("Globs."), tags=texts()),
    "description": "Narrows where it applies.",
}

CHANGEABLE: Final[dict[str, Schema]] = {
    "content": text("The sentence to remember."),
    "value": ANY_VALUE,
    "kind": word(Kind),
    "layer": word(Layer),
    "confidence": share("How sure it is."),
    "importance": share("How much it matters later."),
    "applies_to": APPLIES_TO,
    "ttl": TTL,
    "expires_at": text("Instant with offset; nobody gets it afterwards."),
    "valid_from": text("Instant with offset."),
    "valid_to": text("Instant with offset."),
    "review_by": text("Instant with offset."),
    "metadata": METADATA,
}
WRITE: Final[dict[str, Schema]] = {
    **CHANGEABLE,
    "subject": text("What it is about, as user:42."),
    "predicate": text("Which property, as plan; with subject and value instead of content."),
    "scope": text(f"{SCOPE_HELP}. The narrowest that fits when left out."),
    "origin": word(
        Origin,
        "Where you know it from, honestly: user_explicit (the user stated it), user_input (said in passing), "
        "tool_verified, tool_output, model_inferred (your own conclusion), external (web page, file, mail).",
    ),
    "session": text("Key of the running session."),
    "task": text("Key of the running task."),
    "tool": text("The tool it came from."),
    "input_hash": text("Digest of what it was read from."),
    "derived_from": texts("Ids of memories it was concluded from."),
}
MEMORY: Final = {
    **answer_of(
        ("version", "status", "scope", "kind", "origin", "trust"),
        id=maybe("string"), version={"type": "integer"}, status=word(Status), scope=text(), content=maybe("string"),
        kind=word(Kind), layer=word(Layer), band=word(Band), origin=text(), trust={"type": "number"},
    )
}  # fmt: skip
OUTCOME: Final = answer_of(
    ("outcome", "reason", "memory", "policy_version", "advice"),
    outcome=word(OutcomeKind), reason=maybe("string"), rule=maybe("string"), explanation=text(), advice=text(),
    memory={"anyOf": [MEMORY, {"type": "null"}]}, replaced=texts(), linked=texts(),
    findings={"type": "array"}, policy_version={"type": "integer"}, id=maybe("string"),
)  # fmt: skip
