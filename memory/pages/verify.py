"""The re-verify list: what was true once and may not be any more, confirmed from here or opened to be changed."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from memgov import clock
from memory.domain.freshness import band
from memory.domain.ids import show_id
from memory.domain.scopes import parse_scope
from memory.domain.types import Kind
from memory.models import Memory
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
from memory.pages.memory_shapes import address
from memory.selectors import pages_verify as found
from memory.services.errors import Conflict, ServiceError, VersionConflict
from memory.services.retention import memory_verify
from tenants.context import tenant_context


@tenant_page("health")
def index(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """Those that wait longest."""
    with tenant_context(viewer.tenant.id):
        rows, more = found.due(viewer.policy(), clock.now())
        context = {"items": [_row(viewer, row) for row in rows], "more": more}
        return answer(request, "pages/health/verify.html", context)


def _row(viewer: Viewer, row: Memory) -> dict[str, Any]:
    active, now = viewer.policy(), clock.now()
    rule = active.words.registry.lookup(row.predicate) if row.predicate else None
    own = active.policy.for_scope(parse_scope(row.scope))
    return {
        "id_text": show_id("mem", row.id),
        "url": address(viewer, row),
        "value": row.content,
        "scope": row.scope,
        "source": row.agent_name,
        "learned_at": row.learned_at,
        "review_by": row.review_by if row.review_by and row.review_by <= now else None,
        "band": band(Kind(row.kind), rule, row.learned_at, now, own).value,
        "confidence": row.confidence,
        "version": row.version,
        "can_verify": viewer.can("review"),
    }


@tenant_page("health", read=None, write="review")
def confirm(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """It is still true."""
    try:
        memory_verify(viewer.principal, row_id("mem", item), version=version_of(request))
    except (Conflict, VersionConflict) as error:
        flash_error(request, sentence(error))
    except ServiceError as error:
        return raise_or_deny(error)
    else:
        flash(request, _("Confirmed. It is fresh again."))
    return SeeOther(url(viewer, "verify"))
