"""An erasure as the templates show it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_lazy

from memory.domain.ids import show_id
from memory.models import AuditEvent, Job
from memory.pages.access import Viewer
from memory.pages.answers import url
from memory.pages.deletion_shapes import row
from memory.pages.wording import plain
from memory.services.erasure import SAMPLE, ErasureLook, ErasureWish
from memory.services.said import said

_WHY = {
    "subject": gettext_lazy("about the subject"),
    "scope": gettext_lazy("free text in the subject's own scope"),
    "picked": gettext_lazy("picked, of others"),
    "derived": gettext_lazy("derived from these"),
    "mixed": gettext_lazy("derived from these and from others"),
}
_TABLES = {
    "memory_memory": gettext_lazy("memories"),
    "memory_revision": gettext_lazy("earlier versions"),
    "memory_index": gettext_lazy("rows of the search index"),
    "memory_writedecision": gettext_lazy("decisions on writes"),
    "memory_manifest": gettext_lazy("reads"),
    "memory_manifestentry": gettext_lazy("entries of reads"),
    "memory_promotionrequest": gettext_lazy("promotion requests"),
    "memory_promotiondecision": gettext_lazy("decisions on promotions"),
    "memory_promotionnote": gettext_lazy("questions and answers"),
    "memory_contradiction": gettext_lazy("contradictions"),
    "memory_mountentry": gettext_lazy("entries of mounts"),
    "memory_sampleitem": gettext_lazy("judgements of the sample"),
    "memory_subjectalias": gettext_lazy("aliases"),
    "memory_workingvalue": gettext_lazy("working values"),
    "memory_workrun": gettext_lazy("results of tasks"),
    "memory_job": gettext_lazy("waiting or finished work"),
    "memory_idempotencykey": gettext_lazy("answers kept for repeated requests"),
    "memory_alert": gettext_lazy("alerts"),
    "memory_alertdelivery": gettext_lazy("messages of alerts"),
    "memory_sweeprun": gettext_lazy("notes of sweeps"),
    "tenants_membership": gettext_lazy("saved views"),
    "files": gettext_lazy("files of imports and exports"),
    "transfers": gettext_lazy("imports and exports that were stopped"),
}


def counts(found: Mapping[str, int]) -> list[dict[str, Any]]:
    """Rows by table, in words."""
    return [
        {"what": str(_TABLES.get(table, plain(table))), "count": rows}
        for table, rows in found.items()
        if rows
    ]


def reasons(found: Mapping[str, int]) -> list[dict[str, Any]]:
    """Memories by why they go, in words."""
    return [{"what": str(_WHY.get(why, plain(why))), "count": count} for why, count in found.items()]


def look(viewer: Viewer, wish: ErasureWish, seen: ErasureLook) -> dict[str, Any]:
    """What would go, and the form that asks for it."""
    picked = {show_id("mem", one) for one in wish.along}
    mentions = [row(viewer, one) for one in seen.mentions]
    return {
        "subject": wish.subject,
        "words": "\n".join(wish.words),
        "names": list(seen.names),
        "going": seen.going,
        "why": reasons(seen.why),
        "tables": counts(seen.tables),
        "items": [row(viewer, one) for one in seen.sample],
        "mentions": [one | {"picked": one["id_text"] in picked} for one in mentions],
        "mentioned": seen.mentioned,
        "in_audit": seen.in_audit,
        "most": SAMPLE,
        "seal": seen.seal,
        "reason": wish.reason,
    }


def step(viewer: Viewer, job: Job) -> dict[str, Any]:
    """One erasure that has begun."""
    told, ident = job.result or {}, show_id("job", job.id)
    return {
        "id_text": ident,
        "url": url(viewer, "erasure", ident),
        "hash": told.get("subject_hash", ""),
        "reason": told.get("reason", ""),
        "by": job.actor_name,
        "at": job.created_at,
        "status": job.status,
        "ended": job.status in ("done", "failed", "cancelled"),
        "done": job.done,
        "total": job.total,
        "error": said(job.error),
        "audit_url": url(viewer, "audit", request=ident),
    }


def past(viewer: Viewer, event: AuditEvent) -> dict[str, Any]:
    """One finished erasure, as the audit holds it."""
    told, ident = event.after or {}, event.request_id
    return {
        "id_text": ident,
        "url": url(viewer, "erasure", ident),
        "receipt_url": url(viewer, "erasure-receipt", ident),
        "audit_url": url(viewer, "audit", request=ident),
        "hash": event.target_id,
        "reason": event.reason,
        "by": event.actor_name,
        "at": event.at,
        "entries": told.get("entries", 0),
        "why": reasons(told.get("why", {})),
        "tables": counts(told.get("tables", {})),
        "stays": told.get("stays", {}).get("memory_auditevent", 0),
    }
