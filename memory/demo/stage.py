"""Loading the demo, whole or not at all, and taking it away again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from django.db import connections

from memgov import clock
from memory.demo.cast import CASTS, PASSWORD, ROLES, Cast
from memory.demo.play import Play
from memory.services import tenancy
from memory.services.tenant_purge import tenant_purge, tenant_tables
from tenants.context import tenant_context
from tenants.models import Agent, Tenant, User
from tenants.principals import system

_ANALYSE_AFTER = (3, 12, 40)


@dataclass(frozen=True, slots=True)
class SignIn:
    """How to enter a demo tenant as one of its people."""

    tenant: str
    role: str
    email: str
    password: str


def is_loaded(cast: Cast) -> bool:
    """Whether this tenant's history was lived to its end: it is suspended until then."""
    return Tenant.objects.filter(slug=cast.slug, is_demo=True, status=Tenant.Status.ACTIVE).exists()


def sign_ins() -> list[SignIn]:
    """The demo people of every demo tenant."""
    return [SignIn(cast.slug, role, cast.address(role), PASSWORD) for cast in CASTS for role in ROLES]


def shown_sign_ins() -> list[dict[str, str]]:
    """What the sign-in page offers while demo tenants are there: {email, password, tenant, role} of each person."""
    loaded = {cast.slug: cast for cast in CASTS if is_loaded(cast)}
    return [
        {
            "email": entry.email,
            "password": entry.password,
            "tenant": loaded[entry.tenant].name.removesuffix(" (demo)"),
            "role": entry.role,
        }
        for entry in sign_ins()
        if entry.tenant in loaded
    ]


def load(cast: Cast, progress: Callable[[int], None] = lambda day: None) -> Tenant:
    """Live one tenant's 90 days, ending a little before now.

    A half-lived one (an interrupted load) is taken away first, so a second load always ends whole.
    """
    remove(cast)
    users = {role: _person(cast, role) for role in ROLES}
    end = clock.now() - timedelta(minutes=20)

    def one_more(day: int) -> None:
        if day in _ANALYSE_AFTER:
            _analyse()
        progress(day)

    tenant = Play(cast, users, end).run(one_more)
    Tenant.objects.filter(id=tenant.id).update(status=Tenant.Status.ACTIVE)
    return tenant


def _analyse() -> None:
    """Tell the planner how much there is by now: ninety days pass faster than autovacuum looks."""
    with connections["owner"].cursor() as cursor:
        for table in tenant_tables():
            cursor.execute(f"ANALYZE {table}")


def remove(cast: Cast) -> bool:
    """Delete a demo tenant with everything in it and its people; False when there is none.

    Runs as the owner's role: the app's own role may never delete from the audit.
    """
    tenant = Tenant.objects.filter(slug=cast.slug, is_demo=True).first()
    User.objects.filter(email__in=[cast.address(role) for role in ROLES]).delete()
    if tenant is None:
        return False
    tenant_purge(tenant)
    return True


def new_key(cast: Cast) -> str:
    """A key of the tenant's first agent, for the newcomer's curl."""
    tenant = Tenant.objects.get(slug=cast.slug)
    with tenant_context(tenant.id):
        agent = Agent.objects.get(name=cast.players[0].name)
    return tenancy.key_create(system(tenant.id, "demo.load"), agent, name="for trying out").text


def _person(cast: Cast, role: str) -> User:
    return User.objects.create_user(
        cast.address(role), PASSWORD, name=f"{cast.name.split()[0]} demo {role}", date_joined=clock.now()
    )
