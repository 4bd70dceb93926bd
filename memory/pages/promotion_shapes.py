"""Promotion requests as the templates show them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memgov import clock
from memory.domain.ids import show_id
from memory.domain.scopes import parse_scope
from memory.models import Memory, PromotionDecision, PromotionRequest
from memory.pages import promotion_talk_shapes as talk
from memory.pages.access import Viewer
from memory.pages.answers import url
from memory.pages.audit_words import action_text
from memory.pages.queue import Asked, Rows
from memory.pages.wording import plain, signals
from memory.selectors import pages_promotions as found
from memory.selectors.pages_manifests import kept_since
from memory.selectors.pages_reach import agents_with_rights, readers_of
from memory.selectors.pages_traces import manifests_with
from memory.services.promotion_decide import UNDO_FOR
from memory.services.promotion_take_back import can_be_taken_back
from memory.services.said import said

READERS_SHOWN = 20
_TRIGGERS = {
    "user_confirmation": gettext_lazy("A user confirmed it."),
    "reproductions": gettext_lazy("Enough independent sessions learned it."),
    "uses": gettext_lazy("Agents used it often enough."),
}


def _why(reason: str) -> str:
    return said(reason) if " " in reason else plain(reason)


def rows(viewer: Viewer, asked: Asked) -> Rows:
    """One page of the queue."""
    page = found.queue(asked.view, asked.q, viewer.principal.id, asked.cursor, asked.sort or "new")
    floor = viewer.policy().policy.promotion.auto_approve_min_trust
    items = [_row(viewer, row, floor) for row in page.rows]
    cut = found.is_cut(asked.view, asked.q, viewer.principal.id, asked.sort or "new")
    return Rows(items, [row.id for row in page.rows], page.next, cut)


def _row(viewer: Viewer, row: found.Waiting, floor: float) -> dict[str, Any]:
    return {
        "id_text": show_id("prm", row.id),
        "value": row.content,
        "agent": row.proposer_name,
        "from_scope": row.from_scope,
        "to_scope": row.to_scope,
        "asked_at": row.created_at,
        "trust": row.trust,
        "trust_low": row.trust < floor,
        "conflict": row.clashes,
        "risk": row.risk,
        "mine": row.proposer_id == viewer.principal.id,
        "status": row.status,
    }


def detail(viewer: Viewer, request_id: UUID) -> dict[str, Any] | None:
    """Everything about one request; None when there is no such request."""
    row = found.request_with_notes(request_id)
    if row is None:
        return None
    request, notes = row
    memory = Memory.objects.get(id=request.memory_id)
    decisions = found.decisions_on(request.id)
    pending = request.status == "pending"
    known = found.known_in(memory, found.target_of(request)) if pending else []
    return {
        "id_text": show_id("prm", request.id),
        "value": memory.content,
        "status": request.status,
        "risk": request.risk,
        "version": request.version,
        "asked_at": request.created_at,
        "agent": request.proposer_name,
        "memory_id_text": show_id("mem", memory.id),
        "memory_url": url(viewer, "memory", show_id("mem", memory.id)),
        "subject": memory.subject,
        "predicate": memory.predicate,
        "ask": request.reason or _TRIGGERS.get(request.trigger, ""),
        "flags": [{"label": _why(why), "tone": "warn"} for why in request.risk_reasons] if pending else [],
        "signals": signals(memory.findings),
        "from_scope": request.from_scope,
        "to_scope": request.to_scope,
        "reach": _reach(request),
        "known": [_known(viewer, met) for met in known],
        "history": sorted(
            [*_history(request, decisions), *talk.events(viewer, notes)],
            key=lambda event: event["at"],
            reverse=True,
        ),
        "agent_url": _proposer_url(viewer, request),
        "similar": _similar(viewer, request, memory),
        **talk.talk(viewer, request, notes),
        **_evidence(viewer, request, memory),
        **_provenance(memory),
        **_decision(viewer, request, decisions, bool(known)),
    }


def _proposer_url(viewer: Viewer, request: PromotionRequest) -> str:
    return url(viewer, "agent", request.proposer_id) if request.proposer_kind == "agent" else ""


def _similar(viewer: Viewer, request: PromotionRequest, memory: Memory) -> list[dict[str, Any]]:
    """What was decided about the like before, by whom and why."""
    return [
        {
            "url": url(viewer, "promotion", show_id("prm", row.id)),
            "value": row.content or "",
            "status": row.status,
            "by": row.by or "",
            "at": row.decided_at,
            "reason": row.why or "",
        }
        for row in found.similar_decisions(request, memory)
    ]


def _reach(request: PromotionRequest) -> dict[str, Any]:
    """Who reads it now, who will, and who is new, by name."""
    agents = agents_with_rights()
    now = {one.id for one in readers_of(parse_scope(request.from_scope), agents)}
    then = readers_of(parse_scope(request.to_scope), agents)
    new = [one for one in then if one.id not in now]
    return {
        "before": len(now),
        "after": len({one.id for one in then}),
        "gain": len(new),
        "readers": [{"name": one.name, "count": None} for one in new[:READERS_SHOWN]],
        "more": max(0, len(new) - READERS_SHOWN),
    }


def _history(request: PromotionRequest, decisions: Sequence[PromotionDecision]) -> list[dict[str, Any]]:
    """Asked, decided, taken back: newest first."""
    events = [_event(request.created_at, request.proposer_name, "promotion.requested", request.reason)]
    for one in decisions:
        tone = {"approve": "ok", "reject": "bad", "quarantine": "bad"}.get(one.action, "")
        events.append(_event(one.at, one.actor_name, _EVENTS.get(one.action, one.action), one.reason, tone))
        if one.undone_at is not None:
            back = one.undo.get("taken_back", {})
            who, why = back.get("by", one.actor_name), back.get("reason", "")
            events.append(_event(one.undone_at, who, "promotion.reopened", why))
    return sorted(events, key=lambda event: event["at"], reverse=True)


_EVENTS = {
    "approve": "promotion.approved",
    "reject": "promotion.rejected",
    "quarantine": "promotion.quarantined",
}


def _event(at: datetime, actor: str, action: str, reason: str, tone: str = "") -> dict[str, Any]:
    text = f"{action_text(action)}: {reason}" if reason else action_text(action)
    return {"at": at, "actor": actor, "text": text, "tone": tone, "url": ""}


def _known(viewer: Viewer, met: found.Met) -> dict[str, Any]:
    memory = met.memory
    return {
        "id_text": show_id("mem", memory.id),
        "url": url(viewer, "memory", show_id("mem", memory.id)),
        "relation": met.relation,
        "scope": memory.scope,
        "value": memory.content,
        "source": memory.agent_name,
        "recorded_at": memory.recorded_at,
        "trust": memory.trust,
        "uses": memory.use_count,
    }


def _evidence(viewer: Viewer, request: PromotionRequest, memory: Memory) -> dict[str, Any]:
    rules = viewer.policy().policy.for_scope(found.target_of(request)).promotion
    given, total = manifests_with(memory.id, kept_since(viewer.policy().policy, clock.now()), limit=5)
    return {
        "evidence": {
            "reproductions": memory.reproductions,
            "needed": rules.trigger_reproductions,
            "uses": memory.use_count,
            "trust": memory.trust,
            "trust_needed": rules.auto_approve_min_trust,
        },
        "sessions": [
            {
                "id_text": row.session or "–",
                "url": url(viewer, "manifests", session=row.session) if row.session else "",
                "at": row.at,
                "agent": row.agent_name,
                "confirmed": row.outcome != "echo",
            }
            for row in found.sightings(memory.id)
        ],
        "manifests": [
            {
                "id_text": show_id("man", one.manifest_id),
                "url": url(viewer, "manifest", show_id("man", one.manifest_id)),
                "at": one.at,
                "agent": one.agent,
                "session": one.session,
                "used": one.used,
            }
            for one in given
        ],
        "manifests_total": total,
        "manifests_url": url(viewer, "manifests", memory=show_id("mem", memory.id)),
    }


def _provenance(memory: Memory) -> dict[str, Any]:
    return {
        "provenance": {
            "origin": plain(memory.origin),
            "agent": memory.agent_name,
            "tool": memory.tool,
            "session": memory.session,
            "confidence": memory.confidence,
            "recorded_at": memory.recorded_at,
            "learned_at": memory.learned_at,
        }
    }


def _decision(
    viewer: Viewer, request: PromotionRequest, decisions: Sequence[PromotionDecision], met: bool
) -> dict[str, Any]:
    """What the viewer may do with it, and why not."""
    me, pending = viewer.principal.id, request.status == "pending"
    standing = [one for one in decisions if one.action == "approve" and one.undone_at is None]
    blocked = ""
    if request.proposer_id == me:
        blocked = _("You proposed this, so another reviewer has to approve it. You can still reject it.")
    elif any(one.actor_id == me for one in standing):
        blocked = _("You have approved this already; it waits for another reviewer.")
    back = found.undoable(request, decisions, me, clock.now() - UNDO_FOR) if viewer.can("review") else None
    late = can_be_taken_back(viewer.principal, request, decisions) if viewer.can("review") else None
    return {
        "need_reason": request.risk == "high",
        "can_decide": pending and viewer.can("review"),
        "blocked": blocked,
        "approvals": {"have": len(standing), "need": request.approvals_needed}
        if pending and request.approvals_needed > 1
        else None,
        "undo_url": url(viewer, "promotion-undo", back.id.hex) if back else "",
        "take_back_url": url(viewer, "promotion-take-back", late.id.hex) if late and not back else "",
    }
