"""Pages of docs/reference, made from what the product says of itself."""

from __future__ import annotations

from typing import Any

NOTE = "<!-- Written by scripts/generate_docs.py; change what it is made from, not this file. -->\n\n"


def cell(text: str) -> str:
    """A text as one cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def kind(schema: dict[str, Any]) -> str:
    """The type of a value, in a few words."""
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return " or ".join(dict.fromkeys(kind(each) for each in schema[union]))
    if "allOf" in schema:
        return kind(schema["allOf"][0])
    if "$ref" in schema:
        return schema["$ref"].rsplit("/", 1)[-1]
    if "enum" in schema:
        return "one of " + ", ".join(f"`{each}`" for each in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    kinds = schema.get("type", "any")
    if isinstance(kinds, list):
        return " or ".join(kinds)
    if kinds == "array":
        return f"list of {kind(schema.get('items', {}))}"
    return f"{kinds} ({schema['format']})" if "format" in schema else str(kinds)


def limits(schema: dict[str, Any]) -> str:
    """What bounds a value, such as `0 to 1`; empty when nothing does."""
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None and high < 2**31 - 1:
        return f"{low:g} to {high:g}"
    if low is not None:
        return f"at least {low:g}"
    if high is not None:
        return f"at most {high:g}"
    if "maxLength" in schema:
        return f"at most {schema['maxLength']:,} characters"
    return f"at most {schema['maxItems']:,}" if "maxItems" in schema else ""
