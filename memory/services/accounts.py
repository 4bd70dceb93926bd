"""A person's own account: name, zone, language, shortcuts.  Outside any tenant, but their name is in each of
theirs."""

from __future__ import annotations

from django.conf import settings
from django.utils.translation import get_language

from memgov import clock
from memory.domain.ids import show_id
from memory.selectors.pages_people import Belonging, tenants_of
from memory.services.errors import Invalid
from memory.services.tenant_settings import zone_checked
from memory.store import audit
from tenants.context import tenant_context
from tenants.models import Membership, User
from tenants.principals import Principal


def account_change(
    user: User, *, name: str, time_zone: str, shortcuts: bool, language: str | None = None
) -> User:
    """Save the account.  An empty zone or language means that of the browser.  Raises `Invalid`."""
    name = " ".join(name.split())
    if not name or len(name) > 200:
        raise Invalid("give a name of 1 to 200 characters", field="name")
    if time_zone:
        zone_checked(time_zone)
    language = user.language if language is None else _language_checked(language)
    if name != user.name:
        for tenant in tenants_of(user.id):
            _rename(user, tenant, name)
    # Last: whoever is stopped before this saves again, and what is missing is done then.
    User.objects.filter(id=user.id).update(
        name=name, time_zone=time_zone, language=language, shortcuts=shortcuts
    )
    return User.objects.get(id=user.id)


def language_choose(user: User, language: str) -> None:
    """Keep the language of a person's pages and mails; "" is that of the browser.  Raises `Invalid`."""
    User.objects.filter(id=user.id).update(language=_language_checked(language))


def language_of(address: str) -> str:
    """The language of mail to an address: that of its account, else the one in use where it is written."""
    found = User.objects.filter(email=address.lower()).values_list("language", flat=True).first()
    return found or get_language() or settings.LANGUAGE_CODE


def _language_checked(language: str) -> str:
    if language and language not in dict(settings.LANGUAGES):
        raise Invalid("there is no such language here", field="language")
    return language


def _rename(user: User, tenant: Belonging, name: str) -> None:
    """Their name in one tenant; earlier events keep the name of their time."""
    actor = Principal(tenant.id, "member", f"usr_{user.id.hex}", name, tenant.role)
    with tenant_context(tenant.id):
        member = Membership.objects.select_for_update().filter(user_id=user.id).first()
        if member is None or member.name == name:
            return
        Membership.objects.filter(id=member.id).update(name=name)
        event = audit.Event(
            "member.renamed", "member", show_id("mbr", member.id),
            before={"name": member.name}, after={"name": name},
        )  # fmt: skip
        audit.append(actor, [event], clock.now())
