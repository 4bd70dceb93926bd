"""Deleting many memories from the explorer: what would go and what is left, doing it, and taking it back."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.utils.translation import gettext as _

from memgov import clock
from memory.domain.ids import show_id
from memory.models import Job
from memory.pages.access import Viewer, tenant_page
from memory.pages.answers import (
    SeeOther,
    answer,
    flash,
    flash_error,
    ids_in,
    raise_or_deny,
    row_id,
    sentence,
    url,
)
from memory.pages.deletion_shapes import left_words, row, step
from memory.pages.memories import query_of, wanted_in
from memory.selectors.deletions import Chosen
from memory.services.deletion import SAMPLE, Look, Wish, both_seals
from memory.services.deletion_steps import AT_ONCE, KINDS, deletion_look, deletion_undo, memories_delete
from memory.services.errors import Conflict, Denied, Invalid, NotFound, ServiceError, VersionConflict
from memory.store import jobs
from tenants.context import tenant_context


@tenant_page("memories", read="review", write="review")
def bulk(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """Ask on GET, delete on POST."""
    if request.method != "POST":
        return _ask(request, viewer, request.GET)
    given = request.POST
    if not given.get("seal") or (given.get("cascade") == "yes" and not given.get("derived_seal")):
        # What was not shown decides nothing: without a seal the form was not made by us, and without the second one
        # there were too many to look for what was derived unasked.
        return _ask(request, viewer, given, 409, changed=_("Nothing was deleted. This is what would go."))
    wish = _wish(given)
    try:
        done = memories_delete(viewer.principal, wish)
    except VersionConflict as error:
        return _ask(request, viewer, given, 409, fresh=True, changed=sentence(error))
    except Invalid as error:
        return _ask(request, viewer, given, 422, error=sentence(error))
    except (Conflict, NotFound) as error:
        return _ask(request, viewer, given, 409, changed=sentence(error))
    except ServiceError as error:
        return raise_or_deny(error)
    if done.job.status == jobs.DONE:
        undo = url(viewer, "deletion-undo", show_id("job", done.job.id))
        flash(request, _("Deleted: %(n)d.") % {"n": done.job.done}, undo)
    return SeeOther(url(viewer, "deletion", show_id("job", done.job.id)))


def _wish(given: QueryDict) -> Wish:
    cascade, seal = given.get("cascade") == "yes", given.get("seal", "")
    return Wish(
        _chosen(given), given.get("reason", ""), cascade=cascade, seen=_instant(given.get("seen", "")),
        seal=both_seals(seal, given.get("derived_seal", "")) if cascade else seal,
    )  # fmt: skip


def _chosen(given: QueryDict) -> Chosen:
    ids = ids_in(given.getlist("id"), SAMPLE)
    return Chosen(ids=ids) if ids else Chosen(wanted=wanted_in(given))


def _instant(text: str) -> datetime | None:
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return None
    return at if at.tzinfo and at <= clock.now() else None


def _ask(
    request: HttpRequest,
    viewer: Viewer,
    given: QueryDict,
    status: int = 200,
    *,
    fresh: bool = False,
    **more: Any,
) -> HttpResponse:
    """The page.  `fresh`: of this moment, whatever was seen before."""
    wish = _wish(given)
    context: dict[str, Any] = {
        "chosen": wish.chosen.given,
        "back_url": url(viewer, "memories", **_query(wish.chosen)),
    }
    if wish.chosen.given:
        seen = None if fresh else wish.seen
        try:
            look = deletion_look(viewer.principal, replace(wish, seen=seen))
        except Denied as error:
            return raise_or_deny(error)
        context |= _shown(viewer, wish, look)
    context |= {"reason": wish.reason, "cascade": wish.cascade, "at_once": AT_ONCE, **more}
    with tenant_context(viewer.tenant.id):
        return answer(request, "pages/memories/delete_many.html", context, status)


def _query(chosen: Chosen) -> dict[str, str]:
    return query_of(chosen.wanted) if chosen.wanted else {}


def _shown(viewer: Viewer, wish: Wish, look: Look) -> dict[str, Any]:
    hidden = [("id", show_id("mem", one)) for one in wish.chosen.ids] or list(_query(wish.chosen).items())
    return {
        "going": look.going,
        "items": [row(viewer, one) for one in look.sample],
        "left": [{"why": left_words(reason), "count": count} for reason, count in look.left.items()],
        "left_total": sum(look.left.values()),
        "left_items": [{**row(viewer, one), "why": left_words(one.left)} for one in look.left_named],
        "gone": len(look.already) + len(look.not_found),
        "derived": look.derived,
        "derived_items": [row(viewer, one) for one in look.derived_sample],
        "hidden": [
            *hidden,
            ("seen", look.seen.isoformat()),
            ("seal", look.seal),
            ("derived_seal", look.derived_seal),
        ],
    }


@tenant_page("memories")
def one(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """One step and how far it has got."""
    with tenant_context(viewer.tenant.id):
        job = Job.objects.filter(id=row_id("job", item), kind__in=KINDS).first()
        if job is None:
            raise Http404
        context = {
            "step": step(viewer, job, clock.now()),
            "days": viewer.policy().policy.retention.restore_days,
        }
        part = request.headers.get("HX-Target") == "step"
        name = "pages/memories/_deletion.html" if part else "pages/memories/deletion.html"
        return answer(request, name, context)


@tenant_page("memories", read=None, write="review")
def undo(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """Take the step back as one."""
    try:
        job = deletion_undo(viewer.principal, row_id("job", item))
    except Conflict as error:
        flash_error(request, sentence(error))
        return SeeOther(url(viewer, "deletion", item))
    except ServiceError as error:
        return raise_or_deny(error)
    flash(request, _("The deletion is being taken back."))
    return SeeOther(url(viewer, "deletion", show_id("job", job.id)))
