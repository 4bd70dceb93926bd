"""What the frame around every page shows: theme, tenant, role, and how much waits."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from memory.demo.stage import shown_sign_ins
from memory.pages.access import Viewer, role_label
from memory.selectors.pages_counts import waiting

THEMES = ("auto", "light", "dark")


def shell(request: HttpRequest) -> dict[str, Any]:
    """Context processor of all templates.  The counts are asked only where the navigation is drawn, inside
    the tenant context that the view opened."""
    theme = request.COOKIES.get("theme", "auto")
    context: dict[str, Any] = {
        "csp_nonce": getattr(request, "csp_nonce", ""),
        "theme": theme if theme in THEMES else "auto",
        "tenant": None,
        "many_tenants": False,
        "can": {"review": False, "admin": False},
    }
    if request.resolver_match is not None and request.resolver_match.url_name == "account_login":
        context["demo_logins"] = SimpleLazyObject(_demo_logins)
    viewer: Viewer | None = getattr(request, "viewer", None)
    if viewer is None:
        return context
    return context | {
        "nav": viewer.nav,
        "tenant": viewer.tenant,
        "many_tenants": viewer.several,
        "role_label": role_label(viewer.tenant.role),
        "can": {"review": viewer.can("review"), "admin": viewer.can("admin")},
        "nav_counts": SimpleLazyObject(waiting),
    }


def _demo_logins() -> list[dict[str, str]]:
    return [named(one) for one in shown_sign_ins()]


def named(one: dict[str, str]) -> dict[str, str]:
    """A sign-in of the demo with what it is: the tenant, and the role in the reader's language."""
    return {**one, "what": f"{one['tenant']}: {role_label(one['role'])}"}
