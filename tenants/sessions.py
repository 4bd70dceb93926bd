"""Ending the sessions of a person, wherever they are open."""

from __future__ import annotations

from uuid import UUID

from allauth.usersessions.models import UserSession
from django.db.models import F

from tenants.models import User


def end_all(user_id: UUID) -> None:
    """No session of this person is good from now on, in any browser."""
    User.objects.filter(id=user_id).update(session_epoch=F("session_epoch") + 1)
    UserSession.objects.filter(user_id=user_id).delete()
