"""Previews of drafts: begun, followed while they run, and what they found, the cases that look like a mistake first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.domain.ids import parse_id, show_id
from memory.models import Manifest, Memory, WriteDecision
from memory.pages import policy_drafts
from memory.pages import policy_shapes as shapes
from memory.pages.access import Viewer, tenant_page
from memory.pages.answers import SeeOther, answer, raise_or_deny, row_id, sentence, target, url, version_of
from memory.selectors import pages_policies as found
from memory.services.errors import Conflict, ServiceError
from memory.services.policies import PolicyMoved
from memory.services.preview import preview_start
from memory.services.said import said
from tenants.context import tenant_context

_GROUPS: tuple[tuple[str, str | Promise], ...] = (
    ("stored", gettext_lazy("What is stored")),
    ("written", gettext_lazy("The last writes, repeated")),
    ("read", gettext_lazy("The last reads, repeated")),
)
# What each part counts, and how it is drawn: tone of the chip, words.
_PARTS: dict[tuple[str, str], tuple[str, str | Promise]] = {
    ("stored", "evicted"): ("warn", gettext_lazy("would be evicted by decay")),
    ("stored", "archived"): ("warn", gettext_lazy("would be archived over the cap")),
    ("stored", "spared"): ("ok", gettext_lazy("would stay, which decay or the cap takes now")),
    ("stored", "refused"): ("bad", gettext_lazy("would not be admitted any more")),
    ("stored", "held"): ("bad", gettext_lazy("would be held in quarantine")),
    ("stored", "redacted"): ("warn", gettext_lazy("would have personal data redacted")),
    ("stored", "rebanded"): ("info", gettext_lazy("would be in another age band")),
    ("stored", "merged"): ("info", gettext_lazy("would be merged")),
    ("written", "admitted"): ("ok", gettext_lazy("would be admitted, which were refused")),
    ("written", "refused"): ("bad", gettext_lazy("would be refused")),
    ("written", "held"): ("warn", gettext_lazy("would be held for review")),
    ("written", "merged"): ("info", gettext_lazy("would be merged into what is known")),
    ("written", "superseded"): ("info", gettext_lazy("would replace an older value")),
    ("written", "kept_apart"): ("info", gettext_lazy("would be stored beside what is known")),
    ("written", "ends_otherwise"): ("info", gettext_lazy("would end at another time")),
    ("read", "retrieved"): ("warn", gettext_lazy("retrievals would give other entries")),
    ("read", "digests"): ("warn", gettext_lazy("digests would be other ones")),
}


@tenant_page("policies", read=None, write="admin")
def begin(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """Ask for a preview of the draft."""
    draft_id = row_id("pdr", item)
    try:
        job = preview_start(viewer.principal, draft_id, version=version_of(request))
    except PolicyMoved as error:
        return policy_drafts.page(request, viewer, draft_id, status=409, clash=shapes.clash(error))
    except Conflict as error:
        return policy_drafts.page(request, viewer, draft_id, status=409, busy=sentence(error))
    except ServiceError as error:
        return raise_or_deny(error)
    return SeeOther(url(viewer, "policy-preview", show_id("job", job.id)))


@tenant_page("policies")
def one(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """One preview: how far it is, or what it found."""
    with tenant_context(viewer.tenant.id):
        job = found.preview(row_id("job", item))
        if job is None:
            raise Http404
        about = job.result or {}
        draft = _draft(viewer, about)
        context = {
            "preview": shapes.preview_shape(viewer, job),
            "draft": draft,
            "stale": draft is not None and draft["version"] != about.get("version"),
            "active": viewer.policy().number,
            "groups": _groups(viewer, about) if job.status == "done" else [],
            "notes": [said(note) for note in about.get("notes", [])],
            "looked_at": about.get("looked_at", {}),
        }
        part = target(request) == "preview"
        return answer(request, f"pages/policies/{'_preview' if part else 'preview'}.html", context)


def _draft(viewer: Viewer, about: Mapping[str, Any]) -> dict[str, Any] | None:
    """The draft that was tried, if it is still there."""
    row = found.draft(parse_id("pdr", about["draft"]))
    return shapes.draft_shape(viewer, row) if row is not None else None


def _groups(viewer: Viewer, result: Mapping[str, Any]) -> list[dict[str, Any]]:
    parts = [part for name, _title in _GROUPS for part in result.get(name, [])]
    texts = _Texts(viewer, [sample for part in parts for sample in part["samples"]])
    return [
        {
            "name": name,
            "title": title,
            "parts": [_part(name, part, texts) for part in result.get(name, [])],
        }
        for name, title in _GROUPS
    ]


def _part(group: str, part: Mapping[str, Any], texts: _Texts) -> dict[str, Any]:
    tone, words = _PARTS.get((group, part["name"]), ("info", part["name"]))
    return {
        "name": f"{group}-{part['name']}",
        "tone": tone,
        "words": words,
        "count": part["count"],
        "labels": list(part["labels"].items())[:12],
        "samples": [texts.shown(sample) for sample in part["samples"]],
    }


class _Texts:
    """The texts behind the ids of a preview, as they are today."""

    def __init__(self, viewer: Viewer, samples: Sequence[Mapping[str, Any]]) -> None:
        self._viewer = viewer
        ids: dict[str, set[UUID]] = {"memory": set(), "decision": set(), "manifest": set()}
        for one in samples:
            ids[one["kind"]].add(UUID(one["id"]))
        self._memories = {row.id: row for row in Memory.objects.filter(id__in=ids["memory"])}
        self._decisions = {row.id: row for row in WriteDecision.objects.filter(id__in=ids["decision"])}
        self._manifests = {row.id: row for row in Manifest.objects.filter(id__in=ids["manifest"])}

    def shown(self, sample: Mapping[str, Any]) -> dict[str, Any]:
        """One sample with its text, scope and address."""
        at = UUID(sample["id"])
        text, scope, where = self._looked_up(sample["kind"], at)
        return {
            "text": text or _("The text is gone"),
            "scope": scope,
            "url": where,
            "why": sample.get("why", ""),
            "pinned": sample.get("pinned", False),
            "restored": sample.get("restored", False),
            "uses": sample.get("uses", 0) if sample["kind"] != "manifest" else 0,
        }

    def _looked_up(self, kind: str, at: UUID) -> tuple[str, str, str]:
        if kind == "memory" and at in self._memories:
            row = self._memories[at]
            return row.content, row.scope, url(self._viewer, "memory", show_id("mem", at))
        if kind == "decision" and at in self._decisions:
            decision = self._decisions[at]
            return decision.text, decision.scope, ""
        if kind == "manifest" and at in self._manifests:
            read = self._manifests[at]
            asked = read.query_text or str(read.request.get("scope", ""))
            return asked, read.agent_name, url(self._viewer, "manifest", show_id("man", at))
        return "", "", ""
