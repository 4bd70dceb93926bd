"""docs/reference/rest.md: every call of the OpenAPI document, by tag."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from scripts.reference import NOTE, cell, kind, limits

_HEAD = """# Every REST call

Made from the OpenAPI document that a running memgov serves at `/api/v1/schema/` (browsable at `/api/v1/docs/`). What
the calls are for, with examples that run, is in [the REST API](../api.md).
"""
_VALUES = re.compile(r"^\\* `[^`]*` - .*$", re.MULTILINE)


def page(document: dict[str, Any]) -> str:
    """The whole page."""
    lines = [NOTE.rstrip("\n"), "", _HEAD]
    for tag in document["tags"]:
        lines += [f"## {tag['name'].capitalize()}", "", tag["description"], ""]
        for path, operations in document["paths"].items():
            for method, operation in operations.items():
                if tag["name"] in operation.get("tags", []):
                    lines += _operation(document, f"{method.upper()} {path}", operation)
    return "\n".join(lines).rstrip() + "\n"


def _operation(document: dict[str, Any], title: str, operation: dict[str, Any]) -> Iterator[str]:
    yield from (f"### {title}", "")
    for said in ("summary", "description"):
        if operation.get(said):
            yield from (" ".join(operation[said].split()), "")
    if operation.get("parameters"):
        yield from ("| parameter | in | type | meaning |", "|---|---|---|---|")
        for each in operation["parameters"]:
            name = f"`{each['name']}`" + (
                ", required" if each.get("required") and each["in"] != "path" else ""
            )
            yield f"| {name} | {each['in']} | {_type(each['schema'])} | {_words(each)} |"
        yield ""
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    if body:
        yield from _body(document, body)
    yield from ("| answer | |", "|---|---|")
    for status, answer in operation["responses"].items():
        yield f"| {status} | {cell(answer.get('description', ''))} |"
    yield ""


def _body(document: dict[str, Any], body: dict[str, Any]) -> Iterator[str]:
    schema = document["components"]["schemas"][body["$ref"].rsplit("/", 1)[-1]] if "$ref" in body else body
    if not schema.get("properties"):
        return
    yield from ("| field | type | meaning |", "|---|---|---|")
    for name, field in schema["properties"].items():
        needed = ", required" if name in schema.get("required", []) else ""
        yield f"| `{name}`{needed} | {_type(field)} | {_words(field)} |"
    yield ""


def _type(schema: dict[str, Any]) -> str:
    bound = limits(schema)
    return cell(f"{kind(schema)}, {bound}" if bound else kind(schema))


def _words(described: dict[str, Any]) -> str:
    """Without the list of values that the generator of the document adds: the type has it."""
    return cell(_VALUES.sub("", described.get("description", "")))
