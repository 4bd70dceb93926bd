"""Invitations: one address, one role, one link that works once and ends by itself.

The link's secret is known at two moments only: when it is made, and when it is opened.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import translation
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from memgov import clock
from memory.clients import mail
from memory.domain.ids import show_id
from memory.services.access import ADMINS, denials_audited, require_role
from memory.services.accounts import language_of
from memory.services.errors import Conflict, Invalid, NotFound
from memory.services.members import may_give
from memory.services.people import address_of, person_sign_up
from memory.store import audit
from tenants import invitations, keys
from tenants.context import tenant_context
from tenants.models import Invitation, Membership, Tenant, User, new_handle
from tenants.principals import Principal

LASTS = timedelta(days=7)
MOST_MAILS_AN_HOUR = 60


@dataclass(frozen=True, slots=True)
class Sent:
    """An invitation whose link is on its way; `link` is for the page to show when no mail went out."""

    invitation: Invitation
    link: str
    mailed: bool


@dataclass(frozen=True, slots=True)
class Found:
    """What a link leads to.  `state` is open, accepted, revoked or expired."""

    tenant: Tenant
    invitation: Invitation
    state: str


@denials_audited
def invitation_create(actor: Principal, email: str, role: str) -> Sent:
    """Invite an address.  Raises `Invalid`, `Denied`, or `Conflict` for a member or one who is invited already."""
    require_role(actor, ADMINS, "invite members")
    may_give(actor, role)
    return invitation_send(*invitation_store(actor, email, role))


def invitation_store(actor: Principal, email: str, role: str) -> tuple[Invitation, str]:
    """Keep an invitation; it and its secret, to be sent when this is committed.  Rights are the caller's to ask."""
    address, now, secret = address_of(email), clock.now(), keys.new_secret()
    with tenant_context(actor.tenant_id):
        if Tenant.objects.filter(id=actor.tenant_id, is_demo=True).exists():
            # Its passwords are public: whoever tries it could make an account of anybody's address.
            raise Conflict("nobody is invited to a demo", code="demo", field="email")
        if Membership.objects.filter(email=address).exists():
            raise Conflict(f"{address} is a member already", code="already_member", field="email")
        _not_too_many(now)
        made = Invitation(
            email=address, role=role, secret_hash=keys.hash_secret(secret), invited_by=actor.name,
            created_at=now, sent_at=now, expires_at=now + LASTS,
        )  # fmt: skip
        try:
            with transaction.atomic():
                made.save()
        except IntegrityError:
            said = f"{address} is invited already; send that invitation again, or take it back"
            raise Conflict(said, code="already_invited", field="email") from None
        audit.append(actor, [_event("invitation.created", made, after={"role": role})], now)
    return made, secret


@denials_audited
def invitation_resend(actor: Principal, invitation_id: UUID) -> Sent:
    """A new link for an open invitation, good for another week; the link before no longer works."""
    require_role(actor, ADMINS, "invite members")
    now, secret = clock.now(), keys.new_secret()
    with tenant_context(actor.tenant_id):
        row = _open(invitation_id)
        may_give(actor, row.role)
        _not_too_many(now)
        row.secret_hash, row.prefix, row.mailed = keys.hash_secret(secret), new_handle(), False
        row.sent_at, row.expires_at = now, now + LASTS
        row.save()
        audit.append(actor, [_event("invitation.resent", row)], now)
    return invitation_send(row, secret)


@denials_audited
def invitation_revoke(actor: Principal, invitation_id: UUID) -> Invitation:
    """Take an open invitation back: its link says so from now on."""
    require_role(actor, ADMINS, "invite members")
    now = clock.now()
    with tenant_context(actor.tenant_id):
        row = _open(invitation_id)
        row.revoked_at = now
        row.save()
        audit.append(actor, [_event("invitation.revoked", row)], now)
    return row


def invitation_find(token: str) -> Found:
    """What the link leads to.  `NotFound` alike for unknown, wrong and suspended: only its holder learns more."""
    parts = invitations.parse(token)
    tenant = (
        Tenant.objects.filter(handle=parts.handle, status=Tenant.Status.ACTIVE).first() if parts else None
    )
    if parts is None or tenant is None:
        raise NotFound("this invitation is not known")
    with tenant_context(tenant.id):
        row: Invitation | None = Invitation.objects.filter(prefix=parts.prefix).first()
    if not keys.matches(parts.secret, bytes(row.secret_hash) if row else None):
        raise NotFound("this invitation is not known")
    assert row is not None  # or it would not have matched
    return Found(tenant, row, state_of(row, clock.now()))


def state_of(row: Invitation, now: datetime) -> str:
    """open, accepted, revoked or expired."""
    if row.accepted_at is not None:
        return "accepted"
    if row.revoked_at is not None:
        return "revoked"
    return "expired" if row.expires_at <= now else "open"


