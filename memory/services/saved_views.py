"""Views of a queue that a member gave a name: their own, in one tenant.  A preference, hence no audit event."""

from __future__ import annotations

from memory.services.errors import Conflict, Invalid, NotFound
from tenants.context import tenant_context
from tenants.models import Membership
from tenants.principals import Principal

MOST = 12
LONGEST_NAME = 40


def view_save(actor: Principal, queue: str, name: str, query: dict[str, str]) -> None:
    """Keep the query (view, q, sort) under a name; the same name again replaces it.  Raises `Invalid`, `Conflict`."""
    name = " ".join(name.replace("\x00", "").split())
    if not name or len(name) > LONGEST_NAME:
        raise Invalid(f"give the view a name of 1 to {LONGEST_NAME} characters", field="name")
    with tenant_context(actor.tenant_id):
        member = _mine(actor)
        others = [one for one in member.saved_views if (one["queue"], one["name"]) != (queue, name)]
        if len(others) >= MOST:
            raise Conflict(f"at most {MOST} views are kept; remove one first", code="too_many_views")
        views = [*others, {"queue": queue, "name": name, **query}]
        Membership.objects.filter(id=member.id).update(saved_views=views)


def view_drop(actor: Principal, queue: str, name: str) -> None:
    """Forget a view; one that is not there changes nothing."""
    with tenant_context(actor.tenant_id):
        member = _mine(actor)
        views = [one for one in member.saved_views if (one["queue"], one["name"]) != (queue, name)]
        Membership.objects.filter(id=member.id).update(saved_views=views)


def _mine(actor: Principal) -> Membership:
    member: Membership | None = (
        Membership.objects.select_for_update().filter(user_id=actor.id.removeprefix("usr_")).first()
    )
    if member is None:
        raise NotFound("you are no member of this tenant any more")
    return member
