"""A manifest: what one session was given, in which order and why, what was left out, and what was used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy

from memory.domain.ids import parse_id, show_id
from memory.models import Manifest
from memory.pages.access import Viewer, tenant_page
from memory.pages.answers import answer, raise_or_deny, row_id, url
from memory.pages.wording import headed, plain
from memory.selectors.pages_manifests import contents_of
from memory.services.errors import ServiceError
from memory.services.manifest_read import Injected, ManifestView, manifest_read
from memory.services.working_read import WORKING
from tenants.context import tenant_context

_EXCLUDED = {
    "expired": gettext_lazy("Expired"),
    "ended": gettext_lazy("No longer true"),
    "not_yet": gettext_lazy("Not true yet"),
    "low_trust": gettext_lazy("Trust below the floor"),
    "contested": gettext_lazy("Contested, and the stakes were high"),
    "aging": gettext_lazy("Not fresh, and the stakes were high"),
    "outside_window": gettext_lazy("Outside the time window"),
    "not_applicable": gettext_lazy("For other paths or tags"),
    "below_similarity": gettext_lazy("Not similar enough to the question"),
    "same_value": gettext_lazy("Says what a better one says"),
    "source_share": gettext_lazy("Too much from one source"),
    "limit": gettext_lazy("Beyond the number asked for"),
    "token_budget": gettext_lazy("Over the token budget"),
    "outdated": gettext_lazy("Outdated"),
    "unknown_key": gettext_lazy("No such working value"),
    "quarantined": gettext_lazy("Held in quarantine"),
}
_PARTS = {
    "text": gettext_lazy("words"),
    "vector": gettext_lazy("meaning"),
    "neighbours": gettext_lazy("neighbours in its session"),
    "scope": gettext_lazy("near scope"),
    "freshness": gettext_lazy("freshness"),
    "trust": gettext_lazy("trust"),
    "pin": gettext_lazy("pin"),
    "importance": gettext_lazy("importance"),
    "confidence": gettext_lazy("confidence"),
}


@tenant_page("manifests")
def one(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """One manifest with its entries as they were."""
    try:
        view = manifest_read(viewer.principal, row_id("man", item))
    except ServiceError as error:
        return raise_or_deny(error)
    man = view.manifest
    with tenant_context(viewer.tenant.id):
        context = {
            "man": _call(viewer, view),
            "entries": [_entry(viewer, one) for one in view.injected],
            "excluded": _excluded(viewer, man),
            "used_at": man.usage_reported_at,
        }
        return answer(request, "pages/manifests/detail.html", context)


def _call(viewer: Viewer, view: ManifestView) -> dict[str, Any]:
    man = view.manifest
    asked = {name: value for name, value in man.request.items() if name != "scope"}
    return {
        "id_text": show_id("man", man.id),
        "at": man.at,
        "agent": man.agent_name,
        "agent_role": man.agent_role,
        "agent_url": url(viewer, "agent", show_id("agt", man.agent_id)) if man.agent_id else "",
        "session": man.session,
        "session_url": url(viewer, "manifests", session=man.session) if man.session else "",
        "task": man.task,
        "kind": man.kind,
        "scope": man.request.get("scope", "") if man.kind == "digest" else "",
        "query": man.query_text,
        "query_hash": man.query_hash,
        "asked": [{"name": plain(name), "value": _value(value)} for name, value in asked.items() if value],
        "policy_version": man.policy_version,
        "policy_url": url(viewer, "policy", man.policy_version) if man.policy_version else "",
        "tokens": man.tokens,
        "format": man.block_format,
        "digest": man.block_digest,
        "block": view.text,
        "as_returned": view.as_returned,
        "audit_url": url(viewer, "audit", q=show_id("man", man.id)),
        "blast_url": url(viewer, "blast", session=man.session) if man.session else "",
    }


def _value(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _entry(viewer: Viewer, one: Injected) -> dict[str, Any]:
    entry = one.entry
    return {
        "rank": entry.rank,
        "id_text": one.shown_id,
        "url": "" if entry.channel == WORKING else url(viewer, "memory", one.shown_id),
        "version": entry.version,
        "content": one.text,
        "erased": one.erased,
        "scope": entry.scope,
        "source": entry.source,
        "trust": entry.trust,
        "recorded_at": entry.recorded_at,
        "band": entry.band,
        "channel": entry.channel,
        "score": entry.score,
        "parts": _parts(entry.scores),
        "contested": entry.rivals_from is not None,
        "verdict": entry.verdict,
        "used": entry.used_at is not None,
        "status_now": one.status_now,
    }


def _parts(scores: Mapping[str, float]) -> list[dict[str, Any]]:
    """Why it stood where it stood: the parts of its score, the greatest first."""
    ordered = sorted(scores.items(), key=lambda part: -part[1])
    return [{"name": _PARTS.get(name, plain(name)), "value": value} for name, value in ordered]


def _excluded(viewer: Viewer, man: Manifest) -> list[dict[str, Any]]:
    """Reasons with their counts, and which memories where the policy had them recorded."""
    named = {
        reason: [parse_id("mem", shown) for shown in ids if shown.startswith("mem_")]
        for reason, ids in man.excluded_ids.items()
    }
    texts = contents_of([memory_id for ids in named.values() for memory_id in ids])
    return [
        {
            "label": _EXCLUDED.get(reason, headed(reason)),
            "count": count,
            "memories": _left_out(viewer, named.get(reason, ()), texts),
        }
        for reason, count in man.excluded.items()
        if isinstance(count, int) and count
    ]


def _left_out(viewer: Viewer, ids: Sequence[UUID], texts: Mapping[UUID, str]) -> list[dict[str, str]]:
    return [
        {
            "id_text": show_id("mem", memory_id),
            "url": url(viewer, "memory", show_id("mem", memory_id)),
            "content": texts.get(memory_id, ""),
        }
        for memory_id in ids
    ]
