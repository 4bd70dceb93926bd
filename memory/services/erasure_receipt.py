"""The proof of an erasure: its audit event, which the chain holds, as a document with a hash."""

from __future__ import annotations

import hashlib
import json
from typing import Any
from uuid import UUID

from memory.domain.ids import show_id
from memory.models import AuditEvent
from memory.services.access import ADMINS, denials_audited, require_role
from memory.services.erasure_run import RECEIPT
from memory.services.errors import NotFound
from memory.store import audit
from tenants.context import tenant_context
from tenants.principals import Principal


def receipts(most: int = 100) -> list[AuditEvent]:
    """The events of finished erasures, the newest first.  Inside the tenant's context."""
    return list(AuditEvent.objects.filter(action=RECEIPT).order_by("-seq")[:most])


@denials_audited
def erasure_receipt(principal: Principal, job_id: UUID) -> dict[str, Any]:
    """The receipt of an erasure.  Raises `NotFound` while it has not ended, and `Denied`."""
    require_role(principal, ADMINS, "see the receipt of an erasure")
    with tenant_context(principal.tenant_id):
        rows = AuditEvent.objects.filter(action=RECEIPT, request_id=show_id("job", job_id))
        event: AuditEvent | None = rows.order_by("-seq").first()
    if event is None:
        raise NotFound("there is no receipt of such an erasure")
    return receipt_of(event)


def receipt_of(event: AuditEvent) -> dict[str, Any]:
    """The document.  `sha256` is of its other fields as JSON, names sorted, without spaces; `chain` says which event of
    the audit holds the same, so that an export of the audit proves it."""
    told = event.after or {}
    document: dict[str, Any] = {
        "type": "memgov.erasure-receipt", "version": 1, "subject_hash": event.target_id, "job": told.get("job"),
        "asked_at": told.get("asked_at"), "finished_at": event.at.isoformat(), "by": event.actor_name,
        "reason": event.reason, "entries": told.get("entries"), "why": told.get("why"), "tables": told.get("tables"),
        "stays": told.get("stays"), "policy_version": event.policy_version,
        "chain": {"event": show_id("evt", event.id), "seq": event.seq, "hash": bytes(event.hash).hex()},
    }  # fmt: skip
    canonical = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return {**document, "sha256": hashlib.sha256(canonical.encode()).hexdigest()}


def is_of(principal: Principal, receipt: dict[str, Any], subject: str) -> bool:
    """Whether a receipt is about this subject; only here can that be told, since the digest has the tenant's key."""
    with tenant_context(principal.tenant_id):
        return bool(receipt["subject_hash"] == audit.text_digest_of(subject))
