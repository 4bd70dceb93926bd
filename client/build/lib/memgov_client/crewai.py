"""CrewAI's memory on memgov.

    from memgov_client import Client
    from memgov_client.crewai import memory

    crew = Crew(agents=…, tasks=…, memory=memory(Client(), scope="project:alpha", origin="tool_output"))

CrewAI asks its storage with vectors; memgov searches by words and with an embedder of its own. `TextVectors` is the
embedder for CrewAI that makes both fit: it hands out vectors that stand for texts, so that the storage knows what was
asked. No model and no key of a provider is needed for it.

All paths of CrewAI (`/team/role`) lie in one scope of memgov. What a held write means here: `remember` returns a
record, the log (or ``on_outcome``) says that it is held, and `recall` does not find it until a person has released
it. Refused texts are logged and not stored; a crew offers much that is nothing to remember.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from typing import Any, Final

from crewai.memory.types import MemoryRecord, ScopeInfo
from crewai.memory.unified_memory import Memory as CrewMemory

from memgov_client.calls import memories, reading, writing
from memgov_client.calls.writing import CandidateFields
from memgov_client.clients import Client
from memgov_client.crewai_records import Filter, categories_of, metadata_of, path_of, record_of, share, utc
from memgov_client.crewai_vectors import TextVectors
from memgov_client.documents import MAX_TEXT, Origin, on_refusal_log
from memgov_client.errors import NotFoundError
from memgov_client.models import Memory, Outcome, Retrieval
from memgov_client.plans import Plan, every

NOT_RATED: Final = 0.5
"""CrewAI's importance of what nobody rated."""
WIDE: Final = 1_000_000


