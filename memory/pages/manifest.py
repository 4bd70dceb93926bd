"""A manifest: what one session was given, in which order, and what was left out and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy

from memory.domain.ids import show_id
from memory.models import Manifest
from memory.pages.access import Viewer, tenant_page
from memory.pages.answers import answer, raise_or_deny, row_id, url
from memory.pages.wording import plain
from memory.services.errors import ServiceError
from memory.services.manifest_read import Injected, manifest_read
from tenants.context import tenant_context

_EXCLUDED = {
    "expired": gettext_lazy("Expired"),
    "low_trust": gettext_lazy("Trust below the floor"),
    "contested": gettext_lazy("Contested, and the stakes were high"),
    "outside_window": gettext_lazy("Outside the time window"),
    "not_applicable": gettext_lazy("For other paths or tags"),
    "source_share": gettext_lazy("Too much from one source"),
    "outdated": gettext_lazy("Outdated"),
    "budget": gettext_lazy("Over the token budget"),
}


@tenant_page("memories")
def one(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """One manifest with its entries as they were."""
    try:
        view = manifest_read(viewer.principal, row_id("man", item))
    except ServiceError as error:
        return raise_or_deny(error)
    man = view.manifest
    erased = any(one.erased for one in view.injected)
    context = {
        "man": _call(viewer, man) | {"block": "" if erased else view.text},
        "entries": _entries(viewer, view.injected, man.usage_reported_at is not None),
        "excluded": [
            {"label": _EXCLUDED.get(reason, plain(reason).capitalize()), "count": count}
            for reason, count in man.excluded.items()
            if isinstance(count, int) and count
        ],
        "used_at": man.usage_reported_at,
    }
    with tenant_context(viewer.tenant.id):
        return answer(request, "pages/manifest.html", context)


def _call(viewer: Viewer, man: Manifest) -> dict[str, Any]:
    return {
        "id_text": show_id("man", man.id),
        "at": man.at,
        "agent": man.agent_name,
        "agent_url": url(viewer, "agent", show_id("agt", man.agent_id)) if man.agent_id else "",
        "session": man.session,
        "task": man.task,
        "kind": man.kind,
        "query": man.query_text,
        "policy_version": man.policy_version,
        "limit": man.request.get("limit"),
        "tokens": man.tokens,
        "digest": man.block_digest,
    }


def _entries(viewer: Viewer, injected: Sequence[Injected], reported: bool) -> list[dict[str, Any]]:
    return [
        {
            "rank": one.entry.rank,
            "id_text": show_id("mem", one.entry.memory_id),
            "url": url(viewer, "memory", show_id("mem", one.entry.memory_id)),
            "version": one.entry.version,
            "content": one.text,
            "scope": one.entry.scope,
            "kind": str(one.state.get("kind", "")),
            "band": one.entry.band,
            "score": one.entry.score,
            "channel": one.entry.channel,
            "trust": one.entry.trust,
            "used": (one.entry.used_at is not None) if reported else None,
            "status_now": one.status_now,
            "erased": one.erased,
        }
        for one in injected
    ]
