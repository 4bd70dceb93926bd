"""Members: who decides in this tenant, in which role, and who is invited.  The link of an invitation is shown only
where no mail went out, in the answer to the request that made it."""

from __future__ import annotations

from typing import Any

from allauth.mfa.models import Authenticator
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from memgov import clock
from memory.domain.ids import show_id
from memory.pages.access import Viewer, role_label, tenant_page
from memory.pages.answers import SeeOther, answer, flash, flash_error, raise_or_deny, row_id, sentence, url
from memory.pages.forms import InviteForm, role_choices
from memory.selectors import pages_members as found
from memory.services import invitations
from memory.services.errors import Conflict, Denied, Invalid, ServiceError
from memory.services.invitations import Sent, state_of
from memory.services.members import member_remove, member_role_set
from tenants.context import tenant_context
from tenants.models import Membership, Role


@tenant_page("members", write="admin")
def index(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """The lists; POST invites someone."""
    if request.method != "POST":
        return _page(request, viewer)
    form = InviteForm(request.POST, owner=_is_owner(viewer))
    if form.is_valid():
        try:
            sent = invitations.invitation_create(
                viewer.principal, form.cleaned_data["email"], form.cleaned_data["role"]
            )
        except (Conflict, Invalid) as error:
            form.add_error(error.field if error.field in form.fields else None, sentence(error))
        except Denied as error:
            form.add_error("role", sentence(error))
        else:
            return _sent(request, viewer, sent)
    return _page(request, viewer, form=form, status=422)


@tenant_page("members", read=None, write="admin")
def role(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """Give a member another role."""
    try:
        member_role_set(viewer.principal, row_id("mbr", item), request.POST.get("role", ""))
    except (Conflict, Invalid) as error:
        return _page(
            request, viewer, error=sentence(error), status=error.status if error.status == 409 else 422
        )
    except ServiceError as error:
        return raise_or_deny(error)
    flash(request, _("Saved. The role holds from the next page on."))
    return SeeOther(url(viewer, "members"))


@tenant_page("members", read="admin", write="admin")
def remove(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """Ask, then take a person out."""
    with tenant_context(viewer.tenant.id):
        member = found.member(row_id("mbr", item))
    if member is None:
        raise Http404
    if request.method == "POST":
        try:
            member_remove(viewer.principal, member.id)
        except Conflict as error:
            return _page(request, viewer, error=sentence(error), status=409)
        except ServiceError as error:
            return raise_or_deny(error)
        flash(request, _("Removed. Their pages are closed from now on."))
        return SeeOther(url(viewer, "members"))
    with tenant_context(viewer.tenant.id):
        context = {
            "m": {"id_text": item, "name": member.name or member.email, "role_label": role_label(member.role)}
        }
        return answer(request, "pages/members_remove.html", context)


@tenant_page("members", read=None, write="admin")
def resend(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """Send a new link; the one before no longer works."""
    try:
        sent = invitations.invitation_resend(viewer.principal, row_id("inv", item))
    except (Conflict, Invalid) as error:
        return _page(
            request, viewer, error=sentence(error), status=error.status if error.status == 409 else 422
        )
    except ServiceError as error:
        return raise_or_deny(error)
    return _sent(request, viewer, sent)


@tenant_page("members", read=None, write="admin")
def revoke(request: HttpRequest, viewer: Viewer, item: str) -> HttpResponse:
    """Take an invitation back."""
    try:
        invitations.invitation_revoke(viewer.principal, row_id("inv", item))
    except Conflict as error:
        return _page(request, viewer, error=sentence(error), status=409)
    except ServiceError as error:
        return raise_or_deny(error)
    flash(request, _("Taken back. Its link no longer works."))
    return SeeOther(url(viewer, "members"))


def _sent(request: HttpRequest, viewer: Viewer, sent: Sent) -> HttpResponse:
    if sent.mailed:
        flash(request, _("Sent to %(email)s.") % {"email": sent.invitation.email})
        return SeeOther(url(viewer, "members"))
    flash_error(request, _("Invited, but no mail went out: hand the link over yourself."))
    return _page(request, viewer, link=sent.link, link_for=sent.invitation.email)


def _page(
    request: HttpRequest, viewer: Viewer, *, form: InviteForm | None = None, status: int = 200, **more: Any
) -> HttpResponse:
    manages = viewer.can("admin")
    with tenant_context(viewer.tenant.id):
        context = {
            "items": _members(viewer),
            "invitations": _invitations() if manages else [],
            "form": (form or InviteForm(owner=_is_owner(viewer))) if manages else None,
            "choices": role_choices(_is_owner(viewer)),
            "roles": _roles(),
            "error": "",
            "link": "",
            **more,
        }
        return answer(request, "pages/members.html", context, status)


def _is_owner(viewer: Viewer) -> bool:
    return viewer.tenant.role == Role.OWNER


def _members(viewer: Viewer) -> list[dict[str, Any]]:
    rows = found.members()
    ids = [row.user_id for row in rows]
    secured = set(
        Authenticator.objects.filter(user_id__in=ids, type__in=("totp", "webauthn")).values_list(
            "user_id", flat=True
        )
    )
    seen = found.last_seen(ids)
    return [
        {
            "id_text": show_id("mbr", row.id),
            "email": row.email,
            "name": row.name,
            "role": row.role,
            "role_label": role_label(row.role),
            "status": "active",
            "joined_at": row.created_at,
            "last_seen_at": seen.get(row.user_id),
            "mfa": row.user_id in secured,
            "you": row.user_id == viewer.user.id,
            "can_change": _may_change(viewer, row),
        }
        for row in rows
    ]


def _may_change(viewer: Viewer, row: Membership) -> bool:
    """Whether the row has controls; the service decides again."""
    own = row.user_id == viewer.user.id
    return viewer.can("admin") and not own and (_is_owner(viewer) or row.role != Role.OWNER)


def _invitations() -> list[dict[str, Any]]:
    now = clock.now()
    return [
        {
            "id_text": show_id("inv", row.id),
            "email": row.email,
            "role_label": role_label(row.role),
            "status": "invited" if state_of(row, now) == "open" else "lapsed",
            "sent_at": row.sent_at,
            "expires_at": row.expires_at,
            "mailed": row.mailed,
        }
        for row in found.open_invitations()
    ]


def _roles() -> list[dict[str, str]]:
    return [
        {"name": _("Owner"), "what": _("Everything, and deleting the tenant.")},
        {"name": _("Admin"), "what": _("Members, agents, keys, policies, and all decisions.")},
        {
            "name": _("Reviewer"),
            "what": _("Decides on promotions, contradictions, quarantine and evictions."),
        },
        {"name": _("Auditor"), "what": _("Reads everything, changes nothing.")},
    ]
