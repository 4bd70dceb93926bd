"""Secrets in rows that go out or come in: an export crosses a boundary, and a row may be older than the scanner.

The spans are blanked out as at a write, in every text that agents or people wrote, also inside JSON.  The audit chain
is left as it is: its events hold no text of memories, and a changed one would break it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from memory.domain.normalise import value_hash
from memory.domain.registry import DEFAULT_REGISTRY
from memory.domain.sanitisation import scan_secrets
from memory.domain.sanitisation.redaction import redact, replaced, strings

TEXTS: Final[Mapping[str, tuple[str, ...]]] = {
    "memory_memory": (
        "subject", "value", "content", "metadata", "session", "task", "tool", "input_hash", "status_reason",
        "pin_reason", "tags", "paths",
    ),
    "memory_revision": ("state", "reason"),
    "memory_writedecision": ("text", "undo", "session", "task"),
    "memory_manifest": ("query_text", "request", "working", "session", "task"),
    "memory_workingvalue": ("value", "summary", "key", "task", "tool"),
    "memory_workrun": ("result", "name"),
    "memory_promotionrequest": ("reason",),
    "memory_promotiondecision": ("reason",),
    "memory_promotionnote": ("text",),
    "memory_contradiction": ("reason",),
    "memory_alert": ("message", "evidence", "note"),
    "memory_policyversion": ("reason",),
    "memory_sampleitem": ("reason",),
    "tenants_agent": ("description",),
}  # fmt: skip


def without_secrets(table: str, row: dict[str, Any]) -> int:
    """Blank out the secrets in a row, in place; how many there were."""
    found = 0
    for column in TEXTS.get(table, ()):
        value = row.get(column)
        if not value:
            continue
        clean, count = _clean(value)
        if count:
            row[column], found = clean, found + count
    if found and table == "memory_memory":
        row["value_hash"] = "\\x" + _hash_of(row).hex()
    return found


def _clean(value: Any) -> tuple[Any, int]:
    if isinstance(value, str):
        matches = scan_secrets(value)
        return redact(value, matches), len(matches)
    texts: dict[str, str] = {}
    count = 0
    for _path, text in strings(value, ""):
        if text not in texts and (matches := scan_secrets(text)):
            texts[text] = redact(text, matches)
            count += len(matches)
    return (replaced(value, texts), count) if texts else (value, 0)


def _hash_of(row: Mapping[str, Any]) -> bytes:
    """The hash of what the row says now, as a write would have made it."""
    predicate = row.get("predicate") or ""
    said = str((row.get("value") if predicate else "") or row.get("content") or "")
    return value_hash(said, DEFAULT_REGISTRY.lookup(predicate).normaliser) if predicate else value_hash(said)
