"""Accepting an invitation: the one way to an account that people have by themselves."""

from __future__ import annotations

from allauth.account.utils import perform_login
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from memory.pages.access import role_label, uncached
from memory.pages.answers import SeeOther, sentence
from memory.pages.forms import SignUpForm
from memory.services.errors import Conflict, Invalid, NotFound
from memory.services.invitations import Found, invitation_accept, invitation_find, invitation_sign_up
from tenants.models import User


@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
def one(request: HttpRequest, token: str) -> HttpResponse:
    """What is offered, to whom; POST accepts.  Opening the link alone uses nothing up: mail filters open links."""
    try:
        found = invitation_find(token)
    except NotFound:
        raise Http404 from None
    if found.state != "open":
        return _page(request, token, found, status=410)
    if request.method != "POST":
        return _page(request, token, found)
    if isinstance(request.user, User):
        return _accept(request, token, found, request.user)
    return _sign_up(request, token, found)


def _accept(request: HttpRequest, token: str, found: Found, user: User) -> HttpResponse:
    try:
        tenant = invitation_accept(token, user)
    except Conflict as error:
        return _page(request, token, found, error=sentence(error), status=409)
    return uncached(SeeOther(reverse("pages:start", args=[tenant.slug])))


def _sign_up(request: HttpRequest, token: str, found: Found) -> HttpResponse:
    form = SignUpForm(request.POST)
    if form.is_valid():
        try:
            user = invitation_sign_up(token, form.cleaned_data["name"], form.cleaned_data["password1"])
        except Invalid as error:
            form.add_error(error.field if error.field in form.fields else None, sentence(error))
        except Conflict as error:
            return _page(request, token, found, error=sentence(error), status=409)
        else:
            home = reverse("pages:start", args=[found.tenant.slug])
            response: HttpResponse = perform_login(
                request, user, email_verification="none", redirect_url=home
            )
            return uncached(response)
    return _page(request, token, found, form=form, status=422)


def _page(
    request: HttpRequest, token: str, found: Found, *, form: SignUpForm | None = None, error: str = "",
    status: int = 200,
) -> HttpResponse:  # fmt: skip
    invitation = found.invitation
    user = request.user if isinstance(request.user, User) else None
    has_account = User.objects.filter(email=invitation.email).exists()
    here = reverse("pages:invite", args=[token])
    context = {
        "state": found.state,
        "tenant_name": found.tenant.name,
        "invited_by": invitation.invited_by,
        "email": invitation.email,
        "role_name": role_label(invitation.role),
        "expires_at": invitation.expires_at,
        "mine": user is not None and user.email == invitation.email,
        "signed_in": user is not None,
        "has_account": has_account,
        "here": here,
        "form": None if user or has_account else form or SignUpForm(),
        "error": error,
    }
    return uncached(render(request, "pages/invite.html", context, status=status))
