"""Audit log: who did what, when and why, whether the chain holds, and an export."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from memory.domain.ids import show_id
from memory.models import AuditEvent
from memory.pages.access import Viewer, tenant_page
from memory.pages.answers import SeeOther, answer, flash, flash_error, url
from memory.pages.audit_words import action_text, actor_text
from memory.pages.queue import LONGEST_SEARCH
from memory.pages.wording import plain, plain_reason, upper_first, value_words
from memory.selectors import pages_audit as found
from memory.selectors.pages_audit import Sought
from memory.services.said import said
from memory.services.sweeps.chain import sweep_chain
from tenants.context import tenant_context

_FILTERS = ("q", "action", "actor", "since", "until", "request")
_PAGES = {
    "memory": "memory",
    "promotion": "promotion",
    "contradiction": "contradiction",
    "manifest": "manifest",
    "agent": "agent",
    "mount": "mount",
}
_COLUMNS = (
    "seq", "at", "actor_kind", "actor_id", "actor_name", "action", "target_kind", "target_id", "scope", "reason",
    "before", "after", "policy_version", "request_id", "hash",
)  # fmt: skip


def _sought(request: HttpRequest) -> Sought:
    given = {
        name: request.GET.get(name, "").replace("\x00", "").strip()[:LONGEST_SEARCH] for name in _FILTERS
    }
    return Sought(**given)


@tenant_page("audit")
def index(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """One page of events."""
    sought = _sought(request)
    with tenant_context(viewer.tenant.id):
        shown = found.page(sought, _number(request, "below"), _number(request, "above"))
        context = {
            "items": [_row(viewer, event) for event in shown.rows],
            "pager": _pager(viewer, sought, shown),
            "filters": asdict(sought),
            "filtered": sought.filtered,
            "options": {
                "actions": _actions(),
                "actors": _actors(),
            },
            "chain": found.chain_state(),
            "can_verify": viewer.can("review"),
            "csv_url": url(viewer, "audit-csv", **asdict(sought)),
        }
        return answer(request, "pages/audit/index.html", context)


def _actions() -> list[dict[str, str]]:
    """What occurs, in the order of its words."""
    rows = [{"value": one, "label": upper_first(action_text(one))} for one in found.actions()]
    return sorted(rows, key=lambda row: row["label"].casefold())


def _actors() -> list[dict[str, str]]:
    """Who occurs; the product's own parts have their name for an id."""
    rows = [
        {"value": one, "label": actor_text(name) if one == name else name} for one, name in found.actors()
    ]
    return sorted(rows, key=lambda row: row["label"].casefold())


def _number(request: HttpRequest, name: str) -> int | None:
    text = request.GET.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def _pager(viewer: Viewer, sought: Sought, shown: found.Shown) -> dict[str, Any]:
    kept = {name: value for name, value in asdict(sought).items() if value}

    def link(**place: int | None) -> str:
        given = {name: number for name, number in place.items() if number is not None}
        return f"{url(viewer, 'audit')}?{urlencode({**kept, **given})}" if given else ""

    return {
        "previous_url": link(above=shown.newer),
        "next_url": link(below=shown.older),
        "shown": len(shown.rows),
        "total": None,
    }


def _row(viewer: Viewer, event: AuditEvent) -> dict[str, Any]:
    page = _PAGES.get(event.target_kind)
    return {
        "id_text": show_id("evt", event.id),
        "at": event.at,
        "actor": actor_text(event.actor_name, event.actor_kind),
        "actor_kind": event.actor_kind,
        "action": event.action,
        "did": action_text(event.action),
        "target_label": event.target_id,
        "target_url": url(viewer, page, event.target_id) if page and event.target_id else "",
        "blast_url": _blast_url(viewer, event),
        "scope": event.scope,
        "reason": plain_reason(event.reason),
        "request_id": event.request_id,
        "policy_version": event.policy_version,
        "changes": _changes(event),
        "hash": bytes(event.hash).hex(),
        "denied": event.action == "access.denied",
    }


_SEEDS = {"memory": "memory", "agent": "agent", "key": "key"}


def _blast_url(viewer: Viewer, event: AuditEvent) -> str:
    """How far the target got, or else the agent that acted."""
    name = _SEEDS.get(event.target_kind)
    if name and event.target_id[:4] in ("mem_", "agt_", "key_"):
        return url(viewer, "blast", **{name: event.target_id})
    return url(viewer, "blast", agent=event.actor_id) if event.actor_id.startswith("agt_") else ""


def _changes(event: AuditEvent) -> list[dict[str, str]]:
    before, after = event.before or {}, event.after or {}
    return [
        {
            "field": plain(name),
            "before": _value(name, before.get(name)),
            "after": _value(name, after.get(name)),
        }
        for name in dict.fromkeys([*before, *after])
    ]


def _value(field: str, value: Any) -> str:
    if value is None or value == "":
        return ""
    return value_words(field, value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@tenant_page("audit", read=None, write="review")
def verify(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """Walk the chain now."""
    run = sweep_chain(viewer.tenant.id)
    if run.status == "failed":
        flash_error(request, _("The chain is broken. %(note)s") % {"note": said(run.note)})
    else:
        flash(request, _("The chain holds: %(n)d events checked.") % {"n": run.scanned})
    return SeeOther(url(viewer, "audit"))


class _Line:
    """A file for the csv writer that hands back each line."""

    def write(self, line: str) -> str:
        return line


@tenant_page("audit")
def export(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """The events that match, as a table for a spreadsheet that must run none of it."""
    with tenant_context(viewer.tenant.id):
        body = "".join(_lines(_sought(request)))
    response = HttpResponse(body, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="audit-{viewer.tenant.slug}.csv"'
    return response


def _lines(sought: Sought) -> Iterator[str]:
    writer = csv.writer(_Line())
    yield writer.writerow(_COLUMNS)
    for event in found.exported(sought):
        yield writer.writerow([inert_cell(_cell(event, name)) for name in _COLUMNS])


def _cell(event: AuditEvent, name: str) -> str:
    value = getattr(event, name)
    if name == "hash":
        return bytes(value).hex()
    if name == "at":
        return str(value.isoformat())
    return _value("", value)


def inert_cell(text: str) -> str:
    """A cell that no spreadsheet takes for a formula: a quote before what would start one."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r", "\n") else text
