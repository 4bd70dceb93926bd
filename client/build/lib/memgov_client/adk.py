"""Google ADK's memory service on memgov.

    from google.adk.runners import Runner
    from memgov_client import AsyncClient
    from memgov_client.adk import MemgovMemoryService

    runner = Runner(app_name="support", agent=agent, memory_service=MemgovMemoryService(AsyncClient()), …)

Each app has a scope of its own per user, `user:APP/USER`, unless ``scope_of`` says otherwise. A conversation is
offered turn by turn: what people say as `user_input`, what agents say as `model_inferred`. Most turns are nothing
to remember and are refused (`too_vague`), and what a model concluded does not enter a wide scope by itself; that is
the point.

What a held write means here: the call returns, the log (or ``on_outcome``) says so, and `search_memory` does not
find the text until a person has released it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.genai import types

from memgov_client.calls import memories, reading, writing
from memgov_client.clients import AsyncClient
from memgov_client.documents import MAX_TEXT, on_refusal_log, on_refusal_raise
from memgov_client.errors import NotFoundError, problem
from memgov_client.models import Entry, Item, Outcome, Retrieval

BATCH: Final = 100
_KEY = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:@/+~=-]{0,100}")
_RUN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:@+~=-]{0,100}")


def user_scope(app_name: str, user_id: str) -> str:
    """`user:APP/USER`, or a digest of both where a scope cannot be called that."""
    key = f"{app_name}/{user_id}"
    return f"user:{key}" if _KEY.fullmatch(key) and app_name.count("/") == 0 else f"user:adk~{_digest(key)}"


class MemgovMemoryService(BaseMemoryService):
    """A `BaseMemoryService` over memgov.

    ``on_outcome`` is called with the `Outcome` of each text. When it is not given, refused turns of a conversation
    are only logged, and refused memories of `add_memory` raise `RefusedError`.
    """

    def __init__(
        self,
        client: AsyncClient,
        *,
        scope_of: Callable[[str, str], str] = user_scope,
        limit: int = 10,
        on_outcome: Callable[[Outcome], None] | None = None,
    ) -> None:
        self._client, self._scope_of, self._limit = client, scope_of, limit
        self._on_outcome = on_outcome

    async def add_session_to_memory(self, session: Any) -> None:
        """Offer all turns of a session; what was offered before is a duplicate and changes nothing."""
        await self.add_events_to_memory(
            app_name=session.app_name, user_id=session.user_id, events=session.events, session_id=session.id
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Any],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Offer these turns."""
        items = [
            {
                **turn,
                "scope": self._scope_of(app_name, user_id),
                "session": _run(session_id),
                **_extra(custom_metadata),
            }
            for turn in map(_turn, events)
            if turn is not None
        ]
        await self._offer(items, self._on_outcome or on_refusal_log)

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Write these; their `custom_metadata` may name `origin`, `kind`, `importance` and `ttl`."""
        items = [
            {
                "content": _text(entry.content),
                "origin": _origin(entry.author),
                "scope": self._scope_of(app_name, user_id),
                **_extra({**(custom_metadata or {}), **entry.custom_metadata}),
            }
            for entry in memories
        ]
        await self._offer(items, self._on_outcome or on_refusal_raise)

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """What applies to the query; the manifest of the read stands in `custom_metadata`."""
        found: Retrieval = await self._client.run(
            reading.retrieve(query, scopes=[self._scope_of(app_name, user_id)], limit=self._limit)
        )
        return SearchMemoryResponse(memories=[_entry(entry, found.manifest) for entry in found.entries])

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Delete one memory of this user; one of somebody else is not found.  Raises NotFoundError."""
        if memory_id is None:
            raise ValueError("name the memory_id: memgov deletes no whole user on an agent's word")
        memory = await self._client.run(memories.memory(memory_id))
        if memory.scope != self._scope_of(app_name, user_id):
            raise NotFoundError(404, {"code": "not_found", "detail": "there is no such memory of this user"})
        await self._client.run(memories.delete(memory_id, "deleted by the app"))

    async def _offer(self, items: Iterable[Mapping[str, Any]], tell: Callable[[Outcome], None]) -> None:
        """Write in batches; every outcome is told, and the first problem of a request is raised at the end."""
        waiting, failed = list(items), None
        results: list[Item] = []
        while waiting:
            part, waiting = waiting[:BATCH], waiting[BATCH:]
            came = await self._client.run(writing.write_many(part))
            results.extend(came)
        for item in results:
            if item.problem is not None and failed is None:
                failed = problem(item.status, item.problem)
        if failed is not None:
            raise failed
        for item in results:
            if item.outcome is not None:
                tell(item.outcome)


def _turn(event: Any) -> dict[str, Any] | None:
    """A turn as a candidate; None for one without a text."""
    text = _text(event.content)
    if not text:
        return None
    return {
        "content": text[:MAX_TEXT],
        "origin": _origin(event.author),
        "layer": "episodic",
        "kind": "event",
        "input_hash": str(event.id or "")[:200] or None,
        "metadata": {"adk": {"author": str(event.author or ""), "timestamp": event.timestamp}},
    }


def _text(content: Any) -> str:
    """The text of a content, without the model's thoughts and without calls of tools."""
    parts = getattr(content, "parts", None) or ()
    return "\n".join(part.text for part in parts if part.text and not getattr(part, "thought", False)).strip()


def _origin(author: str | None) -> str:
    return "user_input" if author == "user" else "model_inferred"


def _extra(metadata: Mapping[str, object] | None) -> dict[str, Any]:
    """What callers may state about a memory beside its text."""
    known = ("origin", "kind", "layer", "importance", "confidence", "ttl", "tool")
    found: dict[str, Any] = {name: value for name, value in (metadata or {}).items() if name in known}
    rest = {name: value for name, value in (metadata or {}).items() if name not in known}
    return {**found, **({"metadata": {"adk": rest}} if rest else {})}


def _entry(entry: Entry, manifest: str) -> MemoryEntry:
    when: datetime | None = entry.recorded_at
    return MemoryEntry(
        id=entry.id,
        content=types.Content(role="user", parts=[types.Part(text=entry.content)]),
        author=entry.source,
        timestamp=when.isoformat() if when else None,
        custom_metadata={
            "manifest": manifest, "scope": entry.scope, "trust": entry.trust, "band": entry.band, "score": entry.score,
        },
    )  # fmt: skip


def _run(session_id: str | None) -> str | None:
    """The session as memgov can call it."""
    if not session_id:
        return None
    return session_id if _RUN.fullmatch(session_id) else f"adk~{_digest(session_id)}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:20]
