"""The sessions of a person, and ending them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from allauth.usersessions.models import UserSession
from django.contrib.auth import update_session_auth_hash
from django.db.models import F
from django.http import HttpRequest

from tenants.models import User

MOST = 50


@dataclass(frozen=True, slots=True)
class Open:
    """A session of a person, as far as it helps to recognise it."""

    id: int
    browser: str
    address: str
    since: datetime
    seen_at: datetime
    present: bool


def open_of(request: HttpRequest, user: User) -> list[Open]:
    """The person's sessions that are still good, the present one first."""
    rows = UserSession.objects.purge_and_list(user)
    found = [
        Open(
            row.id, row.user_agent, row.ip, row.created_at, row.last_seen_at,
            row.session_key == request.session.session_key,
        )
        for row in rows
    ]  # fmt: skip
    return sorted(found, key=lambda one: (not one.present, -one.seen_at.timestamp()))[:MOST]


def end_one(user: User, session_id: int) -> bool:
    """End one session of this person; False when it is none of theirs, or over."""
    row = UserSession.objects.filter(user_id=user.id, id=session_id).first()
    if row is None:
        return False
    row.end()
    return True


def end_others(request: HttpRequest, user: User) -> None:
    """No session of this person is good from now on but the one that asks."""
    end_all(user.id)
    update_session_auth_hash(request, User.objects.get(id=user.id))
    UserSession.objects.create_from_request(request)


def end_all(user_id: UUID) -> None:
    """No session of this person is good from now on, in any browser."""
    User.objects.filter(id=user_id).update(session_epoch=F("session_epoch") + 1)
    UserSession.objects.filter(user_id=user_id).delete()
