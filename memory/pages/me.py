"""The account of the person who is signed in: profile, theme, shortcuts, sessions, two-factor sign-in."""

from __future__ import annotations

from dataclasses import asdict

from allauth.mfa.models import Authenticator
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from memory.pages.access import role_label, uncached
from memory.pages.answers import SeeOther, flash, flash_error, sentence
from memory.pages.browsers import browser_text
from memory.pages.settings_forms import AccountForm
from memory.selectors.pages_people import tenants_of
from memory.services.accounts import account_change
from memory.services.errors import Invalid
from tenants.models import User
from tenants.sessions import end_one, end_others, open_of


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def index(request: HttpRequest) -> HttpResponse:
    """The account; POST saves the profile."""
    user = request.user
    assert isinstance(user, User)
    if request.method != "POST":
        return _page(request, user, AccountForm(initial=AccountForm.of(user)))
    form = AccountForm(request.POST)
    if form.is_valid():
        try:
            account_change(user, **form.cleaned_data)
        except Invalid as error:
            form.add_error(error.field if error.field in form.fields else None, sentence(error))
        else:
            flash(request, _("Saved."))
            return uncached(SeeOther(reverse("pages:me")))
    return _page(request, user, form, 422)


@require_POST
@login_required
def end(request: HttpRequest) -> HttpResponse:
    """End one session, or all but this one."""
    user, which = request.user, request.POST.get("session", "")
    assert isinstance(user, User)
    if which == "others":
        end_others(request, user)
        flash(request, _("Signed out everywhere else."))
    elif which.isascii() and which.isdigit() and len(which) < 19 and end_one(user, int(which)):
        flash(request, _("Signed out there."))
    else:
        flash_error(request, _("That session is over already."))
    return uncached(SeeOther(reverse("pages:me")))


def _page(request: HttpRequest, user: User, form: AccountForm, status: int = 200) -> HttpResponse:
    kinds = set(Authenticator.objects.filter(user_id=user.id).values_list("type", flat=True))
    context = {
        "form": form,
        "sessions": [
            {**asdict(one), "known_as": browser_text(one.browser)} for one in open_of(request, user)
        ],
        "totp": "totp" in kinds,
        "passkeys": "webauthn" in kinds,
        "recovery": "recovery_codes" in kinds,
        "mine": [
            {"name": one.name, "url": reverse("pages:start", args=[one.slug]), "role": role_label(one.role)}
            for one in tenants_of(user.id)
        ],
    }
    return uncached(render(request, "pages/me.html", context, status=status))
