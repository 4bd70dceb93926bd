"""Erasing all about a subject: looking, doing it, following it, and the receipts of what was erased.

The subject travels in the bodies of forms only: an address is kept in logs and histories.
"""

from __future__ import annotations

import json
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.utils.translation import gettext as _

from memory.domain.ids import show_id
from memory.models import AuditEvent, Job
from memory.pages import erasure_shapes as shapes
from memory.pages.access import Viewer, tenant_page
from memory.pages.answers import SeeOther, answer, ids_in, raise_or_deny, row_id, sentence, url
from memory.services.erasure import ERASE, SAMPLE, ErasureWish, erasure_look, erasures, subject_erase
from memory.services.erasure_receipt import erasure_receipt, receipts
from memory.services.erasure_run import RECEIPT
from memory.services.errors import Conflict, Invalid, NotFound, ServiceError, VersionConflict
from tenants.context import tenant_context


@tenant_page("erasures", read="admin", write="admin")
def index(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """Ask for the subject and list what was erased; a POST looks, and with `step` erase it erases."""
    if request.method != "POST":
        return _start(request, viewer)
    wish = _wish(request.POST)
    if request.POST.get("step") != "erase" or not wish.seal:
        return _look(request, viewer, wish)
    try:
        job = subject_erase(viewer.principal, wish)
    except VersionConflict as error:
        return _look(request, viewer, wish, 409, changed=sentence(error))
    except Conflict as error:
        return _look(request, viewer, wish, 409, changed=sentence(error))
    except Invalid as error:
        return _look(request, viewer, wish, 422, error=sentence(error), field=error.field)
    except ServiceError as error:
        return raise_or_deny(error)
    return SeeOther(url(viewer, "erasure", show_id("job", job.id)))


def _wish(given: QueryDict) -> ErasureWish:
    words = given.get("words", "")[:4000].splitlines()
    return ErasureWish(
        given.get("subject", "").replace("\x00", "")[:1000], tuple(word for word in words if word.strip()),
        along=ids_in(given.getlist("along"), SAMPLE), reason=given.get("reason", "").replace("\x00", "")[:1000],
        typed=given.get("typed", "").replace("\x00", "")[:1000], seal=given.get("seal", "")[:64],
    )  # fmt: skip


def _start(request: HttpRequest, viewer: Viewer, status: int = 200, **more: Any) -> HttpResponse:
    with tenant_context(viewer.tenant.id):
        context = {
            "open": [shapes.step(viewer, job) for job in erasures()],
            "done": [shapes.past(viewer, event) for event in receipts()],
            **more,
        }
        return answer(request, "pages/erasures/index.html", context, status)


def _look(
    request: HttpRequest, viewer: Viewer, wish: ErasureWish, status: int = 200, **more: Any
) -> HttpResponse:
    """What would go, of this moment."""
    try:
        seen = erasure_look(viewer.principal, wish)
    except Invalid as error:
        given = {"subject": wish.subject, "words": "\n".join(wish.words)}
        return _start(request, viewer, 422, error=sentence(error), field=error.field, **given)
    except ServiceError as error:
        return raise_or_deny(error)
    with tenant_context(viewer.tenant.id):
        context = shapes.look(viewer, wish, seen) | more
        return answer(request, "pages/erasures/look.html", context, status)


@tenant_page("erasures", read="admin")
def one(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """One erasure and how far it has got."""
    job_id = row_id("job", item)
    with tenant_context(viewer.tenant.id):
        job = Job.objects.filter(id=job_id, kind=ERASE).first()
        event = AuditEvent.objects.filter(action=RECEIPT, request_id=show_id("job", job_id)).first()
        if job is None and event is None:
            raise Http404
        context = {
            "step": shapes.step(viewer, job) if job else None,
            "past": shapes.past(viewer, event) if event else None,
            "id_text": show_id("job", job_id),
        }
        part = request.headers.get("HX-Target") == "step"
        return answer(request, f"pages/erasures/{'_step' if part else 'step'}.html", context)


@tenant_page("erasures", read="admin")
def receipt(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """The receipt as a file."""
    try:
        document = erasure_receipt(viewer.principal, row_id("job", item))
    except NotFound as error:
        raise Http404(_("There is no such receipt.")) from error
    except ServiceError as error:
        return raise_or_deny(error)
    response = HttpResponse(json.dumps(document, indent=2), content_type="application/json")
    response["Content-Disposition"] = f'attachment; filename="memgov-erasure-{item[-8:]}.json"'
    return response
