"""Memories: write one, list them, look at one and its past, change, confirm and delete it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from typing import Any
from uuid import UUID

from django.urls import reverse
from rest_framework.response import Response

from memgov import clock
from memory.api import docs
from memory.api.cursors import page_json, read_page
from memory.api.endpoint import Endpoint, id_in_path, version_in_if_match
from memory.api.idempotency import idempotent
from memory.api.problems import stop
from memory.api.representation import ids, is_withheld, memory_json, revision_json
from memory.api.requests import (
    DeleteParameters,
    EditBody,
    MemoryListParameters,
    PageParameters,
    VerifyBody,
    WriteBody,
)
from memory.api.views.writing import WriteEndpoint, problem_response
from memory.domain.ids import parse_id, show_id
from memory.domain.types import Band, Finding
from memory.domain.zero_characters import without_zero
from memory.models import Memory, Revision
from memory.selectors.memory_list import MemoryFilters, memory_list
from memory.selectors.policies import active_policy
from memory.services.access import unread_scopes, visible_memory
from memory.services.memory_edit import memory_edit
from memory.services.retention import memory_delete, memory_verify
from tenants.context import tenant_context
from tenants.principals import Principal


@cache
def _place_of_memory() -> str:
    """The address of a memory, with `_` for its id."""
    return reverse("api:memory", args=["_"])


class Memories(WriteEndpoint):
    """`GET` and `POST memories`"""

    parameters = {"GET": MemoryListParameters}

    @docs.memory_list
    def get(self, request: Any) -> Response:
        now = clock.now()
        with tenant_context(self.principal.tenant_id):
            policy = active_policy().policy
            rows = memory_list(self.principal, self._filters(), policy, now)
            found = read_page(rows, "id", self.query, "memories")
        answer = page_json(
            request, "memories", found, lambda row: memory_json(row, self.principal, policy, now)
        )
        if wanted := self.query.get("fields"):
            answer["results"] = [{name: row[name] for name in wanted} for row in answer["results"]]
        return Response(answer)

    @docs.memory_write
    @idempotent
    def post(self, request: Any) -> Response:
        data = self.body(WriteBody)
        if self.wants_job():
            return self.accepted("write", [self.request_of(data)])
        status, body = self.write(data)
        response = problem_response(status, body)
        if status == 201:
            response["Location"] = _place_of_memory().replace("_", body["memory"]["id"])
        return response

    def _filters(self) -> MemoryFilters:
        query = self.query
        return MemoryFilters(
            scopes=query.get("scope"),
            statuses=query.get("status"),
            kinds=query.get("kind"),
            layers=query.get("layer"),
            origins=query.get("origin"),
            subject=query.get("subject"),
            predicate=query.get("predicate"),
            agent=agent_named(query.get("agent")),
            session=query.get("session"),
            task=query.get("task"),
            tool=query.get("tool"),
            band=Band(query["band"]) if "band" in query else None,
            pinned=query.get("pinned"),
            words=query.get("q"),
            updated_after=query.get("updated_after"),
            recorded_after=query.get("recorded_after"),
            recorded_before=query.get("recorded_before"),
        )


def agent_named(text: str | None) -> str | UUID | None:
    """An agent by its id, or by its name.  Raises a 400 problem for an id that is none."""
    if text is None or not text.startswith("agt_"):
        return text
    try:
        return parse_id("agt", text)
    except ValueError as error:
        raise stop(400, "invalid_id", str(error), field="agent") from None


def shown(memory: Memory, reader: Principal, told: Sequence[Finding] = ()) -> Response:
    """One memory with its version as ETag, and what else its writer is told.  Inside the tenant context."""
    body = memory_json(memory, reader, active_policy().policy, clock.now())
    body["findings"] = [*body["findings"], *(asdict(one) for one in told)]
    return Response(body, headers={"ETag": f'"{memory.version}"'})


class OneMemory(Endpoint):
    """`GET`, `PATCH` and `DELETE memories/{id}`"""

    parameters = {"DELETE": DeleteParameters}

    @docs.memory_get
    def get(self, request: Any, memory_id: str) -> Response:
        with tenant_context(self.principal.tenant_id):
            memory = visible_memory(self.principal, id_in_path("mem", memory_id))
            return shown(memory, self.principal)

    @docs.memory_edit
    def patch(self, request: Any, memory_id: str) -> Response:
        uuid = id_in_path("mem", memory_id)
        changes = self.body(EditBody)
        narrowed = changes.pop("applies_to", {})
        changes |= narrowed
        if not changes:
            raise stop(400, "nothing_to_change", "name at least one field to change")
        version = version_in_if_match(request, required=True)
        assert version is not None  # or it would have been a 428
        memory = memory_edit(self.principal, uuid, changes, version=version)
        _, removed = without_zero(changes)
        with tenant_context(self.principal.tenant_id):
            return shown(memory, self.principal, removed)

    @docs.memory_delete
    def delete(self, request: Any, memory_id: str) -> Response:
        gone = memory_delete(
            self.principal,
            id_in_path("mem", memory_id),
            self.query["reason"],
            version=version_in_if_match(request, required=False),
            cascade=self.query.get("cascade", False),
        )
        return Response({"deleted": ids("mem", [memory.id for memory in gone])})


class Revisions(Endpoint):
    """`GET memories/{id}/revisions`"""

    parameters = {"GET": PageParameters}

    @docs.revisions
    def get(self, request: Any, memory_id: str) -> Response:
        with tenant_context(self.principal.tenant_id):
            memory = visible_memory(self.principal, id_in_path("mem", memory_id))
            rows = Revision.objects.filter(memory_id=memory.id)
            name = f"revisions.{show_id('mem', memory.id)}"
            found = read_page(rows, "version", self.query, name)
            unread = unread_scopes(self.principal, found.rows)
        now = "quarantined" if is_withheld(memory, self.principal) else None

        def shown_as(row: Revision) -> dict[str, Any]:
            return revision_json(row, withheld="scope" if row.state.get("scope") in unread else now)

        return Response(page_json(request, name, found, shown_as))


class Verify(Endpoint):
    """`POST memories/{id}/verify`"""

    @docs.verify
    @idempotent
    def post(self, request: Any, memory_id: str) -> Response:
        data = self.body(VerifyBody)
        memory = memory_verify(
            self.principal, id_in_path("mem", memory_id), data.get("reason", ""), version=data.get("version")
        )
        with tenant_context(self.principal.tenant_id):
            return shown(memory, self.principal)
