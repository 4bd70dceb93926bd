"""Words, tones and icons of every state a page can show.

One table, so a state looks the same wherever it appears: icon, word and colour together, never colour
alone. It holds no markup (see `memgov_ui`) and no rule about when a state applies (see `memory.domain`).
"""

from typing import NamedTuple

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


class Look(NamedTuple):
    """How a state is drawn. `tone` is one of ok, warn, bad, info or "" (neutral)."""

    tone: str
    icon: str
    label: str | Promise


STATUS = {
    "candidate": Look("info", "clock", _("Held for review")),
    "live": Look("ok", "circle-check", _("Live")),
    "contested": Look("warn", "git-merge", _("Contested")),
    "quarantined": Look("bad", "shield-x", _("Quarantined")),
    "superseded": Look("", "history", _("Superseded")),
    "merged": Look("", "git-merge", _("Merged")),
    "archived": Look("", "archive", _("Archived")),
    "evicted": Look("warn", "archive", _("Evicted")),
    "expired": Look("", "hourglass", _("Expired")),
    "deleted": Look("bad", "trash", _("Deleted")),
    "erased": Look("bad", "eraser", _("Erased")),
}
BAND = {
    "fresh": Look("ok", "leaf", _("Fresh")),
    "aging": Look("warn", "hourglass", _("Aging")),
    "outdated": Look("bad", "clock-x", _("Outdated")),
}
RISK = {
    "low": Look("", "shield-check", _("Low risk")),
    "medium": Look("info", "info-circle", _("Medium risk")),
    "high": Look("bad", "alert-triangle", _("High risk")),
}
PROMOTION = {
    "pending": Look("info", "clock", _("Pending")),
    "stale": Look("warn", "refresh", _("Changed since asked")),
    "approved": Look("ok", "check", _("Approved")),
    "merged": Look("ok", "git-merge", _("Approved and merged")),
    "rejected": Look("bad", "x", _("Rejected")),
    "quarantined": Look("bad", "shield-x", _("Quarantined")),
    "withdrawn": Look("", "arrow-back-up", _("Withdrawn")),
    "undone": Look("", "arrow-back-up", _("Undone")),
}
CONTRADICTION = {
    "open": Look("warn", "git-merge", _("Open")),
    "settled": Look("ok", "check", _("Settled")),
}
METRIC = {
    "ok": Look("ok", "circle-check", _("In range")),
    "warn": Look("warn", "alert-triangle", _("Watch")),
    "bad": Look("bad", "circle-x", _("Breach")),
    "info": Look("info", "info-circle", _("No threshold")),
    "nodata": Look("info", "help-circle", _("No data")),
}
KEY = {
    "active": Look("ok", "key", _("Active")),
    "rotating": Look("warn", "refresh", _("Rotating")),
    "expired": Look("", "clock-x", _("Expired")),
    "revoked": Look("bad", "ban", _("Revoked")),
}
AGENT = {
    "active": Look("ok", "circle-check", _("Active")),
    "paused": Look("warn", "player-pause", _("Paused")),
}
MEMBER = {
    "active": Look("ok", "circle-check", _("Active")),
    "invited": Look("info", "mail", _("Invited")),
    "lapsed": Look("", "clock-x", _("Invitation ended")),
    "removed": Look("", "ban", _("Removed")),
}
TENANT = {
    "active": Look("ok", "circle-check", _("Open")),
    "suspended": Look("bad", "lock", _("Suspended")),
}
POLICY = {
    "active": Look("ok", "circle-check", _("Active")),
    "draft": Look("info", "pencil", _("Draft")),
    "retired": Look("", "history", _("Retired")),
}
RUN = {
    "running": Look("info", "clock", _("Running")),
    "done": Look("ok", "circle-check", _("Done")),
    "stopped": Look("warn", "alert-triangle", _("Stopped, waits for a person")),
    "failed": Look("bad", "circle-x", _("Failed")),
}
CHAIN = {
    "ok": Look("ok", "shield-check", _("Chain verified")),
    "broken": Look("bad", "alert-triangle", _("Chain broken")),
    "unknown": Look("info", "help-circle", _("Not verified yet")),
}
VERDICT = {
    "used": Look("ok", "check", _("Used")),
    "ignored": Look("", "x", _("Ignored")),
    "harmful": Look("bad", "alert-triangle", _("Did harm")),
    "": Look("", "", _("Not reported")),
}
JUDGED = {
    "right": Look("ok", "check", _("Right")),
    "wrong": Look("bad", "x", _("Wrong")),
    "unsure": Look("info", "help-circle", _("Unsure")),
}
ALERT = {
    "warning": Look("warn", "alert-triangle", _("Warning")),
    "critical": Look("bad", "circle-x", _("Critical")),
}
DELIVERY = {
    "waiting": Look("info", "clock", _("Waiting")),
    "sent": Look("ok", "check", _("Sent")),
    "dead": Look("bad", "x", _("Given up")),
}

TRANSFER = {
    "queued": Look("info", "clock", _("Waiting")),
    "running": Look("info", "clock", _("Running")),
    "done": Look("ok", "circle-check", _("Done")),
    "failed": Look("bad", "circle-x", _("Failed")),
    "cancelled": Look("", "ban", _("Stopped")),
}

FAMILIES: dict[str, dict[str, Look]] = {
    "status": STATUS,
    "band": BAND,
    "risk": RISK,
    "promotion": PROMOTION,
    "contradiction": CONTRADICTION,
    "metric": METRIC,
    "key": KEY,
    "agent": AGENT,
    "member": MEMBER,
    "tenant": TENANT,
    "policy": POLICY,
    "run": RUN,
    "chain": CHAIN,
    "verdict": VERDICT,
    "judged": JUDGED,
    "alert": ALERT,
    "delivery": DELIVERY,
    "transfer": TRANSFER,
}


def look_of(family: str, value: str) -> Look:
    """The look of one state. An unknown value is shown in plain words: a page must not fail for it."""
    known = FAMILIES[family].get(str(value))
    return known or Look("", "", str(value).replace("_", " ").capitalize())
