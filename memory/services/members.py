"""Who may change whose role: owners make owners, nobody changes their own role, one owner always stays."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from memgov import clock
from memory.domain.ids import parse_id, show_id
from memory.models import AuditEvent
from memory.selectors.pages_people import tenants_of
from memory.services.access import ADMINS, denials_audited, require_role
from memory.services.errors import Conflict, Denied, Invalid, NotFound
from memory.store import audit
from tenants.context import tenant_context
from tenants.models import Invitation, Membership, Role
from tenants.principals import Principal
from tenants.sessions import end_all


def may_give(actor: Principal, role: str) -> None:
    """Refuse a role that does not exist, and the owner's to all but owners."""
    if role not in Role.values:
        raise Invalid("choose one of the roles", field="role")
    if role == Role.OWNER and actor.kind == "member" and actor.role != Role.OWNER:
        raise Denied(
            "only an owner makes or changes an owner; nothing was changed",
            code="role_denied",
            verb="manage owners",
            target=actor.id,
            target_kind="member",
        )


@denials_audited
def member_role_set(actor: Principal, member_id: UUID, role: str) -> Membership:
    """Give a member another role; the same role changes nothing.

    Raises `NotFound`, `Denied` for a role above the actor's, `Conflict` for the actor's own role or the last owner's.
    """
    require_role(actor, ADMINS, "manage members")
    may_give(actor, role)
    now = clock.now()
    with tenant_context(actor.tenant_id):
        member = _locked(actor, member_id, keeps_owner=role == Role.OWNER)
        if member.role == role:
            return member
        before = {"role": member.role}
        member.role = role
        member.save()
        shown = show_id("mbr", member.id)
        event = audit.Event("member.role_changed", "member", shown, before=before, after={"role": role})
        audit.append(actor, [event, *(_uninvited(member, now) if role != Role.OWNER else ())], now)
    return member


@denials_audited
def member_remove(actor: Principal, member_id: UUID) -> Membership:
    """Take a person out of the tenant.  Their pages close at once, and so do their sessions unless another tenant
    is theirs still: then only this one is gone from them.

    Raises `NotFound`, `Denied` for an owner by an admin, `Conflict` for the actor itself or the last owner.
    """
    require_role(actor, ADMINS, "manage members")
    now = clock.now()
    with tenant_context(actor.tenant_id):
        member = _locked(actor, member_id, keeps_owner=False)
        Membership.objects.filter(id=member.id).delete()
        shown = show_id("mbr", member.id)
        event = audit.Event("member.removed", "member", shown, before={"role": member.role})
        audit.append(actor, [event, *_uninvited(member, now)], now)
    if not tenants_of(member.user_id):
        end_all(member.user_id)
    return member


def _uninvited(member: Membership, now: datetime) -> list[audit.Event]:
    """Take back what this person invited and nobody accepted: a link must not outlive the right to send it."""
    sent = AuditEvent.objects.filter(
        actor_id=f"usr_{member.user_id.hex}", action__in=("invitation.created", "invitation.resent")
    ).values_list("target_id", flat=True)
    rows = Invitation.objects.select_for_update().filter(
        id__in=[parse_id("inv", target) for target in sent], accepted_at=None, revoked_at=None
    )
    events = []
    for row in rows.order_by("id"):
        Invitation.objects.filter(id=row.id).update(revoked_at=now)
        why = "whoever sent it left or has another role"
        events.append(audit.Event("invitation.revoked", "invitation", show_id("inv", row.id), reason=why))
    return events


def _locked(actor: Principal, member_id: UUID, *, keeps_owner: bool) -> Membership:
    """The member, with all owners locked in the order of their ids, if the actor may change them."""
    owners = list(Membership.objects.select_for_update().filter(role=Role.OWNER).order_by("id"))
    member: Membership | None = Membership.objects.select_for_update().filter(id=member_id).first()
    if member is None:
        raise NotFound("there is no such member")
    if actor.id == f"usr_{member.user_id.hex}":
        raise Conflict("nobody changes their own role; ask another owner or admin", code="own_role")
    if member.role == Role.OWNER:
        may_give(actor, Role.OWNER)
        if not keeps_owner and len(owners) < 2:
            raise Conflict("a tenant keeps at least one owner", code="last_owner")
    return member
