"""A visitor's own copy of the demo: made on a click, filled by a worker, gone after a day.

Its visitor is a reviewer there: every decision can be tried, and nothing leaves the house, neither mail nor webhooks.
"""

from __future__ import annotations

import secrets
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Final
from uuid import UUID

from celery import current_app
from django.conf import settings
from django.db import transaction

from memgov import clock
from memory import schedule
from memory.demo.cast import QUILL, ROLES, Cast
from memory.demo.play import Play
from memory.services import tenancy
from memory.services.errors import Conflict, NotFound
from tenants.context import tenant_context
from tenants.models import Agent, Tenant, User

LASTS: Final = timedelta(hours=24)
DAYS: Final = 12
PREFIX: Final = "try-"
VISITOR: Final = "reviewer"


def sandbox_open() -> User:
    """A fresh copy for one visitor, which a worker fills; the visitor.  Raises `NotFound` where there are none to
    have, `Conflict` (`sandboxes_taken`) when all are taken."""
    most: int = settings.MEMGOV_DEMO_SANDBOXES
    if not most:
        raise NotFound("this installation offers no demo to try")
    slug = f"{PREFIX}{secrets.token_hex(6)}"
    cast = _cast(slug)
    with transaction.atomic():
        # Visitors who come at the same moment wait for one another on the oldest demo.
        list(Tenant.objects.select_for_update().filter(is_demo=True).order_by("id")[:1])
        if _taken() >= most:
            raise Conflict(f"all {most} demos are taken; one is free within a day", code="sandboxes_taken")
        with clock.moved_to(clock.now() - timedelta(days=DAYS)):
            tenant = tenancy.tenant_create(slug, cast.name, is_demo=True)
        Tenant.objects.filter(id=tenant.id).update(
            status=Tenant.Status.SUSPENDED, deletes_at=clock.now() + LASTS
        )
        people = {
            role: User.objects.create_user(cast.address(role), None, name=role.title()) for role in ROLES
        }
        send = partial(current_app.send_task, schedule.SANDBOX, [str(tenant.id)], expires=600)
        transaction.on_commit(send)
    return people[VISITOR]


def sandbox_fill(tenant_id: UUID) -> str:
    """Live its days and open it: filled, or left as it was (open, gone).  One that a killed worker left half lived is
    given up: its visitor starts another."""
    tenant = Tenant.objects.filter(id=tenant_id, slug__startswith=PREFIX, is_demo=True).first()
    if tenant is None or tenant.deletes_at is None or tenant.deletes_at <= clock.now():
        return "gone"
    if tenant.status == Tenant.Status.ACTIVE:
        return "open"
    with tenant_context(tenant.id):
        half_lived = Agent.objects.exists()
    if half_lived:
        Tenant.objects.filter(id=tenant.id).update(deletes_at=clock.now())
        return "given up"
    cast = _cast(tenant.slug)
    users = {role: User.objects.get(email=cast.address(role)) for role in ROLES}
    seed = secrets.randbelow(1_000_000)
    Play(cast, users, clock.now() - timedelta(minutes=5), seed, days=DAYS).run(tenant=tenant)
    # Unless it was given back meanwhile, or its time is over.
    mine = Tenant.objects.filter(id=tenant.id, deletes_at__gt=clock.now())
    return "filled" if mine.update(status=Tenant.Status.ACTIVE) else "gone"


def sandbox_of(user: User) -> Tenant | None:
    """The visitor's own copy while it is theirs, filled or not."""
    slug = user.email.partition("@")[2].removesuffix(".example")
    if not slug.startswith(PREFIX):
        return None
    return Tenant.objects.filter(slug=slug, is_demo=True, deletes_at__gt=clock.now()).first()


def sandbox_leave(user: User) -> None:
    """Give the visitor's copy back before its time."""
    tenant = sandbox_of(user)
    if tenant is not None:
        Tenant.objects.filter(id=tenant.id).update(deletes_at=clock.now(), status=Tenant.Status.SUSPENDED)


def _taken() -> int:
    """Copies that take room: until it is purged each does, also when its visitor gave it back."""
    return Tenant.objects.filter(is_demo=True, slug__startswith=PREFIX).count()


def _cast(slug: str) -> Cast:
    return replace(QUILL, slug=slug, name="Quillharbor Library (yours to try)")
