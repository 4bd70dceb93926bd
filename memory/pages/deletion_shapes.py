"""A bulk deletion as the templates show it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.domain.ids import show_id
from memory.models import Job, Memory
from memory.pages.access import Viewer
from memory.pages.answers import url
from memory.pages.wording import plain
from memory.selectors import deletions
from memory.selectors.deletions import Row
from memory.services.deletion_steps import UNDO
from memory.services.said import said

_LEFT = {
    deletions.NOT_OWN: gettext_lazy("written by somebody else"),
    deletions.SCOPE_DENIED: gettext_lazy("no right to write in its scope"),
    deletions.MOUNTED: gettext_lazy("declared by a mount"),
    deletions.PINNED: gettext_lazy("pinned by a person"),
    deletions.OTHER_SOURCE: gettext_lazy("learned in another session as well"),
    deletions.CHANGED: gettext_lazy("changed at that very moment"),
}


def left_words(reason: str) -> str:
    """Why a memory is left."""
    known = _LEFT.get(reason)
    return str(known) if known else plain(reason)


def row(viewer: Viewer, one: Row | Memory) -> dict[str, Any]:
    """One memory that goes or went."""
    ident = show_id("mem", one.id)
    return {
        "id_text": ident,
        "url": url(viewer, "memory", ident),
        "content": one.content or _("The text was erased"),
        "status": one.status,
        "scope": one.scope,
    }


def step(viewer: Viewer, job: Job, now: datetime) -> dict[str, Any]:
    """One step: how far it is, what it left and why, and whether it can be taken back."""
    kept, ident = job.result or {}, show_id("job", job.id)
    days = viewer.policy().policy.retention.restore_days
    ended = job.status in ("done", "failed")
    undone, of = kept.get("undone_by", ""), kept.get("step", "")
    fresh = now - job.created_at <= timedelta(days=days)
    undoes = job.kind == UNDO
    return {
        "id_text": ident,
        "url": url(viewer, "deletion", ident),
        "undoes": undoes,
        "reason": kept.get("reason", ""),
        "cascade": kept.get("cascade", False),
        "conditions": _conditions(kept),
        "by": job.actor_name,
        "at": job.created_at,
        "status": job.status,
        "ended": ended,
        "done": job.done,
        "total": job.total,
        "left": kept.get("left", 0),
        "left_reasons": [
            {"why": left_words(reason), "count": count}
            for reason, count in kept.get("left_reasons", {}).items()
        ],
        "left_named": [
            {"id_text": one, "url": url(viewer, "memory", one)} for one in kept.get("left_named", ())
        ],
        "undone_url": url(viewer, "deletion", undone) if undone else "",
        "of_url": url(viewer, "deletion", of) if of else "",
        "error": said(job.error),
        "can_undo": viewer.can("review") and not undoes and ended and fresh and not undone and job.done > 0,
        "audit_url": url(viewer, "audit", request=ident),
    }


def _conditions(kept: dict[str, Any]) -> list[dict[str, str]]:
    """What the step was asked for: the names of the conditions, or how many were picked."""
    if "ids" in kept:
        return [{"name": _("Picked"), "value": str(kept["ids"])}]
    return [{"name": plain(name).capitalize(), "value": ""} for name in kept.get("filter", ())]
