"""A person's own account: name, zone, shortcuts.  Outside any tenant, but their name stands in each of theirs."""

from __future__ import annotations

from memgov import clock
from memory.domain.ids import show_id
from memory.selectors.pages_people import Belonging, tenants_of
from memory.services.errors import Invalid
from memory.services.tenant_settings import zone_checked
from memory.store import audit
from tenants.context import tenant_context
from tenants.models import Membership, User
from tenants.principals import Principal


def account_change(user: User, *, name: str, time_zone: str, shortcuts: bool) -> User:
    """Save the account.  An empty zone means that of the browser.  Raises `Invalid`."""
    name = " ".join(name.split())
    if not name or len(name) > 200:
        raise Invalid("give a name of 1 to 200 characters", field="name")
    if time_zone:
        zone_checked(time_zone)
    if name != user.name:
        for tenant in tenants_of(user.id):
            _rename(user, tenant, name)
    # Last: whoever is stopped before this saves again, and what is missing is done then.
    User.objects.filter(id=user.id).update(name=name, time_zone=time_zone, shortcuts=shortcuts)
    return User.objects.get(id=user.id)


def _rename(user: User, tenant: Belonging, name: str) -> None:
    """Their name in one tenant; earlier events keep the name of their time."""
    actor = Principal(tenant.id, "member", f"usr_{user.id.hex}", name, tenant.role)
    with tenant_context(tenant.id):
        member = Membership.objects.select_for_update().filter(user_id=user.id).first()
        if member is None or member.name == name:
            return
        Membership.objects.filter(id=member.id).update(name=name)
        event = audit.Event(
            "member.renamed", "member", show_id("mbr", member.id),
            before={"name": member.name}, after={"name": name},
        )  # fmt: skip
        audit.append(actor, [event], clock.now())
