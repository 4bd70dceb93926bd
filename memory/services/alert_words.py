"""An alert as a mail: a subject and a few plain lines."""

from __future__ import annotations

from memory.models import AlertDelivery

_EVENTS = {"opened": "", "worse": "worse: ", "ended": "over: ", "test": "test: "}


def subject_line(delivery: AlertDelivery) -> str:
    """One line, without line breaks whatever a scope is called."""
    data = delivery.body["data"]
    text = f"[memgov {data['tenant']}] {_EVENTS[delivery.event]}{data['message']}"
    return " ".join(text.split())[:180]


def mail_text(delivery: AlertDelivery) -> str:
    """What happened, since when, and where to look."""
    data = delivery.body["data"]
    lines = [
        data["message"],
        "",
        f"Severity: {data['severity']}",
        f"Tenant: {data['tenant']}",
        *([f"Scope: {data['scope']}"] if data.get("scope") else []),
        *([f"Since: {data['opened_at']}"] if data.get("opened_at") else []),
        *([f"Until: {data['ended_at']}"] if data.get("ended_at") else []),
        "",
        f"Look, acknowledge or snooze: {data['url']}",
        f"Message {delivery.body['id']}",
    ]
    return "\n".join(lines) + "\n"
