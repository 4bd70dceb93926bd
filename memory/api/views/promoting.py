"""Asking for a wider scope, following the request, taking it back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.urls import reverse
from rest_framework.response import Response

from memory.api import docs
from memory.api.cursors import page_json, read_page
from memory.api.endpoint import Endpoint, id_in_path
from memory.api.idempotency import idempotent
from memory.api.problems import stop
from memory.api.representation import promotion_json
from memory.api.requests import AnswerBody, EmptyBody, PromotionBody, PromotionListParameters
from memory.domain.scopes import parse_scope
from memory.models import PromotionDecision, PromotionNote, PromotionRequest
from memory.selectors.listing import promotions
from memory.services.promotion import promotion_request, promotion_withdraw
from memory.services.promotion_talk import promotion_answer
from tenants.context import tenant_context


def _decisions(requests: Sequence[PromotionRequest]) -> dict[UUID, list[PromotionDecision]]:
    """The decisions on each request, oldest first, in one query."""
    found: dict[UUID, list[PromotionDecision]] = defaultdict(list)
    rows = PromotionDecision.objects.filter(request_id__in=[request.id for request in requests])
    for decision in rows.order_by("at", "id"):
        found[decision.request_id].append(decision)
    return found


def _notes(requests: Sequence[PromotionRequest]) -> dict[UUID, list[PromotionNote]]:
    """What was asked and answered on each request, oldest first, in one query."""
    found: dict[UUID, list[PromotionNote]] = defaultdict(list)
    rows = PromotionNote.objects.filter(request_id__in=[request.id for request in requests])
    for note in rows.exclude(kind="snooze").order_by("at", "id"):
        found[note.request_id].append(note)
    return found


class Promotions(Endpoint):
    """`GET` and `POST promotions`"""

    parameters = {"GET": PromotionListParameters}

    @docs.promotion_list
    def get(self, request: Any) -> Response:
        with tenant_context(self.principal.tenant_id):
            found = read_page(self._filtered(), "id", self.query, "promotions")
            decisions, notes = _decisions(found.rows), _notes(found.rows)
        return Response(
            page_json(
                request, "promotions", found,
                lambda row: promotion_json(row, decisions[row.id], notes[row.id]),
            )
        )  # fmt: skip

    def _filtered(self) -> QuerySet[PromotionRequest]:
        query, rows = self.query, promotions(self.principal)
        if "status" in query:
            rows = rows.filter(status__in=query["status"])
        if "to_scope" in query:
            rows = rows.filter(to_scope=query["to_scope"])
        if "memory" in query:
            rows = rows.filter(memory_id=query["memory"])
        return rows.filter(proposer_id=self.principal.id) if query.get("mine") else rows

    @docs.promotion_create
    @idempotent
    def post(self, request: Any) -> Response:
        data = self.body(PromotionBody)
        made = promotion_request(
            self.principal, data["memory"], parse_scope(data["to_scope"]), data["reason"],
            version=data.get("version"),
        )  # fmt: skip
        with tenant_context(self.principal.tenant_id):
            body = promotion_json(made, _decisions([made])[made.id])
        return Response(body, status=201, headers={"Location": reverse("api:promotion", args=[body["id"]])})


class OnePromotion(Endpoint):
    """`GET promotions/{id}`"""

    @docs.promotion_get
    def get(self, request: Any, promotion_id: str) -> Response:
        with tenant_context(self.principal.tenant_id):
            row = promotions(self.principal).filter(id=id_in_path("prm", promotion_id)).first()
            if row is None:
                raise stop(404, "not_found", "there is no such promotion request that this key may see")
            return Response(promotion_json(row, _decisions([row])[row.id], _notes([row])[row.id]))


class Withdraw(Endpoint):
    """`POST promotions/{id}/withdraw`"""

    @docs.withdraw
    @idempotent
    def post(self, request: Any, promotion_id: str) -> Response:
        uuid = id_in_path("prm", promotion_id)
        self.body(EmptyBody)
        row = promotion_withdraw(self.principal, uuid)
        with tenant_context(self.principal.tenant_id):
            return Response(promotion_json(row, _decisions([row])[row.id], _notes([row])[row.id]))


class Answer(Endpoint):
    """`POST promotions/{id}/answer`"""

    @docs.promotion_answer
    @idempotent
    def post(self, request: Any, promotion_id: str) -> Response:
        uuid = id_in_path("prm", promotion_id)
        row = promotion_answer(self.principal, uuid, self.body(AnswerBody)["text"])
        with tenant_context(self.principal.tenant_id):
            return Response(promotion_json(row, _decisions([row])[row.id], _notes([row])[row.id]))
