"""Members of the current tenant, and when they were last there."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from tenants.models import Membership, User

MOST = 500


def members() -> list[Membership]:
    """Members by role and name."""
    return list(Membership.objects.order_by("email")[:MOST])


def last_seen(ids: Sequence[UUID]) -> dict[UUID, datetime]:
    """When these people signed in last."""
    rows = User.objects.filter(id__in=ids, last_login__isnull=False).values_list("id", "last_login")
    return {one: at for one, at in rows if at is not None}
