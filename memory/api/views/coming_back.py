"""What was derived from a memory, what restoring one would meet, and restoring it."""

from __future__ import annotations

from typing import Any

from rest_framework.response import Response

from memgov import clock
from memory.api import back_docs as docs
from memory.api.back_requests import RestoreBody
from memory.api.endpoint import Endpoint, id_in_path
from memory.api.idempotency import idempotent
from memory.api.views.memories import shown
from memory.domain.blast import Seed
from memory.domain.ids import show_id
from memory.domain.scopes import Verb, parse_scope
from memory.models import Memory
from memory.selectors import blast
from memory.services.access import may_on, visible_memory
from memory.services.restore import clash_of, goes_back_to, memory_restore
from tenants.context import tenant_context

MOST = 200
_GONE = ("deleted", "erased")


class Derived(Endpoint):
    """`GET memories/{id}/derived`"""

    @docs.derived
    def get(self, request: Any, memory_id: str) -> Response:
        with tenant_context(self.principal.tenant_id):
            memory = visible_memory(self.principal, id_in_path("mem", memory_id))
            rows = blast.entries(Seed(memory=memory.id), clock.now(), most=MOST)
            found = [
                {
                    "id": show_id("mem", row.id),
                    "version": row.version,
                    "status": row.status,
                    "scope": row.scope,
                }
                for row in rows[:MOST]
                if not row.written
                and row.status not in _GONE
                and may_on(self.principal, Verb.READ, parse_scope(row.scope))
            ]
        return Response({"memories": found, "more": len(rows) > MOST})


class Restore(Endpoint):
    """`GET` and `POST memories/{id}/restore`"""

    @docs.restore_look
    def get(self, request: Any, memory_id: str) -> Response:
        with tenant_context(self.principal.tenant_id):
            memory = visible_memory(self.principal, id_in_path("mem", memory_id))
            clash = clash_of(memory)
            body = {
                "version": memory.version,
                "status": memory.status,
                "goes_to": goes_back_to(memory).value,
                "clash": [
                    *(_rival(row, "same") for row in clash.same),
                    *(_rival(row, "contradicting") for row in clash.contradicting),
                ],
            }
        return Response(body)

    @docs.restore
    @idempotent
    def post(self, request: Any, memory_id: str) -> Response:
        data, uuid = self.body(RestoreBody), id_in_path("mem", memory_id)
        seen = {one["memory"]: one["version"] for one in data["seen"]} if "seen" in data else None
        memory = memory_restore(
            self.principal, uuid, data.get("reason", ""), version=data.get("version"),
            expires_at=data.get("expires_at"), on_clash=data.get("on_clash", "refuse"), seen=seen,
        )  # fmt: skip
        with tenant_context(self.principal.tenant_id):
            return shown(memory, self.principal)


def _rival(row: Memory, relation: str) -> dict[str, Any]:
    return {
        "memory": show_id("mem", row.id),
        "version": row.version,
        "status": row.status,
        "relation": relation,
    }
