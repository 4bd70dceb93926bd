"""allauth's forms of passkeys, which take what a browser sends as JSON."""

from __future__ import annotations

from typing import Any

from allauth.mfa.webauthn import forms as passkeys
from django import forms
from django.core.exceptions import ValidationError


class Credential(forms.JSONField):
    """JSON; what cannot be read, such as a number without end, is refused and not an error of ours."""

    def to_python(self, value: Any) -> Any:
        """The value.  Raises `ValidationError`."""
        try:
            return super().to_python(value)
        except (ValueError, RecursionError):
            raise ValidationError(self.error_messages["invalid"], code="invalid") from None


def _credential() -> Credential:
    return Credential(required=True, widget=forms.HiddenInput)


class AddForm(passkeys.AddWebAuthnForm):
    """A new key."""

    credential = _credential()


class LoginForm(passkeys.LoginWebAuthnForm):
    """Signing in by a passkey."""

    credential = _credential()


class ReauthenticateForm(passkeys.ReauthenticateWebAuthnForm):
    """Proving again who one is."""

    credential = _credential()
