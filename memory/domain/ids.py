"""Identifiers: UUIDv7 values and the prefixed text form in which the outside sees them.

What does not live here: which table a prefix belongs to, and any look-up.
"""

from __future__ import annotations

from typing import Final
from uuid import UUID

from memgov.ids import new_id

__all__ = ["PREFIXES", "new_id", "parse_id", "show_id"]

PREFIXES: Final[frozenset[str]] = frozenset(
    {
        "mem", "rev", "run", "man", "prm", "agt", "key", "dec", "evt", "job", "pol", "hlt", "ten", "mbr", "grt",
        "con", "usr", "wrk", "als", "alr", "mnt", "pdr", "prd", "smp",
        "inv",
        "chn", "dlv",
    }
)  # fmt: skip

_HEX: Final = frozenset("0123456789abcdef")


def show_id(prefix: str, uuid: UUID) -> str:
    """`mem_018f…`: the form in which an id leaves the product."""
    if prefix not in PREFIXES:
        raise ValueError(f"unknown id prefix {prefix!r}")
    return f"{prefix}_{uuid.hex}"


def parse_id(prefix: str, text: str) -> UUID:
    """The UUID inside `prefix_<32 hex digits>`; ValueError for anything else, also another prefix."""
    if prefix not in PREFIXES:
        raise ValueError(f"unknown id prefix {prefix!r}")
    head, _, digits = text.partition("_")
    if head != prefix or len(digits) != 32 or not _HEX.issuperset(digits):
        raise ValueError(f"not an id of the form {prefix}_<32 lower-case hex digits>")
    return UUID(hex=digits)
