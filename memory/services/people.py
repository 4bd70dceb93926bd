"""People: found by their address, made with a password that is known once, or by signing up where they are invited."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from allauth.account.models import EmailAddress
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from memory.services.errors import Invalid
from tenants.models import User

MOST_LETTERS = 254


@dataclass(frozen=True, slots=True)
class Person:
    """A user; `password` only when the user has just been made."""

    user: User
    password: str | None


def address_of(email: str) -> str:
    """The address in its one spelling.  Raises `Invalid`."""
    address = email.strip().lower()
    try:
        validate_email(address)
    except ValidationError:
        raise Invalid(f"{email!r} is no e-mail address", field="email") from None
    if len(address) > MOST_LETTERS:
        raise Invalid(f"an e-mail address has at most {MOST_LETTERS} letters", field="email")
    return address


def person_find_or_create(email: str) -> Person:
    """The user with this address.  A new one gets a random password, which is returned here and nowhere else."""
    address = address_of(email)
    known = User.objects.filter(email=address).first()
    if known is not None:
        return Person(known, None)
    password = secrets.token_urlsafe(12)
    return Person(User.objects.create_user(address, password), password)


def person_sign_up(email: str, name: str, password: str, *, verified: bool) -> User:
    """A new user who chose a password.  `verified` says that the address is known to be theirs.  Raises `Invalid`."""
    name = " ".join(name.split())
    if not name or len(name) > 200:
        raise Invalid("give a name of 1 to 200 characters", field="name")
    try:
        validate_password(password, User(email=email, name=name))
    except ValidationError as error:
        raise Invalid(" ".join(error.messages), code="password_weak", field="password1") from None
    user = User.objects.create_user(email, password, name=name)
    EmailAddress.objects.create(user=user, email=user.email, primary=True, verified=verified)
    return user