class MemgovStorage:
    """A storage backend of CrewAI over one scope of memgov."""

    def __init__(
        self,
        client: Client,
        *,
        scope: str,
        origin: str,
        session: str | None = None,
        on_outcome: Callable[[Outcome], None] = on_refusal_log,
    ) -> None:
        self._client = client
        self._place = Origin(scope, origin, session, tool="crewai")
        self._on_outcome = on_outcome
        self.embedder = TextVectors()

    def save(self, records: list[MemoryRecord]) -> None:
        """Offer records; each gets the id that memgov knows its text by."""
        for record in records:
            outcome = self._client.run(self._offer(record))
            if outcome.memory is not None and outcome.memory.id:
                record.id = outcome.memory.id
            self._on_outcome(outcome)

    def search(
        self,
        query_embedding: list[float],
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        metadata_filter: dict[str, Any] | None = None,
        limit: int = 10,
        min_score: float = 0.0,
    ) -> list[tuple[MemoryRecord, float]]:
        """What applies to the text behind the vector, best first, with memgov's score."""
        return self._client.follow(
            self._search(
                self.embedder.text_of(query_embedding),
                Filter(scope_prefix, categories, metadata_filter),
                limit,
                min_score,
            )
        )

    def delete(
        self,
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        record_ids: list[str] | None = None,
        older_than: datetime | None = None,
        metadata_filter: dict[str, Any] | None = None,
    ) -> int:
        """Delete records that CrewAI wrote and that fit all of it; how many.  Others' memories are never deleted so."""
        wanted = Filter(scope_prefix, categories, metadata_filter)
        gone = 0
        for row in self._client.follow(self._rows()):
            if "crewai" not in row.metadata or not wanted.fits(row):
                continue
            if record_ids is not None and row.id not in record_ids:
                continue
            if older_than is not None and utc(row.recorded_at) >= utc(older_than):
                continue
            gone += self._gone(row.id or "")
        return gone

    def update(self, record: MemoryRecord) -> None:
        """Change the text and what is kept with it.  RefusedError when the policy does not let the new text in."""
        memory = self._client.run(memories.memory(record.id))
        self._client.run(
            memories.edit(
                record.id,
                version=memory.version,
                content=record.content[:MAX_TEXT],
                metadata=metadata_of(record),
            )
        )

    def get_record(self, record_id: str) -> MemoryRecord | None:
        """One record that can be read now."""
        try:
            row = self._client.run(memories.memory(record_id))
        except (NotFoundError, ValueError):
            return None
        readable = row.status in ("live", "contested") and row.scope == self._place.scope
        return record_of(row) if readable else None

    def list_records(
        self, scope_prefix: str | None = None, limit: int = 200, offset: int = 0
    ) -> list[MemoryRecord]:
        """Records, newest first."""
        return [record_of(row) for row in self._under(scope_prefix)[offset : offset + limit]]

    def get_scope_info(self, scope: str) -> ScopeInfo:
        """How many records lie at and below a path, and since when."""
        rows = self._under(scope)
        times = [utc(row.recorded_at) for row in rows]
        return ScopeInfo(
            path=scope,
            record_count=len(rows),
            categories=sorted({one for row in rows for one in categories_of(row)}),
            oldest_record=min(times, default=None),
            newest_record=max(times, default=None),
            child_scopes=self.list_scopes(scope),
        )

    def list_scopes(self, parent: str = "/") -> list[str]:
        """The paths one step below."""
        base = "" if parent.strip("/") == "" else "/" + parent.strip("/")
        steps = {path_of(row)[len(base) + 1 :].split("/")[0] for row in self._under(parent)}
        return sorted(f"{base}/{step}" for step in steps if step)

    def list_categories(self, scope_prefix: str | None = None) -> dict[str, int]:
        """Categories and how many records have them."""
        return dict(Counter(one for row in self._under(scope_prefix) for one in categories_of(row)))

    def count(self, scope_prefix: str | None = None) -> int:
        """How many records."""
        return len(self._under(scope_prefix))

    def reset(self, scope_prefix: str | None = None) -> None:
        """Delete what CrewAI wrote there."""
        self.delete(scope_prefix=scope_prefix)

    async def asave(self, records: list[MemoryRecord]) -> None:
        """`save` in a thread."""
        await _in_thread(self.save, records)

    async def asearch(self, *args: Any, **kwargs: Any) -> list[tuple[MemoryRecord, float]]:
        """`search` in a thread."""
        found: list[tuple[MemoryRecord, float]] = await _in_thread(self.search, *args, **kwargs)
        return found

    async def adelete(self, *args: Any, **kwargs: Any) -> int:
        """`delete` in a thread."""
        return int(await _in_thread(self.delete, *args, **kwargs))

    def _offer(self, record: MemoryRecord) -> Any:
        fields: CandidateFields = {
            **self._place.fields(),
            "importance": None if record.importance == NOT_RATED else record.importance,
            "metadata": metadata_of(record),
        }
        return writing.write(record.content[:MAX_TEXT], **fields)

    def _search(
        self, query: str, wanted: Filter, limit: int, min_score: float
    ) -> Plan[list[tuple[MemoryRecord, float]]]:
        answer: Retrieval = yield reading.retrieve(
            query, scopes=[self._place.scope], session=self._place.session, limit=1000, max_tokens=WIDE
        )
        if not answer.entries:
            return []
        rows = {row.id: row for row in (yield from self._rows())}
        found = [
            (record_of(rows[entry.id]), share(entry.score))
            for entry in answer.entries
            if entry.id in rows and share(entry.score) >= min_score and wanted.fits(rows[entry.id])
        ]
        return found[:limit]

    def _rows(self) -> Plan[list[Memory]]:
        return every(
            lambda cursor: memories.memories_page(scope=self._place.scope, page_size=200, cursor=cursor)
        )

    def _under(self, scope_prefix: str | None) -> list[Memory]:
        wanted = Filter(scope_prefix, None, None)
        return [row for row in self._client.follow(self._rows()) if wanted.fits(row)]

    def _gone(self, memory_id: str) -> int:
        try:
            return len(self._client.run(memories.delete(memory_id, "deleted by the crew")))
        except NotFoundError:
            return 0


def memory(
    client: Client,
    *,
    scope: str,
    origin: str,
    session: str | None = None,
    on_outcome: Callable[[Outcome], None] = on_refusal_log,
    **options: Any,
) -> CrewMemory:
    """A CrewAI `Memory` over memgov.  ``options`` are CrewAI's own.

    Consolidation by a model is off unless asked for: memgov reconciles each write with what is known.
    """
    storage = MemgovStorage(client, scope=scope, origin=origin, session=session, on_outcome=on_outcome)
    settings = {"consolidation_threshold": 1.0, **options, "storage": storage, "embedder": storage.embedder}
    return CrewMemory(**settings)


async def _in_thread(work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return await asyncio.to_thread(work, *args, **kwargs)


__all__ = ["MemgovStorage", "TextVectors", "memory"]
