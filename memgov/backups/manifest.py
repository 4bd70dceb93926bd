"""What a backup says of itself, and the seal that tells whether it was changed.

The seal is an HMAC under a key derived from MEMGOV_SECRET_KEY.  The key itself is never in the file, only a
fingerprint of it: enough to tell that a restore has another key, and of no use for finding it.
"""

from __future__ import annotations

import hmac
import json
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final

from memgov.backups.errors import BackupError

FORMAT: Final = "memgov backup 1"


@dataclass(frozen=True, slots=True)
class Member:
    """One part of the file: its length in bytes and the SHA-256 of it, in hex."""

    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """`migrations` are the applied ones by app; `made_at` is ISO 8601 in UTC, `postgres` the server's major version."""

    made_at: str
    version: str
    postgres: int
    tenants: int
    migrations: dict[str, list[str]]
    members: dict[str, Member] = field(default_factory=dict)
    key: str = ""
    seal: str = ""

    def sealed(self, secret: str) -> Manifest:
        """The same, with the fingerprint of the key and the seal."""
        named = replace(self, key=fingerprint(secret), seal="")
        return replace(named, seal=named._seal(secret))

    def key_is(self, secret: str) -> bool:
        """Whether it was sealed under this key."""
        return hmac.compare_digest(self.key, fingerprint(secret))

    def holds(self, secret: str) -> bool:
        """Whether nothing of it was changed since; only the key that sealed it can tell."""
        return hmac.compare_digest(self.seal, replace(self, seal="")._seal(secret))

    def to_json(self) -> bytes:
        """As it stands in the file."""
        return json.dumps({"format": FORMAT, **asdict(self)}, indent=1, sort_keys=True).encode()

    def _seal(self, secret: str) -> str:
        return hmac.new(_derived(secret, b"seal"), self.to_json(), "sha256").hexdigest()


def parse(text: bytes) -> Manifest:
    """The manifest of a file.  Raises `BackupError` for anything else."""
    try:
        said: dict[str, Any] = json.loads(text)
        if said.pop("format") != FORMAT:
            raise ValueError
        members = {
            str(name): Member(int(one["bytes"]), str(one["sha256"]))
            for name, one in said.pop("members").items()
        }
        migrations = {
            str(app): [str(name) for name in names] for app, names in said.pop("migrations").items()
        }
        numbers = {name: int(said.pop(name)) for name in ("postgres", "tenants")}
        words = {name: str(said.pop(name)) for name in ("made_at", "version", "key", "seal")}
        # An ASCII word each, as compare_digest wants it.
        if said or not (words["key"] + words["seal"]).isascii():
            raise ValueError
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise BackupError("its manifest cannot be read: it was changed, or made by a newer memgov") from None
    return Manifest(**words, **numbers, migrations=migrations, members=members)  # type: ignore[arg-type]


def fingerprint(secret: str) -> str:
    """Tells one key from another."""
    return hmac.new(_derived(secret, b"key"), b"", "sha256").hexdigest()[:16]


def _derived(secret: str, purpose: bytes) -> bytes:
    return hmac.digest(secret.encode(), b"memgov backup " + purpose, "sha256")
