"""Holding a call against the networks of its key, for every way in that knows where it is called from."""

from __future__ import annotations

from django.core.cache import cache

from memory.services.access import denial_recorded
from memory.services.errors import Denied
from tenants.authentication import KeyRefused
from tenants.context import confirm_assumed
from tenants.networks import inside
from tenants.principals import Principal

_RECORDED_EVERY_SECONDS = 60


def key_used_from(principal: Principal, address: str) -> None:
    """Raise `KeyRefused` when the principal's key may not be used from the address.

    The attempt is in the audit, once a minute for each address: a caller must not be able to fill it.
    """
    if principal.key_id is None or inside(principal.networks, address):
        return
    confirm_assumed()  # or the attempt would be marked as told, and taken back
    said = f"this key may not be used from {address}; an admin of the tenant can change its networks"
    if cache.add(f"elsewhere:{principal.key_id.hex}:{address}", 1, _RECORDED_EVERY_SECONDS):
        target = f"key_{principal.key_id.hex}"
        denied = Denied(said, code="key_elsewhere", verb="call", target=target, target_kind="key")
        denial_recorded(principal, denied)
    raise KeyRefused("key_elsewhere", said)
