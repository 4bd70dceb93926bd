"""The blast radius as the templates show it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from memory.domain.blast import BadSeed, Seed, parse_seed
from memory.domain.ids import show_id
from memory.models import Job, Memory
from memory.pages.access import Viewer
from memory.pages.answers import url
from memory.pages.audit_words import action_text
from memory.pages.wording import plain_reason
from memory.selectors.blast import Decided, Entry, Readers, Seen
from memory.services import blast as steps
from memory.services.said import said
from tenants.models import Agent, AgentKey

_PAGES = {"mem": "memory", "prm": "promotion", "con": "contradiction"}


def conditions(viewer: Viewer, seed: Seed) -> list[dict[str, str]]:
    """Where the search began, each condition in words with its page.  Asks for the names of what it names."""
    shown = []
    if seed.memory is not None:
        text = Memory.objects.filter(id=seed.memory).values_list("content", flat=True).first()
        ident = show_id("mem", seed.memory)
        shown.append(_condition(_("Memory"), text or ident, url(viewer, "memory", ident)))
    if seed.agent is not None:
        name = Agent.objects.filter(id=seed.agent).values_list("name", flat=True).first()
        ident = show_id("agt", seed.agent)
        shown.append(_condition(_("Agent"), name or ident, url(viewer, "agent", ident)))
    if seed.key is not None:
        key = AgentKey.objects.filter(id=seed.key).first()
        shown.append(
            _condition(
                _("Key"),
                f"mgk_…{key.prefix}…" if key else show_id("key", seed.key),
                url(viewer, "agent", show_id("agt", key.agent_id)) if key else "",
            )
        )
    if seed.session:
        shown.append(_condition(_("Session"), seed.session, url(viewer, "manifests", session=seed.session)))
    if seed.tool:
        shown.append(_condition(_("Tool"), seed.tool))
    if seed.source:
        shown.append(_condition(_("Source"), seed.source))
    return shown + _times(seed)


def _times(seed: Seed) -> list[dict[str, str]]:
    names = ((_("From"), seed.since), (_("To"), seed.until))
    return [_condition(name, at.strftime("%Y-%m-%d %H:%M UTC")) for name, at in names if at is not None]


def _condition(name: str, value: str, address: str = "") -> dict[str, str]:
    return {"name": name, "value": value, "url": address}


def entry(viewer: Viewer, row: Entry) -> dict[str, Any]:
    """One memory of the set."""
    return {
        "url": url(viewer, "memory", show_id("mem", row.id)),
        "content": row.content or _("The text was erased"),
        "written": row.written,
        "status": row.status,
        "scope": row.scope,
        "agent": row.agent,
        "at": row.recorded_at,
    }


def seen_by(viewer: Viewer, readers: Readers) -> dict[str, list[dict[str, Any]]]:
    """Who was given memories of the set, each with its page."""
    return {
        "manifests": [
            _seen(row, url(viewer, "manifest", show_id("man", UUID(row.key)))) for row in readers.latest
        ],
        "agents_seen": [
            _seen(row, url(viewer, "agent", show_id("agt", UUID(row.key))) if row.key else "")
            for row in readers.by_agent
        ],
        "sessions_seen": [
            {**_seen(row, url(viewer, "manifests", session=row.key)), "session": row.key}
            for row in readers.by_session
        ],
    }


def _seen(row: Seen, address: str) -> dict[str, Any]:
    return {"url": address, "name": row.name, "count": row.count, "used": row.used, "at": row.at}


def decided(viewer: Viewer, row: Decided) -> dict[str, Any]:
    """Something that a person did about it."""
    page = _PAGES[row.target[:3]]
    return {
        "at": row.at,
        "actor": row.actor,
        "text": action_text(row.action),
        "reason": plain_reason(row.reason),
        "url": url(viewer, page, row.target),
    }


def step(viewer: Viewer, job: Job, now: datetime) -> dict[str, Any]:
    """One step of a job: what it is about, how far it is, and whether it can be taken back."""
    kept = job.result or {}
    try:
        seed = parse_seed(kept.get("seed", {}))
    except BadSeed:
        seed = Seed()
    ident, days = show_id("job", job.id), viewer.policy().policy.retention.restore_days
    ended = job.status in ("done", "failed")
    fresh = now - job.created_at <= timedelta(days=days)
    undone, of, run = kept.get("undone_by", ""), kept.get("step", ""), kept.get("run", "")
    return {
        "id_text": ident,
        "url": url(viewer, "blast-step", ident),
        "undoes": job.kind != steps.HOLD,
        "seed": conditions(viewer, seed) if seed.given else [],
        "reach_url": url(viewer, "blast", **seed.as_text()) if seed.given else "",
        "reason": kept.get("reason", ""),
        "by": job.actor_name,
        "at": job.created_at,
        "status": job.status,
        "ended": ended,
        "ended_at": job.finished_at,
        "done": job.done,
        "total": job.total,
        "left": kept.get("left", 0),
        "left_named": [
            {"id_text": one, "url": url(viewer, "memory", one)} for one in kept.get("left_named", ())
        ],
        "undone_url": url(viewer, "blast-step", undone) if undone else "",
        "of_url": url(viewer, "blast-step", of) if of else url(viewer, "sweep", run) if run else "",
        "error": said(job.error),
        "can_undo": viewer.can("review") and job.kind == steps.HOLD and ended and fresh and not undone,
        "audit_url": url(viewer, "audit", request=ident),
    }
