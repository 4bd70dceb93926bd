"""Offering candidates: one, many, or only asking what would become of one."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from django.urls import reverse
from rest_framework.response import Response

from memgov import clock
from memory.api import docs, metrics
from memory.api.endpoint import Endpoint
from memory.api.idempotency import idempotent
from memory.api.problems import CONTENT_TYPE, Problem, problem_of, stop
from memory.api.representation import job_json, outcome_json
from memory.api.requests import MAX_BATCH, WriteBody
from memory.domain.types import OutcomeKind
from memory.selectors.policies import policy_numbered
from memory.services.memory_write import memory_check, memory_write
from memory.services.write_jobs import Item, write_job_start
from memory.services.write_types import STATUS_OF_OUTCOME, Outcome, WriteRequest

log = logging.getLogger(__name__)

_FIELDS = frozenset(field.name for field in fields(WriteRequest))


class WriteEndpoint(Endpoint):
    """What the three calls share: from a body to a request, from an outcome to an answer."""

    def request_of(self, data: Mapping[str, Any]) -> WriteRequest:
        """The candidate in a checked body."""
        narrowed = data.get("applies_to", {})
        given = {**data, "paths": narrowed.get("paths", []), "tags": narrowed.get("tags", [])}
        return WriteRequest(**{name: value for name, value in given.items() if name in _FIELDS})

    def shown(self, outcome: Outcome) -> tuple[int, dict[str, Any]]:
        """Status and body of an outcome; a refused write is a problem with the outcome's members."""
        policy = policy_numbered(self.principal.tenant_id, outcome.policy_version)
        body = outcome_json(outcome, self.principal, policy, clock.now())
        status = STATUS_OF_OUTCOME[outcome.outcome]
        if outcome.outcome is OutcomeKind.REJECTED:
            code = outcome.reason or "rejected"
            detail = outcome.explanation or f"the policy refused this candidate ({code}); nothing was stored"
            problem = Problem(status, code, detail, more=body)
            body = problem.body(getattr(self.request, "request_id", ""))
        return status, body

    def write(self, data: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
        """Offer one candidate."""
        outcome = memory_write(self.principal, self.request_of(data))
        metrics.observe_write(outcome.outcome.value, outcome.reason)
        return self.shown(outcome)

    def wants_job(self) -> bool:
        """Whether the caller prefers to be answered before the work is done (RFC 7240)."""
        wishes = self.request.headers.get("Prefer", "").lower()
        return "respond-async" in {wish.partition(";")[0].strip() for wish in wishes.split(",")}

    def accepted(self, kind: str, items: Sequence[Item]) -> Response:
        """The job that writes the items, to be followed."""
        job = write_job_start(self.principal, kind, items)
        shown = job_json(job)
        headers = {"Location": reverse("api:job", args=[shown["id"]]), "Preference-Applied": "respond-async"}
        return Response(shown, status=202, headers=headers)


class Batch(WriteEndpoint):
    """`POST memories/batch`"""

    @docs.batch
    @idempotent
    def post(self, request: Any) -> Response:
        items = request.data.get("items")
        unknown = sorted(set(request.data) - {"items"})
        if unknown:
            raise stop(400, "unknown_field", f"{unknown[0][:100]} is not a field of a batch; there is items",
                       field=unknown[0][:100])  # fmt: skip
        if not isinstance(items, list):
            raise stop(400, "invalid", "items has to be a list of candidates", field="items")
        if len(items) > MAX_BATCH:
            raise stop(400, "too_many_items", f"a batch has at most {MAX_BATCH} items, not {len(items)}; "
                       "nothing was stored", field="items")  # fmt: skip
        if len(items) > 1:
            self.charge(len(items) - 1)
        if self.wants_job():
            return self.accepted("batch", [self._item(item) for item in items])
        return Response({"results": [self._one(index, item) for index, item in enumerate(items)]})

    def _item(self, item: Any) -> Item:
        """A candidate for later, or its problem now."""
        try:
            return self.request_of(WriteBody.checked(item))
        except Exception as error:
            problem = problem_of(error)
            if problem is None:
                raise
            return {**problem.body(), "status": problem.status}

    def _one(self, index: int, item: Any) -> dict[str, Any]:
        """One item: its outcome or its problem, whatever became of the others."""
        try:
            status, body = self.write(WriteBody.checked(item))
        except Exception as error:
            problem = problem_of(error)
            if problem is None:
                log.exception("item %d of a batch failed", index)
                problem = Problem(500, "internal_error", "Something went wrong on our side with this item.")
            status, body = problem.status, problem.body()
        return {"index": index, **body, "status": status}


class Check(WriteEndpoint):
    """`POST memories/check`"""

    reads = frozenset({"POST"})

    @docs.check
    def post(self, request: Any) -> Response:
        outcome = memory_check(self.principal, self.request_of(self.body(WriteBody)))
        _, body = self.shown(outcome)
        kept = outcome.outcome not in (OutcomeKind.STORED, OutcomeKind.SUPERSEDED, OutcomeKind.HELD)
        if body["memory"] is not None and not kept:
            body["memory"] |= {"id": None}  # it was not kept, so there is nothing to refer to
        return Response({**body, "status": STATUS_OF_OUTCOME[outcome.outcome]})


def problem_response(status: int, body: dict[str, Any]) -> Response:
    """A body that is a problem from 400 on."""
    return Response(body, status=status, content_type=CONTENT_TYPE if status >= 400 else None)
