"""Secrets at rest: sealed with a key of the tenant, one for each purpose, derived from the product's secret."""

from __future__ import annotations

import base64
import hashlib
import hmac

from cryptography.fernet import Fernet
from django.conf import settings

from tenants.context import current_tenant_id


def seal(purpose: str, secret: str) -> bytes:
    """The secret as it may be stored."""
    return _box(purpose).encrypt(secret.encode())


def unseal(purpose: str, sealed: bytes) -> str:
    """The secret."""
    return _box(purpose).decrypt(bytes(sealed)).decode()


def _box(purpose: str) -> Fernet:
    name = f"memgov {purpose} ".encode() + current_tenant_id().bytes
    key = hmac.new(str(settings.SECRET_KEY).encode(), name, hashlib.sha256).digest()
    return Fernet(base64.urlsafe_b64encode(key))
