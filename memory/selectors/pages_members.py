"""Members of the current tenant, when they were last there, and who is invited."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from tenants.models import Invitation, Membership, User

MOST = 500


def members() -> list[Membership]:
    """Members by address."""
    return list(Membership.objects.order_by("email")[:MOST])


def member(member_id: UUID) -> Membership | None:
    """One member."""
    row: Membership | None = Membership.objects.filter(id=member_id).first()
    return row


def open_invitations() -> list[Invitation]:
    """Invitations that wait for an answer, or waited in vain; the latest first."""
    return list(Invitation.objects.filter(accepted_at=None, revoked_at=None).order_by("-sent_at")[:MOST])


def last_seen(ids: Sequence[UUID]) -> dict[UUID, datetime]:
    """When these people signed in last."""
    rows = User.objects.filter(id__in=ids, last_login__isnull=False).values_list("id", "last_login")
    return {one: at for one, at in rows if at is not None}


def saved_views_of(user_id: UUID) -> list[dict[str, str]]:
    """What a member keeps as views of the queues."""
    rows = Membership.objects.filter(user_id=user_id).values_list("saved_views", flat=True)
    return list(rows.first() or [])
