"""What goes on beside a request: who else looks, what was asked, what was put off, and until when one could."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, time, timedelta
from typing import Any

from django.core.cache import cache
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memgov import clock
from memory.domain.ids import show_id
from memory.models import PromotionNote, PromotionRequest
from memory.pages.access import Viewer, zone_of
from memory.pages.answers import url

# Somebody who opened a request within this time is said to be looking at it.
LOOKING_SECONDS = 90
MORNING = time(9, 0)
SNOOZES = (
    ("later", gettext_lazy("For three hours")),
    ("tomorrow", gettext_lazy("Until tomorrow at 9:00")),
    ("monday", gettext_lazy("Until Monday at 9:00")),
)
_SAID = {
    "snooze": gettext_lazy("put it off"),
    "question": gettext_lazy("asked the proposer"),
    "answer": gettext_lazy("answered"),
}


def until(viewer: Viewer, choice: str, now: datetime) -> datetime | None:
    """The moment that a choice means, by the clock on the viewer's wall; None for no choice of ours."""
    if choice == "later":
        return now + timedelta(hours=3)
    here = now.astimezone(zone_of(viewer))
    days = {"tomorrow": 1, "monday": 7 - here.weekday()}.get(choice)
    return datetime.combine(here.date() + timedelta(days=days), MORNING, zone_of(viewer)) if days else None


def talk(viewer: Viewer, request: PromotionRequest, notes: Sequence[PromotionNote]) -> dict[str, Any]:
    """Questions with their answers, the viewer's own snooze, and who else has it open."""
    now, shown = clock.now(), show_id("prm", request.id)
    pending = request.status == "pending"
    said = [
        {"by": note.actor_name, "at": note.at, "text": note.text, "kind": note.kind}
        for note in reversed(notes)
        if note.kind != "snooze"
    ]
    off = next((note for note in notes if _holds(note, viewer, now)), None)
    waits = bool(said) and said[-1]["kind"] == "question"
    return {
        "talk": said,
        "snoozed_until": off.until if off else None,
        "snoozes": SNOOZES if pending and viewer.can("review") else (),
        "can_ask": pending and viewer.can("review") and request.proposer_id != viewer.principal.id,
        "can_answer": pending and waits and request.proposer_id == viewer.principal.id,
        "snooze_url": url(viewer, "promotion-snooze", shown),
        "ask_url": url(viewer, "promotion-ask", shown),
        "looking": looking(viewer, request) if pending else [],
    }


def _holds(note: PromotionNote, viewer: Viewer, now: datetime) -> bool:
    mine = note.kind == "snooze" and note.actor_id == viewer.principal.id and note.ended_at is None
    return mine and note.until is not None and note.until > now


def events(viewer: Viewer, notes: Sequence[PromotionNote]) -> list[dict[str, Any]]:
    """The notes as lines of the history; snoozes are their author's business alone."""
    return [
        {
            "at": note.at,
            "actor": note.actor_name,
            "text": f"{_SAID[note.kind]}: {note.text}" if note.text else str(_SAID[note.kind]),
            "tone": "",
            "url": "",
        }
        for note in notes
        if note.kind != "snooze" or note.actor_id == viewer.principal.id
    ]


def looking(viewer: Viewer, request: PromotionRequest) -> list[str]:
    """Who else opened it a moment ago; notes that the viewer did.  Without the cache nobody is shown."""
    key = f"looking:{viewer.tenant.id.hex}:{request.id.hex}"
    now = clock.now().timestamp()
    seen: dict[str, tuple[str, float]] = cache.get(key) or {}
    seen = {who: row for who, row in seen.items() if now - row[1] < LOOKING_SECONDS}
    others = [name for who, (name, _at) in seen.items() if who != viewer.principal.id]
    if viewer.can("review"):
        seen[viewer.principal.id] = (str(viewer.user), now)
        cache.set(key, seen, LOOKING_SECONDS)
    return sorted(others)


def unknown_choice() -> str:
    """What is said when no moment was chosen."""
    return _("Choose until when.")
