"""Blast radius: how far something got, all of it held in one step, and that step taken back."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from memgov import clock
from memory.domain.blast import BadSeed, Seed, parse_seed
from memory.domain.ids import show_id
from memory.models import Job
from memory.pages.access import Viewer, tenant_page
from memory.pages.answers import SeeOther, answer, flash, flash_error, raise_or_deny, row_id, sentence, url
from memory.pages.blast_shapes import conditions, decided, entry, seen_by, step
from memory.selectors import blast as found
from memory.selectors.pages_manifests import kept_since
from memory.selectors.pages_memories import agent_names
from memory.services import blast as steps
from memory.services.errors import Conflict, Invalid, ServiceError
from memory.services.sweep_runs import UNDO as SWEEP_UNDO
from tenants.context import tenant_context

_STEPS_SHOWN = 10


@tenant_page("blast")
def index(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """What a seed reached; without one, the form to choose it and the last steps."""
    return _show(request, viewer, request.GET)


def _show(
    request: HttpRequest, viewer: Viewer, given: Mapping[str, str], status: int = 200, **more: Any
) -> HttpResponse:
    now = clock.now()
    try:
        seed, wrong = parse_seed(given), ""
    except BadSeed as error:
        seed, wrong, status = Seed(), sentence(Invalid(str(error))), 422
    with tenant_context(viewer.tenant.id):
        context: dict[str, Any] = {
            "given": {
                name: given.get(name, "") for name in ("agent", "session", "tool", "source", "since", "until")
            },
            "agents": [{"value": show_id("agt", key), "label": name} for key, name in agent_names()],
            "error": wrong,
            "reason": given.get("reason", ""),
            "seed": None,
        } | more
        if seed.given:
            context |= _reach(viewer, seed, _seen(given, now), given)
        else:
            context["steps"] = [step(viewer, job, now) for job in _last_steps()]
        return answer(request, "pages/blast/index.html", context, status)


def _seen(given: Mapping[str, str], now: datetime) -> datetime:
    """The instant of the first look, which the pages of the list and the decision keep to."""
    try:
        at = datetime.fromisoformat(given.get("seen", ""))
    except ValueError:
        return now
    return min(at, now) if at.tzinfo else now


def _reach(viewer: Viewer, seed: Seed, seen: datetime, given: Mapping[str, str]) -> dict[str, Any]:
    before = _place(given.get("at", ""))
    rows = found.entries(seed, seen, before=before)
    shown, more = rows[: found.MOST], len(rows) > found.MOST
    query = {**seed.as_text(), "seen": seen.isoformat()}
    decisions, total = found.decisions(seed, seen)
    readers = found.readers(seed, seen, kept_since(viewer.policy().policy, clock.now()))
    counts = found.counts(seed, seen)
    return {
        "seed": conditions(viewer, seed),
        "query": query,
        "counts": counts,
        "entries": [entry(viewer, row) for row in shown],
        "older_url": url(viewer, "blast", **query, at=shown[-1].id.hex) if more else "",
        "first_url": url(viewer, "blast", **query) if before else "",
        "readers": readers,
        **seen_by(viewer, readers),
        "decisions": [decided(viewer, row) for row in decisions],
        "decisions_total": total,
        "can_hold": viewer.can("review") and counts.holdable > 0,
    }


def _place(text: str) -> UUID | None:
    try:
        return UUID(hex=text) if text else None
    except ValueError:
        return None


def _last_steps() -> list[Job]:
    return list(Job.objects.filter(kind=steps.HOLD).order_by("-created_at")[:_STEPS_SHOWN])


@tenant_page("blast", read=None, write="review")
def quarantine(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """Hold all of it, as it was when the person looked; a worker does it."""
    seen = _seen(request.POST, clock.now())
    try:
        seed = parse_seed(request.POST)
        job = steps.blast_quarantine(viewer.principal, seed, request.POST.get("reason", ""), seen=seen)
    except BadSeed:
        return _show(request, viewer, request.POST, 422)
    except Invalid as error:
        return _show(request, viewer, request.POST, 422, error=sentence(error))
    except Conflict as error:
        return _show(request, viewer, request.POST, 409, error=sentence(error))
    except ServiceError as error:
        return raise_or_deny(error)
    return SeeOther(url(viewer, "blast-step", show_id("job", job.id)))


@tenant_page("blast")
def one(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """One step and how far it has got."""
    with tenant_context(viewer.tenant.id):
        job = Job.objects.filter(id=row_id("job", item), kind__in=(*steps.KINDS, SWEEP_UNDO)).first()
        if job is None:
            raise Http404
        context = {
            "step": step(viewer, job, clock.now()),
            "days": viewer.policy().policy.retention.restore_days,
        }
        part = request.headers.get("HX-Target") == "step"
        return answer(request, "pages/blast/_step.html" if part else "pages/blast/step.html", context)


@tenant_page("blast", read=None, write="review")
def undo(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """Take the step back as one."""
    try:
        job = steps.blast_undo(viewer.principal, row_id("job", item))
    except Conflict as error:
        flash_error(request, sentence(error))
        return SeeOther(url(viewer, "blast-step", item))
    except ServiceError as error:
        return raise_or_deny(error)
    flash(request, _("The step is being taken back."))
    return SeeOther(url(viewer, "blast-step", show_id("job", job.id)))
