"""allauth's forms of signing in, in the words of our pages."""

from __future__ import annotations

from typing import Any

from allauth.account import forms as accounts
from django.utils.translation import gettext_lazy as _


class SignInForm(accounts.LoginForm):
    """An address and a password.  No placeholder repeats the label above it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _said(self.fields["login"], _("E-mail"))
        _said(self.fields["password"], _("Password"))
        self.fields["remember"].label = _("Keep me signed in")


class ResetPasswordForm(accounts.ResetPasswordForm):
    """The address that a new password is asked for."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _said(self.fields["email"], _("E-mail"))


def _said(field: Any, label: Any) -> None:
    field.label = label
    field.widget.attrs.pop("placeholder", None)
