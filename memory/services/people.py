"""People: found by their address, or made with a password that is known once."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from memory.services.errors import Invalid
from tenants.models import User


@dataclass(frozen=True, slots=True)
class Person:
    """A user; `password` only when the user has just been made."""

    user: User
    password: str | None


def person_find_or_create(email: str) -> Person:
    """The user with this address.  A new one gets a random password, which is returned here and nowhere else."""
    address = email.strip().lower()
    try:
        validate_email(address)
    except ValidationError:
        raise Invalid(f"{email!r} is no e-mail address", field="email") from None
    known = User.objects.filter(email=address).first()
    if known is not None:
        return Person(known, None)
    password = secrets.token_urlsafe(12)
    return Person(User.objects.create_user(address, password), password)
