"""Versions of the tenant's policy."""

from __future__ import annotations

from memory.models import PolicyVersion

MOST = 50


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
