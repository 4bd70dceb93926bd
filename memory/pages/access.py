"""The one door of every page of a tenant: who is it, in which role, and may this role do this.

A partial is answered by the same view behind the same door.  What the door lets in is a `Viewer`; it opens no
tenant context, because a view that writes lets its service open one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext as _

from memory.selectors.pages_people import Belonging, tenants_of
from memory.selectors.policies import ActivePolicy, active_policy
from memory.services.access import ADMINS, OWNERS, REVIEWERS, denial_recorded
from memory.services.errors import Denied
from tenants.models import Role, User
from tenants.principals import Principal

Need = Literal["read", "review", "admin", "owner"]

_ROLES: dict[Need, frozenset[str]] = {
    "read": frozenset(Role.values),
    "review": REVIEWERS,
    "admin": ADMINS,
    "owner": OWNERS,
}
_LEAST: dict[Need, str] = {"read": "auditor", "review": "reviewer", "admin": "admin", "owner": "owner"}
View = Callable[..., HttpResponse]


@dataclass(frozen=True, slots=True)
class Viewer:
    """A person in one of their tenants."""

    user: User
    tenant: Belonging
    several: bool
    principal: Principal
    nav: str
    _kept: dict[str, ActivePolicy] = field(default_factory=dict)

    def policy(self) -> ActivePolicy:
        """The tenant's policy, asked once per request, inside the tenant context."""
        if "policy" not in self._kept:
            self._kept["policy"] = active_policy()
        return self._kept["policy"]

    def can(self, need: Need) -> bool:
        return self.tenant.role in _ROLES[need]


def role_label(role: str) -> str:
    """The name of a role for people."""
    names = {"owner": _("Owner"), "admin": _("Admin"), "reviewer": _("Reviewer"), "auditor": _("Auditor")}
    return names.get(role, role)


def tenant_page(nav: str, *, read: Need | None = "read", write: Need | None = None) -> Callable[[View], View]:
    """For views under ``/t/<slug>/``: `read` is what GET needs, `write` what POST needs (None: not answered).

    The view is called with (request, viewer, …).  A tenant that is not the person's own does not exist.
    """

    methods = {"GET": read, "HEAD": read, "POST": write}

    def behind_door(view: View) -> View:
        @wraps(view)
        def guarded(request: HttpRequest, slug: str, **ids: Any) -> HttpResponse:
            needed = methods.get(request.method or "")
            if needed is None:
                return uncached(HttpResponseNotAllowed([name for name, need in methods.items() if need]))
            if not request.user.is_authenticated:
                return uncached(_sign_in(request))
            viewer = _viewer(request, request.user, slug, nav)
            if not viewer.can(needed):
                return uncached(_refused(request, viewer, needed))
            request.viewer = viewer  # type: ignore[attr-defined]
            with timezone.override(zone_of(viewer)):
                return uncached(view(request, viewer, **ids))

        return guarded

    return behind_door


def zone_of(viewer: Viewer) -> ZoneInfo:
    """The zone that the viewer reads times in: their own, else their tenant's."""
    try:
        return ZoneInfo(viewer.user.time_zone or viewer.tenant.time_zone)
    except (ZoneInfoNotFoundError, ValueError):  # a zone that this machine's database no longer knows
        return ZoneInfo("UTC")


def uncached(response: HttpResponse) -> HttpResponse:
    """One URL, several answers, all of them private."""
    patch_vary_headers(response, ["HX-Request", "HX-Target", "Cookie"])
    response["Cache-Control"] = "no-store"
    return response


def denied_page(needed: str) -> HttpResponse:
    """The 403 page, naming the role that would do."""
    return HttpResponse(render_to_string("403.html", {"needed_role": needed}), status=403)


def _sign_in(request: HttpRequest) -> HttpResponse:
    """To the sign-in page; a partial is told instead, so that the form that was being filled in stays."""
    if request.headers.get("HX-Request"):
        return HttpResponse(status=403, headers={"X-Session-Ended": "1"})
    here = request.get_full_path() if request.method == "GET" else request.META.get("PATH_INFO", "/")
    return redirect_to_login(here)


def _viewer(request: HttpRequest, user: Any, slug: str, nav: str) -> Viewer:
    mine = tenants_of(user.id)
    tenant = next((one for one in mine if one.slug == slug), None)
    if tenant is None:
        raise Http404
    principal = Principal(
        tenant_id=tenant.id,
        kind="member",
        id=f"usr_{user.id.hex}",
        name=str(user),
        role=tenant.role,
        request_id=getattr(request, "request_id", ""),
    )
    return Viewer(user, tenant, len(mine) > 1, principal, nav)


def _refused(request: HttpRequest, viewer: Viewer, needed: Need) -> HttpResponse:
    """Refused by role; an attempt to change something is recorded like every other denial."""
    if request.method == "POST":
        detail = f"the role {viewer.tenant.role} may not post to {viewer.nav}; nothing was changed"
        denied = Denied(
            detail, code="role_denied", verb="post", target=viewer.principal.id, target_kind="member"
        )
        denial_recorded(viewer.principal, denied)
    return denied_page(role_label(_LEAST[needed]))
