"""Links of invitations: ``/invite/<tenant handle><prefix>_<secret>/``.

As with agent keys, the public half leads to one tenant and one row, and the secret half is compared in constant time.
"""

from __future__ import annotations

import re

from tenants.keys import KeyParts

_SHAPE = re.compile(r"([a-z2-9]{8})([a-z2-9]{8})_([A-Za-z0-9_-]{43})")


def compose(handle: str, prefix: str, secret: str) -> str:
    """The token as it stands in the link."""
    return f"{handle}{prefix}_{secret}"


def parse(token: str) -> KeyParts | None:
    """The parts of a well-formed token, else None."""
    match = _SHAPE.fullmatch(token)
    return KeyParts(*match.groups()) if match else None
