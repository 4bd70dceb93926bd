"""CrewAI's records as memories of memgov and back, and what CrewAI narrows by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from typing import Any

from crewai.memory.types import MemoryRecord

from memgov_client.models import Memory


class Filter:
    """What CrewAI narrows by."""

    def __init__(
        self, prefix: str | None, categories: Iterable[str] | None, metadata: Mapping[str, Any] | None
    ) -> None:
        self._prefix = "/" + (prefix or "").strip("/")
        self._categories = set(categories or ())
        self._metadata = metadata or {}

    def fits(self, row: Memory) -> bool:
        """Whether a row is at or below the path, has one of the categories, and all of the metadata."""
        path = path_of(row)
        if self._prefix != "/" and path != self._prefix and not path.startswith(self._prefix + "/"):
            return False
        if self._categories and not self._categories & set(categories_of(row)):
            return False
        kept = _kept(row).get("metadata", {})
        return all(kept.get(name) == value for name, value in self._metadata.items())


def metadata_of(record: MemoryRecord) -> dict[str, Any]:
    """What of a record memgov has no field for, as the metadata of a memory."""
    kept = {
        "scope": "/" + record.scope.strip("/"),
        "categories": record.categories,
        "metadata": record.metadata,
        "importance": record.importance,
        "source": record.source,
        "private": record.private,
    }
    return {"crewai": kept}


def _kept(row: Memory) -> Mapping[str, Any]:
    found = row.metadata.get("crewai")
    return found if isinstance(found, Mapping) else {}


def path_of(row: Memory) -> str:
    """CrewAI's path of a memory, `/` where it has none."""
    return str(_kept(row).get("scope", "/"))


def categories_of(row: Memory) -> list[str]:
    """CrewAI's categories of a memory."""
    return [str(one) for one in _kept(row).get("categories", ())]


def record_of(row: Memory) -> MemoryRecord:
    """A memory as CrewAI's record."""
    kept = _kept(row)
    return MemoryRecord(
        id=row.id or "",
        content=row.content or "",
        scope=path_of(row),
        categories=categories_of(row),
        metadata=dict(kept.get("metadata", {})),
        importance=float(kept.get("importance", row.importance)),
        created_at=_naive(row.recorded_at),
        last_accessed=_naive(row.last_used_at or row.learned_at),
        source=kept.get("source"),
        private=bool(kept.get("private", False)),
    )


def share(score: float) -> float:
    """A score as CrewAI weighs it, from 0 to 1."""
    return min(1.0, max(0.0, score))


def utc(time: datetime | None) -> datetime:
    """An aware time; CrewAI's own have no zone and mean UTC."""
    time = time or datetime.fromtimestamp(0, timezone.utc)
    return time.replace(tzinfo=timezone.utc) if time.tzinfo is None else time


def _naive(time: datetime | None) -> datetime:
    """As CrewAI computes with them: UTC without a zone."""
    return utc(time).astimezone(timezone.utc).replace(tzinfo=None)
