"""Versions of the tenant's policy, and drafts."""

from __future__ import annotations

from uuid import UUID

from memory.models import Job, PolicyDraft, PolicyVersion

MOST = 50
PREVIEW = "policy.preview"


def versions() -> list[PolicyVersion]:
    """The last versions, newest first, without their documents."""
    return list(PolicyVersion.objects.defer("document").order_by("-number")[:MOST])


def version(number: int | None) -> PolicyVersion | None:
    """One version; None asks for the one in force."""
    rows = (
        PolicyVersion.objects.filter(active=True)
        if number is None
        else PolicyVersion.objects.filter(number=number)
    )
    row: PolicyVersion | None = rows.first()
    return row


def before(number: int) -> PolicyVersion | None:
    """The version before this one."""
    row: PolicyVersion | None = PolicyVersion.objects.filter(number__lt=number).order_by("-number").first()
    return row


def drafts() -> list[PolicyDraft]:
    """All drafts, the latest saved first, without their documents."""
    return list(PolicyDraft.objects.defer("document", "history").order_by("-updated_at", "-id"))


def draft(draft_id: UUID) -> PolicyDraft | None:
    """One draft."""
    row: PolicyDraft | None = PolicyDraft.objects.filter(id=draft_id).first()
    return row


def preview(job_id: UUID) -> Job | None:
    """One preview, whatever became of it."""
    row: Job | None = Job.objects.filter(id=job_id, kind=PREVIEW).first()
    return row


def previews_of(draft: str) -> list[Job]:
    """The last previews of a draft, by its shown id, the latest first."""
    return list(Job.objects.filter(kind=PREVIEW, result__draft=draft).order_by("-id")[:5])
