"""What the commands share: a tenant found by its slug, a service's refusal as the command's error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.core.management.base import CommandError

from memory.services.errors import ServiceError
from tenants.models import Tenant


def tenant_named(slug: str) -> Tenant:
    """The tenant with this slug.  Raises CommandError."""
    tenant = Tenant.objects.filter(slug=slug).first()
    if tenant is None:
        known = ", ".join(Tenant.objects.order_by("slug").values_list("slug", flat=True)[:20]) or "none yet"
        raise CommandError(f"there is no tenant {slug!r}; there are: {known}")
    return tenant


def tenants_named(slug: str | None) -> list[Tenant]:
    """The one tenant, or all active ones."""
    if slug:
        return [tenant_named(slug)]
    return list(Tenant.objects.filter(status=Tenant.Status.ACTIVE).order_by("slug"))


@contextmanager
def refusals_told() -> Iterator[None]:
    """A refusal of a service ends the command with its sentence and exit code 1."""
    try:
        yield
    except ServiceError as error:
        raise CommandError(error.detail) from None
