"""docs/reference/policy.md: every field of the policy document with its default."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from scripts.reference import NOTE, cell, kind, limits

_HEAD = """# Policy document

Every field, made from the [JSON Schema](../policy.schema.json). How policies are written, tried and activated is in
[Policies](../policies.md). `scopes` takes the same fields for one pattern of scopes.
"""
_LONGEST = 60


def page(schema: dict[str, Any]) -> str:
    """The whole page: a table per section, in the order of the document."""
    lines = [NOTE.rstrip("\n"), "", _HEAD]
    shown: set[str] = set()
    plain = {}
    for name, field in schema["properties"].items():
        reference = _reference(field)
        if reference is None:
            plain[name] = field
            continue
        shown.add(reference)
        lines += [f"## {name}", "", *_section(schema["$defs"][reference])]
    lines += ["## Beside the sections", "", *_table(plain)]
    for name, made in schema["$defs"].items():
        if "enum" in made:
            lines += [f"## Values: {name}", "", f"{kind(made).capitalize()}.", ""]
        elif name not in shown:
            lines += [f"## Shape: {name}", "", *_section(made)]
    return "\n".join(lines).rstrip() + "\n"


def _reference(field: dict[str, Any]) -> str | None:
    for each in (field, *field.get("allOf", [])):
        if "$ref" in each:
            return str(each["$ref"]).rsplit("/", 1)[-1]
    return None


def _section(made: dict[str, Any]) -> Iterator[str]:
    if made.get("description"):
        yield from (" ".join(made["description"].split()), "")
    yield from _table(made["properties"])


def _table(fields: dict[str, Any]) -> Iterator[str]:
    yield from ("| field | type | default | meaning |", "|---|---|---|---|")
    for name, field in fields.items():
        bound = limits(field)
        types = f"{kind(field)}, {bound}" if bound else kind(field)
        yield f"| `{name}` | {cell(types)} | {_default(field)} | {cell(field.get('description', ''))} |"
    yield ""


def _default(field: dict[str, Any]) -> str:
    if "default" not in field:
        return ""
    text = json.dumps(field["default"], ensure_ascii=False)
    return f"`{cell(text)}`" if len(text) <= _LONGEST else f"{len(field['default'])} entries, see the schema"
