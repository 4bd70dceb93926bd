"""The promotion queue and what a reviewer needs to see of one request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol
from uuid import UUID

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Case, Exists, OuterRef, Q, QuerySet, Subquery, TextField, Value
from django.db.models.expressions import RawSQL
from django.db.models.functions import Concat, JSONObject
from django.db.models.lookups import Exact, IContains

from memgov import clock
from memory.domain.scopes import Scope, parse_scope
from memory.domain.similarity import judge
from memory.domain.types import Candidate, Known
from memory.models import Memory, PromotionDecision, PromotionNote, PromotionRequest, WriteDecision
from memory.models.memory import LIVE_STATUSES
from memory.models.review import reach_rank, risk_rank
from memory.selectors.known import rows_met
from memory.selectors.pages_paging import (
    SEARCHED,
    Slice,
    Tally,
    Window,
    by_number,
    by_time,
    newest,
    tallied,
    tallies,
    window,
)
from tenants.context import current_tenant_id

NEWEST = Window()
VIEWS = ("needs", "high", "conflicts", "snoozed", "all", "decided")
SORTS = ("new", "old", "risk", "reach")
TIMELY = ("new", "old")


def _of_request(**more: object) -> QuerySet[Memory]:
    return Memory.objects.filter(id=OuterRef("memory_id"), **more)


# Of the requests of a window, those whose value clashes with one that lives in the target scope.  The limits of one row
# make the database look each up by its key, along the two indexes of what lives: as a plain join it reads all memories.
# They are found once: where tables grew faster than their statistics, the database would find them for each request.
_CLASHES = """
WITH clashing AS MATERIALIZED (
SELECT r.id
  FROM (SELECT id, memory_id, to_scope FROM memory_promotionrequest WHERE tenant_id = %s AND status = 'pending'
         {beyond} ORDER BY created_at {way}, id {way} LIMIT %s) r
 CROSS JOIN LATERAL (SELECT subject, predicate, value_hash FROM memory_memory
                      WHERE tenant_id = %s AND id = r.memory_id AND single_valued LIMIT 1) m
 CROSS JOIN LATERAL (SELECT FROM memory_memory
                      WHERE tenant_id = %s AND scope = r.to_scope AND subject = m.subject AND predicate = m.predicate
                        AND NOT may_repeat AND status IN ('live', 'contested') AND value_hash <> m.value_hash
                     UNION ALL
                     SELECT FROM memory_memory
                      WHERE tenant_id = %s AND scope = r.to_scope AND subject = m.subject AND predicate = m.predicate
                        AND single_valued AND status = 'live' AND value_hash <> m.value_hash LIMIT 1) o
)
SELECT id FROM clashing"""


def _clashes(within: Window = NEWEST) -> RawSQL:
    tenant, way, sign = current_tenant_id(), *(("ASC", ">") if within.up else ("DESC", "<"))
    beyond = f"AND (created_at, id) {sign} (%s, %s)" if within.place else ""
    return RawSQL(
        _CLASHES.format(beyond=beyond, way=way),
        [tenant, *(within.place or ()), SEARCHED, tenant, tenant, tenant],
    )


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


def _snoozed(actor_id: str, now: datetime) -> QuerySet[PromotionNote, UUID]:
    """Requests that this person put off, whose time has not come."""
    off = PromotionNote.objects.filter(kind="snooze", actor_id=actor_id, ended_at=None, until__gt=now)
    return off.values_list("request_id", flat=True)


def _asked(actor_id: str) -> QuerySet[PromotionNote, UUID]:
    """Requests about which this person asked the proposer and has no answer yet."""
    answered = PromotionNote.objects.filter(
        request_id=OuterRef("request_id"), kind="answer", at__gte=OuterRef("at")
    )
    mine = PromotionNote.objects.filter(kind="question", actor_id=actor_id)
    return mine.filter(~Exists(answered)).values_list("request_id", flat=True)


def _off(actor_id: str) -> QuerySet[PromotionNote, UUID]:
    """What this person does not see among what needs them for now."""
    return _snoozed(actor_id, clock.now()).union(_asked(actor_id))


def _rank(sort: str) -> Case:
    """What the order by risk or reach goes by before the id; the highest stands first.  The same is indexed."""
    return reach_rank() if sort == "reach" else risk_rank()


def requests(view: str, q: str, actor_id: str) -> QuerySet[PromotionRequest]:
    """The requests of a view that match the search, marked with `clashes`."""
    rows = _viewed(view, actor_id).annotate(clashes=_clashing())
    return newest(rows, "created_at").filter(_says(q)) if q else rows


def _viewed(view: str, actor_id: str) -> QuerySet[Any]:
    """The requests of a view."""
    rows: QuerySet[Any] = PromotionRequest.objects.all()
    if view == "decided":
        return rows.exclude(status="pending")
    rows = rows.filter(status="pending")
    if view == "needs":
        return rows.exclude(proposer_id=actor_id).filter(~_approved(actor_id)).exclude(id__in=_off(actor_id))
    if view == "snoozed":
        return rows.filter(id__in=_off(actor_id))
    if view == "high":
        return rows.filter(risk="high")
    return rows.filter(id__in=_clashes()) if view == "conflicts" else rows


def _says(q: str) -> Q:
    """The text and subject are looked up for each row: as an EXISTS, all memories that say it might be read."""
    said = _of_request().values(said=Concat("content", Value("\n"), "subject", output_field=TextField()))
    return Q(IContains(Subquery(said[:1]), q)) | Q(proposer_name__icontains=q)


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


def queue(view: str, q: str, actor_id: str, cursor: str, sort: str = "new") -> Slice[Any]:
    """One page of a view in the order asked for; the rows are `Waiting`."""
    of_memory = Memory.objects.filter(id=OuterRef("memory_id"))
    timely = sort in TIMELY  # a search, or the look for conflicts, goes on from page to page only along time
    rows = requests(_looked_through(view, sort), "" if timely else q, actor_id).annotate(
        content=Subquery(of_memory.values("content")[:1]), trust=Subquery(of_memory.values("trust")[:1])
    )
    if not timely:
        return by_number(rows.annotate(rank=_rank(sort)), "rank", cursor)
    said = _says(q) if q else None
    if view == "conflicts":
        clashing = Q(id__in=_clashes(window(cursor, oldest=sort == "old")))
        said = clashing if said is None else clashing & said
    return by_time(rows, "created_at", cursor, said, oldest=sort == "old")


def _looked_through(view: str, sort: str) -> str:
    """The view whose rows are gone through: conflicts are looked for among all that wait."""
    return "all" if view == "conflicts" and sort in TIMELY else view


def is_cut(view: str, q: str, actor_id: str, sort: str) -> bool:
    """Whether the list leaves out what lies beyond the newest `SEARCHED`: by risk and reach no search goes on."""
    if sort in TIMELY or not (q or view == "conflicts"):
        return False
    looked_at = _viewed("all" if view == "conflicts" else view, actor_id)
    return looked_at.values("id")[: SEARCHED + 1].count() > SEARCHED


def next_in(view: str, q: str, actor_id: str, after: PromotionRequest, sort: str = "new") -> UUID | None:
    """The request that follows in the view; from its start again when that was the last one."""
    rows = requests(view, q, actor_id).exclude(id=after.id)
    following = rows
    if sort in TIMELY:
        name, place, up = "created_at", after.created_at, sort == "old"
        if view == "conflicts":
            from_here = Q(id__in=_clashes(Window((after.created_at, after.id), up)))
            following = requests("all", q, actor_id).exclude(id=after.id).filter(from_here)
    else:
        ranked = PromotionRequest.objects.annotate(rank=_rank(sort))
        name, up = "rank", False
        place = ranked.filter(id=after.id).values_list("rank", flat=True)[0]
        following = rows = rows.annotate(rank=_rank(sort))
    sign, side = ("", "gt") if up else ("-", "lt")
    order = (f"{sign}{name}", f"{sign}id")
    rows = rows.order_by(*order)
    beyond = Q(**{f"{name}__{side}": place}) | Q(**{name: place, f"id__{side}": after.id})
    later = following.order_by(*order).filter(beyond, **{f"{name}__{side}e": place})
    return later.values_list("id", flat=True).first() or rows.values_list("id", flat=True).first()


def counts(actor_id: str) -> dict[str, Tally]:
    """How many are pending in each view; of conflicts, among the newest `SEARCHED`."""
    found = tallies(**{view: _viewed(view, actor_id) for view in VIEWS if view != "decided"})
    found["conflicts"].more = found["all"] > SEARCHED
    return found


def needing(actor_id: str) -> Tally:
    """How many need this person: the first of the counts."""
    return tallied(_viewed("needs", actor_id))


_NOTE = ("kind", "text", "actor_id", "actor_name", "at", "until", "ended_at")


def request_with_notes(request_id: UUID) -> tuple[PromotionRequest, list[PromotionNote]] | None:
    """A request with its snoozes, questions and answers, the last first; one query."""
    notes = PromotionNote.objects.filter(request_id=OuterRef("id")).order_by("-at", "-id")
    as_json = notes.values(json=JSONObject(**{name: name for name in _NOTE}))
    rows: QuerySet[Any] = PromotionRequest.objects.filter(id=request_id).annotate(
        notes=ArraySubquery(as_json)
    )
    request = rows.first()
    if request is None:
        return None
    return request, [_note(request, fields) for fields in request.notes]


def _note(request: PromotionRequest, fields: dict[str, Any]) -> PromotionNote:
    times = {
        name: datetime.fromisoformat(fields[name]) for name in ("at", "until", "ended_at") if fields[name]
    }
    return PromotionNote(request_id=request.id, **{**fields, **times})


def similar_decisions(request: PromotionRequest, memory: Memory, limit: int = 5) -> list[Any]:
    """Of the last requests decided, those about the same subject or predicate, or by the same proposer for the same
    scope, each with its `content` and with `by` and `why` of the decision that stands; one query."""
    alike = Q(proposer_id=request.proposer_id, to_scope=request.to_scope)
    for name in ("subject", "predicate"):
        if value := getattr(memory, name):
            alike |= Q(Exact(Subquery(_of_request().values(name)[:1]), value))
    closed = PromotionRequest.objects.exclude(status="pending").order_by("-decided_at", "-id")
    decided = PromotionRequest.objects.filter(alike, id__in=closed.values("id")[:SEARCHED]).exclude(
        id=request.id
    )
    standing = PromotionDecision.objects.filter(request_id=OuterRef("id"), undone_at=None).order_by(
        "-at", "-id"
    )
    rows: QuerySet[Any] = decided.annotate(
        content=Subquery(_of_request().values("content")[:1]),
        by=Subquery(standing.values("actor_name")[:1]),
        why=Subquery(standing.values("reason")[:1]),
    )
    return list(rows.order_by("-decided_at", "-id")[:limit])


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
