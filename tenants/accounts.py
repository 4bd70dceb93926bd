"""How people get accounts: by invitation or from the command line, never by signing up on their own."""

from __future__ import annotations

from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Closes the sign-up page; everything else is allauth's."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False
