"""Agent keys: ``mgk_<tenant handle><key prefix>_<secret>``.

The public half leads to one tenant and one row by unique indexes, so that a wrong key costs two index
look-ups and never a scan.  The secret half is 256 random bits; a plain SHA-256 of it is enough (there is
nothing to guess) and is compared in constant time, also when no such key exists.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass

_SHAPE = re.compile(r"mgk_([a-z2-9]{8})([a-z2-9]{8})_([A-Za-z0-9_-]{43})")
NO_HASH = hashlib.sha256(b"no such key").digest()


@dataclass(frozen=True, slots=True)
class KeyParts:
    """What a presented key says."""

    handle: str
    prefix: str
    secret: str


def new_secret() -> str:
    """The secret half of a new key: 43 letters, 256 bits."""
    return secrets.token_urlsafe(32)


def compose(handle: str, prefix: str, secret: str) -> str:
    """The key as it is shown once to its owner."""
    return f"mgk_{handle}{prefix}_{secret}"


def parse(text: str) -> KeyParts | None:
    """The parts of a well-formed key, else None."""
    match = _SHAPE.fullmatch(text)
    return KeyParts(*match.groups()) if match else None


def hash_secret(secret: str) -> bytes:
    """SHA-256 of the secret half, 32 bytes."""
    return hashlib.sha256(secret.encode()).digest()


def matches(secret: str, stored: bytes | None) -> bool:
    """Whether the secret is the stored one, in the same time whatever the answer."""
    return hmac.compare_digest(hash_secret(secret), stored or NO_HASH) and stored is not None
