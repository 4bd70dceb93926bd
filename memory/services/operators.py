"""What an operator of the installation does: makes tenants, closes and opens them.  No memory is read here.

An operator is no member: the events in a tenant's audit name the kind ``operator``, which no member's service lets in.
"""

from __future__ import annotations

from django.db import transaction

from memgov import clock
from memory.domain.ids import show_id
from memory.services.access import reason_fits
from memory.services.errors import Denied, Invalid, NotFound
from memory.services.invitations import Sent, invitation_send, invitation_store
from memory.services.people import address_of
from memory.services.tenancy import tenant_create
from memory.store import audit
from tenants.context import tenant_context
from tenants.models import Role, Tenant, User
from tenants.principals import Principal


def operator_tenant_create(operator: User, slug: str, name: str, owner_email: str) -> Sent:
    """A new tenant, and the invitation of its owner: both or neither.  Raises `Invalid`, `Conflict`, `Denied`."""
    _is_operator(operator)
    address = address_of(owner_email)
    with transaction.atomic():
        tenant = tenant_create(slug, " ".join(name.split()))
        founder = Principal(tenant.id, "system", "ops.tenant_create", str(operator))
        stored = invitation_store(founder, address, Role.OWNER)
    return invitation_send(*stored)


def operator_tenant_suspend(operator: User, slug: str, suspended: bool, reason: str) -> Tenant:
    """Close a tenant to everybody, people, keys and sweeps alike, or open it again.  Its data stays as it is."""
    _is_operator(operator)
    if suspended and not reason.strip():
        raise Invalid("say why: the tenant's people read it in their audit", field="reason")
    tenant = Tenant.objects.filter(slug=slug).first()
    if tenant is None:
        raise NotFound("there is no such tenant")
    reason_fits(reason)
    wanted = Tenant.Status.SUSPENDED if suspended else Tenant.Status.ACTIVE
    with tenant_context(tenant.id):
        row = Tenant.objects.select_for_update().get(id=tenant.id)
        if row.status != wanted:
            Tenant.objects.filter(id=row.id).update(status=wanted)
            actor = Principal(tenant.id, "operator", f"usr_{operator.id.hex}", str(operator), "operator")
            action = "tenant.suspended" if suspended else "tenant.resumed"
            event = audit.Event(
                action, "tenant", show_id("ten", row.id), reason=reason.strip(),
                before={"status": row.status}, after={"status": wanted.value},
            )  # fmt: skip
            audit.append(actor, [event], clock.now())
    return Tenant.objects.get(id=tenant.id)


def _is_operator(user: User) -> None:
    if not user.is_operator or not user.is_active:
        raise Denied(
            "only an operator of the installation may do this; nothing was changed", code="role_denied"
        )
