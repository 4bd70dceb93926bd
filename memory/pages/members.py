"""Members: who decides in this tenant, in which role."""

from __future__ import annotations

from typing import Any

from allauth.mfa.models import Authenticator
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from memory.pages.access import Viewer, role_label, tenant_page
from memory.pages.answers import SeeOther, answer, flash, raise_or_deny, sentence, url
from memory.pages.forms import MemberForm
from memory.selectors import pages_members as found
from memory.services.errors import Conflict, Denied, Invalid, NotFound, ServiceError
from memory.services.members import member_set
from tenants.context import tenant_context
from tenants.models import Role


@tenant_page("members", write="admin")
def index(request: HttpRequest, viewer: Viewer) -> HttpResponse:
    """The list; POST adds a person or changes a role."""
    is_owner = viewer.tenant.role == Role.OWNER
    form = MemberForm(request.POST if request.method == "POST" else None, owner=is_owner)
    if request.method == "POST" and form.is_valid():
        try:
            member_set(viewer.principal, form.cleaned_data["email"], form.cleaned_data["role"])
        except (Conflict, Invalid, NotFound) as error:
            form.add_error("email", sentence(error))
        except Denied as error:
            form.add_error("role", sentence(error))
        except ServiceError as error:
            return raise_or_deny(error)
        else:
            flash(request, _("Saved. The role holds from the next page on."))
            return SeeOther(url(viewer, "members"))
    with tenant_context(viewer.tenant.id):
        context = {
            "items": _items(viewer),
            "pager": None,
            "form": form if viewer.can("admin") else None,
            "invite_url": url(viewer, "members"),
            "roles": _roles(),
        }
        return answer(request, "pages/members.html", context, 422 if form.errors else 200)


def _items(viewer: Viewer) -> list[dict[str, Any]]:
    rows = found.members()
    ids = [row.user_id for row in rows]
    secured = set(
        Authenticator.objects.filter(user_id__in=ids, type="totp").values_list("user_id", flat=True)
    )
    seen = found.last_seen(ids)
    return [
        {
            "email": row.email,
            "name": row.name,
            "role": row.role,
            "role_label": role_label(row.role),
            "status": "active",
            "joined_at": row.created_at,
            "last_seen_at": seen.get(row.user_id),
            "mfa": row.user_id in secured,
            "you": row.user_id == viewer.user.id,
        }
        for row in rows
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
