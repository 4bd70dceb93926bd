"""Deleting many memories at once, and taking that back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rest_framework.response import Response

from memory.api import deletion_docs as docs
from memory.api.deletion_requests import DeletionBody
from memory.api.endpoint import Endpoint, id_in_path
from memory.api.idempotency import idempotent
from memory.api.problems import stop
from memory.api.representation import job_json, when
from memory.api.requests import EmptyBody
from memory.api.views.memories import agent_named
from memory.domain.ids import show_id
from memory.domain.types import Band
from memory.selectors.deletions import Chosen, Row
from memory.selectors.memory_list import MemoryFilters
from memory.services.deletion import Look, Wish, told
from memory.services.deletion_steps import deletion_look, deletion_undo, memories_delete
from memory.store import jobs

_LISTS = {"scope": "scopes", "status": "statuses", "kind": "kinds", "layer": "layers", "origin": "origins"}
_SAME = (
    "subject", "predicate", "session", "task", "tool", "pinned", "updated_after", "recorded_after", "recorded_before",
)  # fmt: skip


class DeleteMany(Endpoint):
    """`POST memories/delete`"""

    @docs.delete_many
    @idempotent
    def post(self, request: Any) -> Response:
        data = self.body(DeletionBody)
        wish = _wish(data)
        if data.get("dry_run"):
            return Response(_answer(deletion_look(self.principal, wish), wish, dry_run=True))
        done = memories_delete(self.principal, wish)
        if done.job.status != jobs.DONE:
            place = request.build_absolute_uri(f"/api/v1/jobs/{show_id('job', done.job.id)}")
            return Response(job_json(done.job), status=202, headers={"Location": place})
        return Response({**_answer(done.look, wish), **_done(done.job)})


class DeletionUndo(Endpoint):
    """`POST memories/delete/{id}/undo`"""

    @docs.undo
    @idempotent
    def post(self, request: Any, deletion_id: str) -> Response:
        self.body(EmptyBody)
        return Response(job_json(deletion_undo(self.principal, id_in_path("job", deletion_id))), status=202)


def _wish(data: Mapping[str, Any]) -> Wish:
    ids = tuple(dict.fromkeys(data.get("ids", ())))
    if ids and data.get("filter"):
        raise stop(
            400,
            "ids_or_filter",
            "name the memories by `ids` or by `filter`, not by both; nothing was deleted",
        )
    chosen = Chosen(ids=ids) if ids else Chosen(filters=_filters(data.get("filter") or {}))
    return Wish(
        chosen,
        data["reason"],
        cascade=data.get("cascade", False),
        seen=data.get("seen"),
        seal=data.get("seal", ""),
    )


def _filters(given: Mapping[str, Any]) -> MemoryFilters:
    values: dict[str, Any] = {column: given[name] for name, column in _LISTS.items() if name in given}
    values |= {name: given[name] for name in _SAME if name in given}
    if "band" in given:
        values["band"] = Band(given["band"])
    return MemoryFilters(**values, agent=agent_named(given.get("agent")), words=given.get("q"))


def _answer(seen: Look, wish: Wish, *, dry_run: bool = False) -> dict[str, Any]:
    kept = told(seen)
    return {
        "dry_run": dry_run,
        "deleted": 0,
        "matched": seen.going,
        "derived": seen.derived,
        "memories": _rows(seen.sample),
        "derived_memories": _rows(seen.derived_sample),
        **kept,
        "seen": when(seen.seen),
        "seal": seen.sealed(wish.cascade),
        "step": None,
    }


def _done(job: Any) -> dict[str, Any]:
    """What came of it: a memory that changed at that very moment was left after all."""
    kept = job.result
    return {"deleted": job.done, "left": kept["left_reasons"], "step": show_id("job", job.id)}


def _rows(rows: Sequence[Row]) -> list[dict[str, Any]]:
    return [
        {
            "id": show_id("mem", one.id),
            "version": one.version,
            "status": one.status,
            "scope": one.scope,
            "recorded_at": when(one.recorded_at),
        }
        for one in rows
    ]
