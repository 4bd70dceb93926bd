"""The promotion queue and what a reviewer needs to see of one request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol
from uuid import UUID

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery

from memory.domain.scopes import Scope, parse_scope
from memory.domain.similarity import judge
from memory.domain.types import Candidate, Known
from memory.models import Memory, PromotionDecision, PromotionRequest, WriteDecision
from memory.models.memory import LIVE_STATUSES
from memory.selectors.known import rows_met
from memory.selectors.pages_paging import Slice, by_time

VIEWS = ("needs", "high", "conflicts", "all", "decided")


def _of_request(**more: object) -> QuerySet[Memory]:
    return Memory.objects.filter(id=OuterRef("memory_id"), **more)


def _clashing() -> Exists:
    """Another value of the same single-valued key lives in the target scope."""
    rival = Memory.objects.filter(
        scope=OuterRef(OuterRef("to_scope")),
        subject=OuterRef("subject"),
        predicate=OuterRef("predicate"),
        status__in=LIVE_STATUSES,
    ).exclude(value_hash=OuterRef("value_hash"))
    return Exists(_of_request(single_valued=True).filter(Exists(rival)))


def _approved(actor_id: str) -> Exists:
    """This person approved it already, and it waits for another."""
    given = PromotionDecision.objects.filter(
        request_id=OuterRef("id"), action="approve", actor_id=actor_id, undone_at=None
    )
    return Exists(given)


def requests(view: str, q: str, actor_id: str) -> QuerySet[PromotionRequest]:
    """The requests of a view that match the search, marked with `clashes`."""
    rows: QuerySet[Any] = PromotionRequest.objects.annotate(clashes=_clashing())
    rows = rows.exclude(status="pending") if view == "decided" else rows.filter(status="pending")
    if view == "needs":
        rows = rows.exclude(proposer_id=actor_id).filter(~_approved(actor_id))
    elif view == "high":
        rows = rows.filter(risk="high")
    elif view == "conflicts":
        rows = rows.filter(clashes=True)
    if q:
        said = Q(content__icontains=q) | Q(subject__icontains=q)
        rows = rows.filter(Exists(_of_request().filter(said)) | Q(proposer_name__icontains=q))
    return rows


class Waiting(Protocol):
    """A request as the queue lists it: with the text and trust of its memory."""

    id: UUID
    proposer_id: str
    proposer_name: str
    from_scope: str
    to_scope: str
    risk: str
    status: str
    created_at: datetime
    content: str
    trust: float
    clashes: bool


def queue(view: str, q: str, actor_id: str, cursor: str) -> Slice[Any]:
    """One page of a view, newest first; the rows are `Waiting`."""
    of_memory = Memory.objects.filter(id=OuterRef("memory_id"))
    rows = requests(view, q, actor_id).annotate(
        content=Subquery(of_memory.values("content")[:1]), trust=Subquery(of_memory.values("trust")[:1])
    )
    return by_time(rows, "created_at", cursor)


def next_in(view: str, q: str, actor_id: str, after: PromotionRequest) -> UUID | None:
    """The request that follows in the view; from its start again when that was the last one."""
    rows = requests(view, q, actor_id).exclude(id=after.id).order_by("-created_at", "-id")
    later = rows.filter(Q(created_at__lt=after.created_at) | Q(created_at=after.created_at, id__lt=after.id))
    found = later.values_list("id", flat=True).first() or rows.values_list("id", flat=True).first()
    return found


def counts(actor_id: str) -> dict[str, int]:
    """How many are pending in each view."""
    pending = PromotionRequest.objects.filter(status="pending")
    pending = pending.annotate(clashes=_clashing(), approved=_approved(actor_id))
    return pending.aggregate(
        all=Count("id"),
        needs=Count("id", filter=Q(approved=False) & ~Q(proposer_id=actor_id)),
        high=Count("id", filter=Q(risk="high")),
        conflicts=Count("id", filter=Q(clashes=True)),
    )


@dataclass(frozen=True, slots=True)
class Met:
    """A memory of the target scope that the promoted one would meet there."""

    memory: Memory
    relation: str


def known_in(memory: Memory, scope: Scope) -> list[Met]:
    """What the target scope knows already: the same, another value of the key, or nearly the same wording."""
    candidate = Candidate(
        content=memory.content,
        scope=scope,
        subject=memory.subject or None,
        predicate=memory.predicate or None,
        value=memory.value or None,
    )
    relations = {
        row.id: relation
        for row in rows_met(candidate, bytes(memory.value_hash), near=True).rows
        if row.id != memory.id and (relation := _relation(memory, row))
    }
    rows = {row.id: row for row in Memory.objects.filter(id__in=list(relations))} if relations else {}
    return [Met(rows[memory_id], relation) for memory_id, relation in relations.items() if memory_id in rows]


def _relation(memory: Memory, row: Known) -> str:
    if bytes(row.value_hash) == bytes(memory.value_hash):
        return "duplicate"
    if memory.predicate:
        return "conflict" if memory.single_valued else ""
    return "" if judge(memory.content, row.content, None).verdict == "different" else "near"


def decisions_on(request_id: UUID) -> list[PromotionDecision]:
    """Everything that people decided on a request, the last first."""
    return list(PromotionDecision.objects.filter(request_id=request_id).order_by("-at", "-id"))


def request_of(decision_id: UUID) -> UUID | None:
    """The request that a decision was about."""
    rows = PromotionDecision.objects.filter(id=decision_id).values_list("request_id", flat=True)
    return rows.first()


def undoable(
    request: PromotionRequest, decisions: Sequence[PromotionDecision], actor_id: str, since: datetime
) -> PromotionDecision | None:
    """The person's own decision that can still be taken back, as far as the request tells."""
    return next(
        (
            row
            for row in decisions
            if row.actor_id == actor_id
            and row.undone_at is None
            and row.at >= since
            and request.version == row.request_version + 1
        ),
        None,
    )


def sightings(memory_id: UUID, limit: int = 20) -> list[WriteDecision]:
    """The writes that stored or confirmed a memory, newest first."""
    return list(WriteDecision.objects.filter(memory_id=memory_id).order_by("-at", "-id")[:limit])


def recent_of(actor_id: str, now: datetime, days: int = 7, limit: int = 8) -> list[PromotionDecision]:
    """A person's own last decisions."""
    rows = PromotionDecision.objects.filter(actor_id=actor_id, at__gte=now - timedelta(days=days))
    return list(rows.order_by("-at", "-id")[:limit])


def target_of(request: PromotionRequest) -> Scope:
    """The scope that the request asks for."""
    return parse_scope(request.to_scope)
