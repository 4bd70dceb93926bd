"""The settings of a tenant, and its end: asked for by name, called off until its day, then final."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import available_timezones

from memgov import clock
from memory.domain.ids import show_id
from memory.models import PolicyVersion
from memory.selectors.policies import active_policy
from memory.services.access import ADMINS, OWNERS, denials_audited, require_role
from memory.services.errors import Conflict, Invalid
from memory.services.policies import policy_activate
from memory.store import audit
from tenants.context import tenant_context
from tenants.models import Tenant
from tenants.principals import Principal

GRACE = timedelta(days=14)


def zone_checked(name: str) -> str:
    """The name of a time zone of the IANA database.  Raises `Invalid`."""
    if name not in available_timezones():
        raise Invalid(
            f"there is no time zone {name[:64]!r}; use a name such as Europe/Vienna", field="time_zone"
        )
    return name


@denials_audited
def tenant_change(actor: Principal, name: str, time_zone: str) -> Tenant:
    """Give the tenant another name or zone.  Its address stays: links and keys go on working."""
    require_role(actor, ADMINS, "change the settings")
    name = " ".join(name.split())
    if not name or len(name) > 200:
        raise Invalid("give the tenant a name of 1 to 200 characters", field="name")
    zone = zone_checked(time_zone)
    with tenant_context(actor.tenant_id):
        tenant = _locked(actor)
        before = {"name": tenant.name, "time_zone": tenant.time_zone}
        after = {"name": name, "time_zone": zone}
        if before != after:
            Tenant.objects.filter(id=tenant.id).update(**after)
            _told(actor, "tenant.settings_changed", before=before, after=after)
    return Tenant.objects.get(id=actor.tenant_id)


def tenant_rules_change(
    actor: Principal, changed: Mapping[str, Mapping[str, Any]], reason: str, expected: int
) -> PolicyVersion:
    """Put numbers of the policy (``{"retention": {"manifest_days": 90}}``) in place, as a new version.

    One source: what this page sets is what the policy says.  Raises as `policy_activate`.
    """
    with tenant_context(actor.tenant_id):
        document = active_policy().policy.model_dump(mode="json")
    for section, values in changed.items():
        document[section] = document[section] | dict(values)
    return policy_activate(actor, document, reason, expected=expected)


@denials_audited
def tenant_delete_ask(actor: Principal, typed: str) -> Tenant:
    """Have the tenant deleted after `GRACE`, if its name was typed as it is.  Until then all goes on as it was."""
    require_role(actor, OWNERS, "delete the tenant")
    now = clock.now()
    with tenant_context(actor.tenant_id):
        tenant = _locked(actor)
        if typed.strip() != tenant.name:
            raise Invalid("this is not the name of the tenant; nothing was changed", field="typed")
        if tenant.deletes_at is None:
            ends = now + GRACE
            Tenant.objects.filter(id=tenant.id).update(deletes_at=ends, deletion_asked_by=actor.name)
            _told(actor, "tenant.deletion_asked", after={"deletes_at": ends.isoformat()})
    return Tenant.objects.get(id=actor.tenant_id)


@denials_audited
def tenant_delete_call_off(actor: Principal) -> Tenant:
    """Keep the tenant after all.  Raises `Conflict` when there is nothing to call off."""
    require_role(actor, OWNERS, "keep the tenant")
    with tenant_context(actor.tenant_id):
        tenant = _locked(actor)
        # A visitor's demo ends by itself: nobody asked for that, and nobody may keep it.
        lent = tenant.is_demo and not tenant.deletion_asked_by
        if tenant.deletes_at is None or lent or tenant.status != Tenant.Status.ACTIVE:
            raise Conflict(
                "no deletion was asked for, it was called off already, or it has begun", code="not_ending"
            )
        Tenant.objects.filter(id=tenant.id).update(deletes_at=None, deletion_asked_by="")
        _told(actor, "tenant.deletion_called_off", before={"deletes_at": tenant.deletes_at.isoformat()})
    return Tenant.objects.get(id=actor.tenant_id)


def tenants_due(now: datetime) -> list[Tenant]:
    """Tenants whose day has come."""
    return list(Tenant.objects.filter(deletes_at__lte=now).order_by("id"))


def _locked(actor: Principal) -> Tenant:
    return Tenant.objects.select_for_update().get(id=actor.tenant_id)


def _told(actor: Principal, action: str, **more: Any) -> None:
    event = audit.Event(action, "tenant", show_id("ten", actor.tenant_id), **more)
    audit.append(actor, [event], clock.now())
