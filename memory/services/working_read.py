"""Working values as entries of a retrieval: looked up by key, kept with the manifest for its rereading."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from memory.domain.episode import value_line
from memory.domain.ids import show_id
from memory.domain.scopes import ScopeKind
from memory.domain.types import Kind, Layer
from memory.models import WorkingValue
from memory.selectors.recall import Found
from memory.selectors.working import values_by_key
from memory.services.working import KEPT
from tenants.principals import Principal

WORKING: Final = "working"
"""The channel of such entries."""


def working_found(
    principal: Principal, task: str, keys: Sequence[str], now: datetime
) -> tuple[list[Found], dict[str, int]]:
    """The values of the agent's own task under these keys, in their order, and what was left out by reason."""
    if not keys:
        return [], {}
    wanted = list(dict.fromkeys(keys))
    rows = values_by_key(principal.agent_id, task, wanted, now) if task else []
    given = [_found(row) for row in rows if row.status == KEPT]
    left = {"unknown_key": len(wanted) - len(rows), "quarantined": len(rows) - len(given)}
    return given, {reason: count for reason, count in left.items() if count}


def _found(row: WorkingValue) -> Found:
    return Found(
        id=row.id, version=row.version, scope=f"{ScopeKind.TASK}:{row.task}", layer=Layer.WORKING.value,
        kind=Kind.FACT.value, subject=row.key, predicate="", content=f"{row.key}: {value_line(row.value)}",
        value_hash=b"", trust=row.trust, confidence=row.confidence, origin=row.origin, agent_name=row.agent_name,
        tool=row.tool, session=row.session, status=row.status, paths=[], recorded_at=row.updated_at,
        learned_at=row.updated_at, pinned=False,
    )  # fmt: skip


def working_kept(row: Found) -> dict[str, Any]:
    """What the manifest keeps of a value: it has no revisions, and its text must be rendered again as it was."""
    return {"id": show_id("wrk", row.id), "key": row.subject, "content": row.content}


def working_texts(kept: Sequence[Mapping[str, Any]]) -> dict[UUID, str]:
    """By id, the texts of the values that a manifest keeps."""
    return {UUID(one["id"].partition("_")[2]): one["content"] for one in kept if "content" in one}
