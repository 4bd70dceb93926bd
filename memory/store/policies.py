"""Writing policy versions and drafts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db.models import Max

from memgov.ids import new_id
from memory.models import PolicyDraft, PolicyVersion
from tenants.context import current_tenant_id

_KEPT: Final = 20
"""Earlier versions of a draft that are kept."""


def lock() -> None:
    """Let one activation at a time through: they all hold the tenant's first version, which never goes."""
    PolicyVersion.objects.select_for_update().order_by("number").first()


def activate(
    document: dict[str, Any], changes: Sequence[str], reason: str, actor: str, now: datetime
) -> PolicyVersion:
    """Make the document the next version and the only active one.  Call under `lock`."""
    last = PolicyVersion.objects.aggregate(last=Max("number"))["last"] or 0
    PolicyVersion.objects.filter(active=True).update(active=False)
    version = PolicyVersion(
        tenant_id=current_tenant_id(), id=new_id(now), number=last + 1, document=document, active=True,
        reason=reason[:500], changes=list(changes), created_by=actor, created_at=now, activated_at=now,
    )  # fmt: skip
    PolicyVersion.objects.bulk_create([version])
    return version


def insert_draft(
    name: str, document: Mapping[str, Any], based_on: int, actor: str, now: datetime
) -> PolicyDraft:
    """A new draft."""
    draft = PolicyDraft(
        tenant_id=current_tenant_id(), id=new_id(now), name=name, document=dict(document), based_on=based_on,
        created_by=actor, created_at=now, updated_by=actor, updated_at=now,
    )  # fmt: skip
    PolicyDraft.objects.bulk_create([draft])
    return draft


def lock_draft(draft_id: UUID) -> PolicyDraft | None:
    """The draft, locked."""
    draft: PolicyDraft | None = PolicyDraft.objects.select_for_update().filter(id=draft_id).first()
    return draft


def save_draft(draft: PolicyDraft, document: Mapping[str, Any], actor: str, now: datetime) -> None:
    """The draft's next version; the present one goes into its history.  Call with the draft locked."""
    was = {
        "version": draft.version, "document": draft.document, "by": draft.updated_by,
        "at": draft.updated_at.isoformat(),
    }  # fmt: skip
    draft.history = [*draft.history, was][-_KEPT:]
    draft.document, draft.version = dict(document), draft.version + 1
    draft.updated_by, draft.updated_at = actor, now
    PolicyDraft.objects.filter(id=draft.id).update(
        document=draft.document, version=draft.version, history=draft.history, updated_by=actor,
        updated_at=now,
    )  # fmt: skip


def delete_draft(draft_id: UUID) -> None:
    """Take a draft away: it was activated or discarded."""
    PolicyDraft.objects.filter(id=draft_id).delete()
