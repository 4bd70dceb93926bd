"""Who may change whose role: owners make owners, nobody changes their own role, one owner always stays."""

from __future__ import annotations

from memgov import clock
from memory.domain.ids import show_id
from memory.services.access import ADMINS, denials_audited, require_role
from memory.services.errors import Conflict, Denied, Invalid, NotFound
from memory.store import audit
from tenants.context import tenant_context
from tenants.models import Membership, Role, User
from tenants.principals import Principal


@denials_audited
def member_set(actor: Principal, email: str, role: str) -> Membership:
    """Give a person who has an account this role in the actor's tenant.

    Raises `NotFound` when nobody has the address, `Denied` for a role above the actor's, `Conflict` when it is
    the actor's own role or the last owner's.
    """
    require_role(actor, ADMINS, "manage members")
    if role not in Role.values:
        raise Invalid("choose one of the roles", field="role")
    now = clock.now()
    user = User.objects.filter(email=email.strip().lower(), is_active=True).first()
    if user is None:
        raise NotFound("nobody has an account with this address yet; ask an operator to create it")
    with tenant_context(actor.tenant_id):
        owners = list(Membership.objects.select_for_update().filter(role=Role.OWNER).order_by("id"))
        member: Membership | None = Membership.objects.select_for_update().filter(user_id=user.id).first()
        _check(actor, user, member, role, owners)
        if member is not None and member.role == role:
            return member
        before = {"role": member.role} if member else None
        member = member or Membership(user_id=user.id, email=user.email, name=user.name, created_at=now)
        member.role = role
        member.save()
        action = "member.role_changed" if before else "member.added"
        event = audit.Event(action, "member", show_id("mbr", member.id), before=before, after={"role": role})
        audit.append(actor, [event], now)
    return member


def _check(
    actor: Principal, user: User, member: Membership | None, role: str, owners: list[Membership]
) -> None:
    if actor.id == f"usr_{user.id.hex}":
        raise Conflict("nobody changes their own role; ask another owner or admin", code="own_role")
    was_owner = member is not None and member.role == Role.OWNER
    if (role == Role.OWNER or was_owner) and actor.role != Role.OWNER:
        raise Denied(
            "only an owner makes or changes an owner; nothing was changed",
            code="role_denied",
            verb="manage owners",
            target=user.email,
            target_kind="member",
        )
    if was_owner and role != Role.OWNER and len(owners) < 2:
        raise Conflict("a tenant keeps at least one owner", code="last_owner")