def invitation_accept(token: str, user: User) -> Tenant:
    """Make the signed-in person a member.  `Conflict` when the link is used up or meant for another address."""
    found = invitation_find(token)
    if user.email != found.invitation.email:
        said = f"this invitation is for {found.invitation.email}, and you are signed in as {user.email}"
        raise Conflict(said, code="other_address")
    with tenant_context(found.tenant.id):
        _admit(_claimed(found), user)
    return found.tenant


def invitation_sign_up(token: str, name: str, password: str) -> User:
    """Make an account for the invited address and a member of it, in one step or not at all.

    Raises `Invalid` for the name or password, `Conflict` when the link is used up or the address has an account.
    """
    found = invitation_find(token)
    try:
        with tenant_context(found.tenant.id):
            row = _claimed(found)
            user = person_sign_up(row.email, name, password, verified=row.mailed)
            _admit(row, user)
    except IntegrityError:
        raise Conflict(
            "there is an account with this address; sign in to accept", code="has_account"
        ) from None
    return user


def _claimed(found: Found) -> Invitation:
    """The invitation, locked, if it is still open under this link."""
    row: Invitation | None = (
        Invitation.objects.select_for_update()
        .filter(id=found.invitation.id, prefix=found.invitation.prefix)
        .first()
    )
    if row is None or state_of(row, clock.now()) != "open":
        raise Conflict("this invitation was used or taken back meanwhile", code="invitation_ended")
    return row


def _admit(row: Invitation, user: User) -> None:
    """Use the invitation up.  Who is a member already keeps their role."""
    now = clock.now()
    row.accepted_at = now
    row.save()
    actor = Principal(row.tenant_id, "member", f"usr_{user.id.hex}", str(user), row.role)
    events = [_event("invitation.accepted", row)]
    if not Membership.objects.filter(user_id=user.id).exists():
        member = Membership(user_id=user.id, email=user.email, name=user.name, role=row.role, created_at=now)
        member.save()
        shown = show_id("mbr", member.id)
        events.append(audit.Event("member.added", "member", shown, after={"role": row.role}))
    audit.append(actor, events, now)


def _open(invitation_id: UUID) -> Invitation:
    row: Invitation | None = Invitation.objects.select_for_update().filter(id=invitation_id).first()
    if row is None:
        raise NotFound("there is no such invitation")
    if row.accepted_at is not None or row.revoked_at is not None:
        raise Conflict("this invitation was used or taken back meanwhile", code="invitation_ended")
    return row


def _not_too_many(now: datetime) -> None:
    """A member's address book is not for us to mail through."""
    if Invitation.objects.filter(sent_at__gt=now - timedelta(hours=1)).count() >= MOST_MAILS_AN_HOUR:
        said = f"at most {MOST_MAILS_AN_HOUR} invitations leave in an hour; nothing was sent, try again later"
        raise Invalid(said, code="too_many_invitations", field="email")


def invitation_send(row: Invitation, secret: str) -> Sent:
    """Mail the link, after the commit: what was not stored is never promised."""
    tenant = Tenant.objects.get(id=row.tenant_id)
    link = f"{settings.PUBLIC_URL}/invite/{invitations.compose(tenant.handle, row.prefix, secret)}/"
    with translation.override(language_of(row.email)):
        subject, text = _mail(row, tenant.name, link)
    # A demo is anybody's: nobody gets mail from it.
    mailed = not tenant.is_demo and mail.send(row.email, subject, text)
    if mailed:
        with tenant_context(row.tenant_id):
            Invitation.objects.filter(id=row.id, prefix=row.prefix).update(mailed=True)
    return Sent(row, link, mailed)


def _mail(row: Invitation, tenant: str, link: str) -> tuple[str, str]:
    """Subject and text."""
    roles = {"owner": _("Owner"), "admin": _("Admin"), "reviewer": _("Reviewer"), "auditor": _("Auditor")}
    named = {
        "who": row.invited_by,
        "tenant": tenant,
        "role": roles.get(row.role, row.role),
        "until": date_format(row.expires_at.astimezone(UTC), pgettext("date format", "j F Y, H:i")),
    }
    lines = (
        _("%(who)s invites you to %(tenant)s on memgov, in the role %(role)s.") % named,
        _("Open this link to accept. It works once, until %(until)s UTC:") % named,
        link,
        _("If you did not expect this, do nothing: without the link nothing happens."),
    )
    return _("Invitation to %(tenant)s") % named, "\n\n".join(lines) + "\n"


def _event(action: str, row: Invitation, **more: object) -> audit.Event:
    return audit.Event(action, "invitation", show_id("inv", row.id), **more)  # type: ignore[arg-type]
