"""Evictions: what left the working set, by which rule, and the way back."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memgov import clock
from memory.domain.ids import show_id
from memory.domain.policy import Policy
from memory.domain.scopes import parse_scope
from memory.pages.access import Viewer, tenant_page
from memory.pages.answers import (
    SeeOther,
    answer,
    flash,
    flash_error,
    raise_or_deny,
    row_id,
    sentence,
    url,
    version_of,
)
from memory.pages.audit_words import actor_text
from memory.pages.memory_shapes import address
from memory.pages.pager import pager
from memory.pages.queue import LONGEST_SEARCH
from memory.pages.wording import plain_reason, upper_first
from memory.selectors import pages_removals as found
from memory.services.errors import Conflict, ServiceError, VersionConflict
from memory.services.retention import memory_restore
from tenants.context import tenant_context

_RULES = {
    "evicted": gettext_lazy("Decayed below the floor"),
    "archived": gettext_lazy("Compacted over the cap"),
    "expired": gettext_lazy("Its time was over"),
    "deleted": gettext_lazy("Deleted by a person or agent"),
}


@tenant_page("evictions")
def index(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """What went, newest first."""
    q = request.GET.get("q", "").replace("\x00", "").strip()[:LONGEST_SEARCH]
    rule = request.GET.get("rule", "")
    now = clock.now()
    with tenant_context(viewer.tenant.id):
        page, total = found.page(rule, q, request.GET.get("at", ""))
        counts = found.counts()
        scores = found.scores([row.id for row in page.rows])
        policy = viewer.policy().policy
        context = {
            "items": [_row(viewer, row, policy, scores, now) for row in page.rows],
            "pager": pager(url(viewer, "evictions"), {"q": q, "rule": rule}, page, total),
            "q": q,
            "rule": rule,
            "rules": [
                {"slug": slug, "name": name, "count": counts.get(slug, 0)} for slug, name in _RULES.items()
            ],
            "filtered": bool(q or rule),
        }
        return answer(request, "pages/evictions.html", context)


def _row(viewer: Viewer, row: Any, policy: Policy, scores: dict[str, float], now: datetime) -> dict[str, Any]:
    own, shown = policy.for_scope(parse_scope(row.scope)), show_id("mem", row.id)
    left = row.status_changed_at + timedelta(days=own.retention.restore_days) - now
    evicted = row.status == "evicted"
    return {
        "id_text": shown,
        "url": address(viewer, row),
        "value": row.content,
        "scope": row.scope,
        "status": row.status,
        "at": row.status_changed_at,
        "rule_label": _why(row, evicted),
        "score": scores.get(shown) if evicted else None,
        "floor": own.decay.floor if evicted else None,
        "by": actor_text(row.removed_by or ""),
        "version": row.version,
        "days_left": max(0, left.days + 1),
        "can_restore": viewer.can("review") and left > timedelta(0),
        "can_let_go": viewer.can("review") and row.status != "deleted",
    }


def _why(row: Any, evicted: bool) -> str:
    if evicted or not row.status_reason:
        return str(_RULES[row.status])
    reason = plain_reason(row.status_reason)
    return reason if row.status == "deleted" else upper_first(reason)  # people's words stay as they are


@tenant_page("evictions", read=None, write="review")
def restore(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """Bring one back."""
    memory_id = row_id("mem", item)
    version = version_of(request) if request.POST.get("version") else None
    try:
        memory_restore(viewer.principal, memory_id, version=version)
    except Conflict as error:
        if error.code == "place_taken":
            return SeeOther(url(viewer, "memory-restore", item))
        flash_error(request, sentence(error))
        return SeeOther(url(viewer, "evictions"))
    except VersionConflict as error:
        flash_error(request, sentence(error))
        return SeeOther(url(viewer, "evictions"))
    except ServiceError as error:
        return raise_or_deny(error)
    flash(request, _("Restored with its id, history and counters."))
    return SeeOther(url(viewer, "evictions"))
