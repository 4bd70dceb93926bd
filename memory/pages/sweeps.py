"""Runs of sweeps: what each looked at and took, letting a stopped one go ahead, and bringing back what one took."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.models import SweepRun
from memory.pages.access import Viewer, tenant_page
from memory.pages.answers import SeeOther, answer, flash, raise_or_deny, row_id, sentence, url
from memory.pages.pager import pager
from memory.pages.templatetags.chips import look_of
from memory.selectors import pages_sweeps as found
from memory.services import sweep_runs
from memory.services.errors import Conflict, Invalid, ServiceError
from memory.services.said import said
from memory.services.sweeps import SWEEPS
from tenants.context import tenant_context

NAMES = {
    "expiry": gettext_lazy("Expiry"),
    "decay": gettext_lazy("Decay"),
    "staleness": gettext_lazy("Staleness"),
    "compaction": gettext_lazy("Compaction"),
    "dedup": gettext_lazy("Deduplication"),
    "episodes": gettext_lazy("Episodic compression"),
    "poisoning": gettext_lazy("Poisoning"),
    "health": gettext_lazy("Health snapshot"),
    "chain": gettext_lazy("Chain verification"),
    "tasks": gettext_lazy("Tasks"),
    "retention": gettext_lazy("Retention"),
    "vectors": gettext_lazy("Vectors"),
}


@tenant_page("sweeps")
def index(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """Runs, the latest first."""
    name, status = request.GET.get("name", ""), request.GET.get("status", "")
    name = name if name in SWEEPS else ""
    with tenant_context(viewer.tenant.id):
        page, total = found.page(name, status, request.GET.get("at", ""))
        context = {
            "items": [_row(viewer, run) for run in page.rows],
            "pager": pager(url(viewer, "sweeps"), {"name": name, "status": status}, page, total),
            "filters": {"name": name, "status": status},
            "options": {
                "names": [{"value": one, "label": NAMES.get(one, one)} for one in sorted(SWEEPS)],
                "statuses": [{"value": one, "label": look_of("run", one).label} for one in found.STATUSES],
            },
            "filtered": bool(name or status),
        }
        return answer(request, "pages/sweeps/index.html", context)


def _row(viewer: Viewer, run: SweepRun) -> dict[str, Any]:
    shown = f"run_{run.id.hex}"
    took = (run.finished_at - run.started_at).total_seconds() if run.finished_at else None
    return {
        "id_text": shown,
        "url": url(viewer, "sweep", shown),
        "name": NAMES.get(run.name, run.name),
        "status": run.status,
        "dry_run": run.dry_run,
        "at": run.started_at,
        "ended_at": run.finished_at,
        "seconds": number_format(took, 1) if took is not None else "",
        "scanned": run.scanned,
        "changed": run.changed,
        "skipped": run.skipped,
        "policy": run.policy_version,
        "policy_url": url(viewer, "policy", run.policy_version) if run.policy_version else "",
        "note": said(run.note),
    }


@tenant_page("sweeps")
def one(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """One run."""
    return _detail(request, viewer, row_id("run", item))


def _detail(
    request: HttpRequest, viewer: Viewer, run_id: UUID, status: int = 200, **more: Any
) -> HttpResponse:
    with tenant_context(viewer.tenant.id):
        run = SweepRun.objects.filter(id=run_id).first()
        if run is None:
            raise Http404
        active = viewer.policy()
        may = sweep_runs.standing(run, active.number, active.policy.retention.restore_days)
        held, approved = run.details.get("held", {}), run.details.get("approved")
        undone, applied = run.details.get("undone_by", ""), run.details.get("applied_by", "")
        context = {
            "run": _row(viewer, run),
            "held": [
                {
                    "scope": scope,
                    "share": said["removable"] / said["live"] if said["live"] else 0.0,
                    "memories_url": url(viewer, "memories", scope=scope),
                    **said,
                }
                for scope, said in sorted(held.items())
            ],
            "approved": approved,
            "applied_url": url(viewer, "sweep", f"run_{applied}") if applied else "",
            "proposed": run.details.get("proposed", 0),
            "can_apply": may.can_apply and viewer.can("review"),
            "can_undo": may.can_undo and viewer.can("review"),
            "why_not": may.why_not if held and not approved else "",
            "undone_url": url(viewer, "blast-step", undone) if undone else "",
            "policies_url": url(viewer, "policies"),
            "audit_url": url(viewer, "audit", request=f"run_{run.id.hex}"),
            "days": active.policy.retention.restore_days,
            "reason": request.POST.get("reason", ""),
            **more,
        }
        return answer(request, "pages/sweeps/detail.html", context, status)


def _act(
    request: HttpRequest, viewer: Viewer, item: str, done: str, service: Callable[[UUID, str], object]
) -> HttpResponse:
    run_id, reason = row_id("run", item), request.POST.get("reason", "")
    try:
        service(run_id, reason)
    except Invalid as error:
        return _detail(request, viewer, run_id, 422, error=sentence(error))
    except Conflict as error:
        return _detail(request, viewer, run_id, 409, error=sentence(error))
    except ServiceError as error:
        return raise_or_deny(error)
    flash(request, done)
    return SeeOther(url(viewer, "sweep", item))


@tenant_page("sweeps", read=None, write="review")
def apply(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """Let a stopped run go ahead."""
    text = _("Let go. The sweep runs again and takes at most what this run had named.")
    return _act(
        request, viewer, item, text, lambda run, reason: sweep_runs.sweep_apply(viewer.principal, run, reason)
    )


@tenant_page("sweeps", read=None, write="review")
def undo(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """Bring back all that the run took."""
    text = _("Coming back. What has changed since is left and named.")
    return _act(
        request, viewer, item, text, lambda run, reason: sweep_runs.sweep_undo(viewer.principal, run, reason)
    )
