"""Imports and exports of an admin: upload, look, run, follow, stop, report, download."""

from __future__ import annotations

import csv
from collections.abc import Callable
from io import StringIO
from typing import cast
from uuid import UUID

from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt, csrf_protect

from memgov import clock
from memory.domain.exports import cell
from memory.domain.ids import show_id
from memory.models import Job
from memory.pages.access import Viewer, tenant_page
from memory.pages.answers import SeeOther, answer, flash_error, raise_or_deny, row_id, sentence, target, url
from memory.pages.transfer_shapes import ImportForm, transfer
from memory.pages.uploads import ToDisk
from memory.services import transfers
from memory.services.errors import Conflict, Invalid, NotFound, ServiceError
from memory.services.transfers import Wish
from tenants.context import tenant_context
from tenants.principals import Principal

_HISTORY = 30


@csrf_exempt  # checked in `_uploaded`, when it is known how the body is to be read
@tenant_page("imports", read="admin", write="admin")
def imports(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """What was imported, and the form to upload a file."""
    if request.method != "POST":
        return _imports(request, viewer, ImportForm())
    handler = ToDisk(request, transfers.most_bytes(viewer.tenant.id))
    request.upload_handlers = [handler]
    try:
        return _uploaded(request, viewer, handler)
    finally:
        handler.discard()


imports.reads_files = True  # type: ignore[attr-defined]


@csrf_protect
def _uploaded(request: HttpRequest, viewer: Viewer, handler: ToDisk) -> HttpResponse:
    form = ImportForm(request.POST)
    valid = form.is_valid()
    if handler.too_large:
        form.add_error(None, _("The file is too large. Split it, or import it with the command line."))
        return _imports(request, viewer, form, 422)
    if handler.incoming is None or not handler.incoming.size:
        form.add_error(None, _("Choose a file that is not empty."))
        return _imports(request, viewer, form, 422)
    if not valid:
        return _imports(request, viewer, form, 422)
    try:
        wish = Wish(handler.name, form.cleaned_data["scope"], form.cleaned_data["on_conflict"])
        job = transfers.import_look(viewer.principal, handler.incoming, wish)
    except Conflict as error:
        form.add_error(None, sentence(error))
        return _imports(request, viewer, form, 409)
    except Invalid as error:
        form.add_error(error.field if error.field in form.fields else None, sentence(error))
        return _imports(request, viewer, form, 422)
    except ServiceError as error:
        return raise_or_deny(error)
    return SeeOther(url(viewer, "import", show_id("job", job.id)))


def _imports(request: HttpRequest, viewer: Viewer, form: ImportForm, status: int = 200) -> HttpResponse:
    context = {"form": form, "most": transfers.most_bytes(viewer.tenant.id) // 1024 // 1024 or 1}
    return _listed(request, viewer, transfers.IMPORTS, "pages/transfers/imports.html", status, **context)


def _listed(
    request: HttpRequest,
    viewer: Viewer,
    kinds: tuple[str, ...],
    template: str,
    status: int = 200,
    **more: object,
) -> HttpResponse:
    now = clock.now()
    with tenant_context(viewer.tenant.id):
        rows = Job.objects.filter(kind__in=kinds).defer("request").order_by("-created_at", "-id")[:_HISTORY]
        context = {"items": [transfer(viewer, row, now) for row in rows], **more}
        return answer(request, template, context, status)


def _one(request: HttpRequest, viewer: Viewer, item: str, kinds: tuple[str, ...], name: str) -> HttpResponse:
    with tenant_context(viewer.tenant.id):
        job = Job.objects.filter(id=row_id("job", item), kind__in=kinds).defer("request").first()
        if job is None:
            raise Http404
        part = target(request) == "transfer"
        context = {"job": transfer(viewer, job, clock.now())}
        return answer(request, f"pages/transfers/{'_' if part else ''}{name}.html", context)


@tenant_page("imports", read="admin")
def one_import(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """How far it is, what would become of the rows, or what became of them."""
    return _one(request, viewer, item, transfers.IMPORTS, "import")


@tenant_page("imports", read=None, write="admin")
def run(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """Import the file that was looked at."""
    return _stepped(request, viewer, item, transfers.import_begin)


@tenant_page("imports", read=None, write="admin")
def undo(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """Take an import back."""
    return _stepped(request, viewer, item, transfers.import_undo)


def _stepped(
    request: HttpRequest, viewer: Viewer, item: str, step: Callable[[Principal, UUID], Job]
) -> HttpResponse:
    """Back to the page of the import that the step leads to, or to this one's, which says why it was not taken."""
    try:
        job = step(viewer.principal, row_id("job", item))
    except Conflict as error:
        flash_error(request, sentence(error))
        return SeeOther(url(viewer, "import", item))
    except ServiceError as error:
        return raise_or_deny(error)
    return SeeOther(url(viewer, "import", show_id("job", job.id)))


@tenant_page("imports", read=None, write="admin")
def cancel(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """Stop an import or an export."""
    try:
        job = transfers.transfer_cancel(viewer.principal, row_id("job", item))
    except Conflict as error:
        flash_error(request, sentence(error))
        job = _known(viewer, row_id("job", item))
    except ServiceError as error:
        return raise_or_deny(error)
    return SeeOther(url(viewer, "import" if job.kind in transfers.IMPORTS else "export", item))


def _known(viewer: Viewer, job_id: UUID) -> Job:
    with tenant_context(viewer.tenant.id):
        found: Job = Job.objects.get(id=job_id)
    return found


@tenant_page("imports", read="admin")
def report(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """What did not come in, row by row, for a spreadsheet; codes are the same in every language."""
    with tenant_context(viewer.tenant.id):
        job = Job.objects.filter(id=row_id("job", item), kind__in=transfers.IMPORTS).first()
    if job is None or "told" not in (job.result or {}):
        raise Http404
    file = StringIO()
    lines = csv.writer(file)
    lines.writerow(["row", "outcome", "why"])
    lines.writerows([cell(one) for one in row] for row in job.result["told"])
    response = HttpResponse(file.getvalue(), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="memgov-{viewer.tenant.slug}-import.csv"'
    return response


@tenant_page("exports", read="admin", write="admin")
def exports(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """What was exported, and the form to begin one, or a trial that only counts."""
    if request.method != "POST":
        return _exports(request, viewer)
    try:
        trial = request.POST.get("trial") == "yes"
        job = transfers.export_begin(viewer.principal, request.POST.get("form", ""), trial=trial)
    except (Conflict, Invalid) as error:
        status = 409 if isinstance(error, Conflict) else 422
        return _exports(request, viewer, status, error=sentence(error))
    except ServiceError as error:
        return raise_or_deny(error)
    return SeeOther(url(viewer, "export", show_id("job", job.id)))


def _exports(request: HttpRequest, viewer: Viewer, status: int = 200, error: str = "") -> HttpResponse:
    return _listed(request, viewer, transfers.EXPORTS, "pages/transfers/exports.html", status, error=error)


@tenant_page("exports", read="admin")
def one_export(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """How far it is, what is in it, and the way to the file while it is kept."""
    return _one(request, viewer, item, transfers.EXPORTS, "export")


@tenant_page("exports", read="admin")
def download(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """The file: for admins of this tenant, for a day."""
    try:
        path, job = transfers.export_file(viewer.principal, row_id("job", item))
    except NotFound:
        raise Http404 from None
    except ServiceError as error:
        return raise_or_deny(error)
    form = str((job.result or {}).get("form", "jsonl"))
    name = f"memgov-{viewer.tenant.slug}-{job.created_at:%Y-%m-%d}.{form}"
    kinds = {"csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet"}
    kind = kinds.get(form, "application/x-ndjson")
    response = FileResponse(path.open("rb"), as_attachment=True, filename=name, content_type=kind)
    return cast(HttpResponse, response)
