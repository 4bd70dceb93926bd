"""The blast radius: how far something got, holding all of it, and taking that back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param

from memgov import clock
from memory.api import reach_docs as docs
from memory.api.endpoint import Endpoint, id_in_path
from memory.api.idempotency import idempotent
from memory.api.reach_requests import ReachBody, ReachParameters
from memory.api.representation import job_json, named, when
from memory.api.requests import EmptyBody
from memory.domain.blast import Seed
from memory.domain.ids import show_id
from memory.selectors.blast import MOST, Entry, Seen
from memory.services.blast import blast_quarantine, blast_undo
from memory.services.blast_reach import Reach, blast_reach

_SEED = ("memory", "agent", "key", "session", "tool", "source", "since", "until")


def _seed(given: Mapping[str, Any]) -> Seed:
    return Seed(**{name: given[name] for name in _SEED if name in given})


class Blast(Endpoint):
    """`GET blast`"""

    parameters = {"GET": ReachParameters}

    @docs.reach
    def get(self, request: Any) -> Response:
        seed, before = _seed(self.query), self.query.get("before")
        found = blast_reach(
            self.principal,
            seed,
            seen=self.query.get("seen"),
            before=before,
            most=self.query.get("page_size", MOST),
        )
        return Response(_reach_json(request, found))


def _reach_json(request: Any, found: Reach) -> dict[str, Any]:
    counts, readers = found.counts, found.readers
    return {
        "seen": when(found.seen),
        "counts": {
            "written": counts.written,
            "derived": counts.derived,
            "readable": counts.readable,
            "quarantined": counts.held,
            "holdable": counts.holdable,
            "manifests": readers.manifests,
            "agents": readers.agents,
            "sessions": readers.sessions,
        },
        "memories": [_entry(one) for one in found.entries],
        "next": _next(request, found),
        "manifests": [_read(one, "manifest", "man") for one in readers.latest],
        "agents": [_read(one, "agent", "agt") for one in readers.by_agent],
        "sessions": [{"session": one.key, "reads": one.count, "last_at": when(one.at)} for one in readers.by_session],
        "decisions": [
            {
                "at": when(one.at),
                "actor": one.actor,
                "action": one.action,
                "target": one.target,
                "reason": one.reason or None,
            }
            for one in found.decisions
        ],
    }  # fmt: skip


def _entry(one: Entry) -> dict[str, Any]:
    return {
        "id": show_id("mem", one.id),
        "version": one.version,
        "relation": "written" if one.written else "derived",
        "status": one.status,
        "scope": one.scope,
        "agent": one.agent,
        "recorded_at": when(one.recorded_at),
    }


def _read(one: Seen, name: str, prefix: str) -> dict[str, Any]:
    return {
        name: named(prefix, UUID(one.key)) if one.key else None,
        "name": one.name,
        "count": one.count,
        "used": one.used,
        "last_at": when(one.at),
    }


def _next(request: Any, found: Reach) -> str | None:
    if not found.more:
        return None
    address = replace_query_param(
        request.build_absolute_uri(), "before", show_id("mem", found.entries[-1].id)
    )
    return replace_query_param(address, "seen", when(found.seen) or "")


class BlastQuarantine(Endpoint):
    """`POST blast/quarantine`"""

    @docs.quarantine
    @idempotent
    def post(self, request: Any) -> Response:
        data = self.body(ReachBody)
        seen = data.get("seen") or clock.now()
        job = blast_quarantine(self.principal, _seed(data), data["reason"], seen=seen)
        return Response(job_json(job), status=202)


class BlastUndo(Endpoint):
    """`POST blast/steps/{id}/undo`"""

    @docs.undo
    @idempotent
    def post(self, request: Any, step_id: str) -> Response:
        self.body(EmptyBody)
        return Response(job_json(blast_undo(self.principal, id_in_path("job", step_id))), status=202)
