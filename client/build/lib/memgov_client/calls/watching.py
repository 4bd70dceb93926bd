"""The key itself, promotions, health, audit, jobs, the API's description."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from typing_extensions import TypedDict, Unpack

from memgov_client.call import Call, as_params, given, path
from memgov_client.calls import reading_answers as read
from memgov_client.models import Event, Health, Job, Page, Promotion, WhoAmI


class PromotionFilters(TypedDict, total=False):
    status: str | Sequence[str] | None
    to_scope: str | None
    memory: str | None
    mine: bool | None


class AuditFilters(TypedDict, total=False):
    action: str | Sequence[str] | None
    actor: str | None
    target: str | None
    scope: str | None
    since: datetime | str | None
    until: datetime | str | None


def whoami() -> Call[WhoAmI]:
    """Tenant, agent, role, grants, limits and policy version of the key."""
    return Call("whoami", "GET", "whoami", read.one(WhoAmI), repeatable=True)


def promote(
    memory_id: str,
    to_scope: str,
    reason: str,
    *,
    version: int | None = None,
    idempotency_key: str | None = None,
) -> Call[Promotion]:
    """Ask for a wider scope.  ``version`` binds the request to what you read."""
    return Call(
        "promote_memory", "POST", "promotions", read.one(Promotion),
        body=given({"memory": memory_id, "version": version, "to_scope": to_scope, "reason": reason}),
        keyed=True, idempotency_key=idempotency_key,
        attributes={"gen_ai.memory.record.id": memory_id, "gen_ai.memory.store.id": to_scope},
    )  # fmt: skip


def promotions_page(
    *, cursor: str | None = None, page_size: int | None = None, **filters: Unpack[PromotionFilters]
) -> Call[Page[Promotion]]:
    """One page of promotion requests, newest first."""
    return Call(
        "list_promotions", "GET", "promotions", read.page(Promotion),
        params=as_params({**filters, "cursor": cursor, "page_size": page_size}), repeatable=True,
    )  # fmt: skip


def promotion(promotion_id: str) -> Call[Promotion]:
    """One request with its decisions."""
    return Call(
        "get_promotion", "GET", path("promotions", promotion_id), read.one(Promotion), repeatable=True
    )


def answer_promotion(promotion_id: str, text: str, *, idempotency_key: str | None = None) -> Call[Promotion]:
    """Answer what a reviewer asked about one's own request (see ``questions``)."""
    return Call(
        "answer_promotion", "POST", path("promotions", promotion_id) + "/answer", read.one(Promotion),
        body={"text": text}, keyed=True, idempotency_key=idempotency_key,
    )  # fmt: skip


def withdraw_promotion(promotion_id: str, *, idempotency_key: str | None = None) -> Call[Promotion]:
    """Take one's own request back."""
    return Call(
        "withdraw_promotion", "POST", path("promotions", promotion_id) + "/withdraw", read.one(Promotion), body={},
        keyed=True, idempotency_key=idempotency_key,
    )  # fmt: skip


def health(*, scope: str | None = None, days: int | None = None) -> Call[Health]:
    """Every metric now, and snapshots over time."""
    return Call("get_health", "GET", "health", read.one(Health), params=as_params({"scope": scope, "days": days}),
                repeatable=True)  # fmt: skip


def audit_page(
    *, cursor: str | None = None, page_size: int | None = None, **filters: Unpack[AuditFilters]
) -> Call[Page[Event]]:
    """One page of the audit events that this key may see, newest first."""
    return Call(
        "get_audit", "GET", "audit", read.page(Event),
        params=as_params({**filters, "cursor": cursor, "page_size": page_size}), repeatable=True,
    )  # fmt: skip


def job(job_id: str) -> Call[Job]:
    """How far an asynchronous piece of work is."""
    return Call("get_job", "GET", path("jobs", job_id), read.one(Job), repeatable=True)


def schema() -> Call[dict[str, Any]]:
    """The OpenAPI document of the server."""
    return Call("get_schema", "GET", "schema/", read.raw, repeatable=True)
