"""An alert as a mail: a subject and a few plain lines, in the language of whoever reads it."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _

from memory.models import AlertDelivery
from memory.services.said import said


def _event(event: str) -> str:
    return {"worse": _("worse:"), "ended": _("over:"), "test": _("test:")}.get(event, "")


def _severity(severity: str) -> str:
    return {"warning": _("warning"), "critical": _("critical")}.get(severity, severity)


def subject_line(delivery: AlertDelivery) -> str:
    """One line, without line breaks whatever a scope is called."""
    data = delivery.body["data"]
    text = f"[memgov {data['tenant']}] {_event(delivery.event)} {said(data['message'])}"
    return " ".join(text.split())[:180]


def mail_text(delivery: AlertDelivery) -> str:
    """What happened, since when, and where to look."""
    data = delivery.body["data"]
    return "\n".join([said(data["message"]), "", *_facts(data), "", *_ways(data, delivery.body["id"])]) + "\n"


def _facts(data: dict[str, Any]) -> list[str]:
    named = (
        (_("Severity"), _severity(data["severity"])),
        (_("Tenant"), data["tenant"]),
        (_("Scope"), data.get("scope")),
        (_("Since"), data.get("opened_at")),
        (_("Until"), data.get("ended_at")),
    )
    return [f"{name}: {value}" for name, value in named if value]


def _ways(data: dict[str, Any], message_id: str) -> list[str]:
    return [
        _("Look, acknowledge or snooze: %(url)s") % {"url": data["url"]},
        _("Message %(id)s") % {"id": message_id},
    ]
