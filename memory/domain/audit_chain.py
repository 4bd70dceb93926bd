"""The hash chain of audit events: canonical bytes, hashes, and the check that finds what was changed.

Writing events and keeping checkpoints happens elsewhere. Text of memories enters the chain only as a keyed
hash: whoever holds the chain cannot guess it, and erasing the key makes erasure final.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum
from hashlib import sha256
from typing import Final
from uuid import UUID

GENESIS: Final = bytes(32)
"""What stands for the predecessor of a tenant's first event."""

_DOMAIN: Final = b"memgov audit event 1\0"
_TEXT_DOMAIN: Final = b"memgov audit text 1\0"


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise TypeError("an audit event needs aware times")
        return value.astimezone(UTC).isoformat(timespec="microseconds")
    if isinstance(value, UUID | Decimal):
        return str(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).hex()
    if isinstance(value, set | frozenset):
        return sorted(item if isinstance(item, str) else str(_plain(item)) for item in value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} has no canonical form")


def canonical_bytes(payload: Mapping[str, object]) -> bytes:
    """One byte form per payload: JSON in UTF-8, keys sorted, no spaces, UTC times with microseconds."""
    return json.dumps(
        dict(payload),
        default=_plain,
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=False,
        allow_nan=False,
    ).encode()


def canonical_payload(payload: Mapping[str, object]) -> dict[str, object]:
    """The payload as JSON values, in the form to store: hashing it after a round trip gives the same hash."""
    stored: dict[str, object] = json.loads(canonical_bytes(payload))
    return stored


def event_hash(prev: bytes, payload: Mapping[str, object]) -> bytes:
    """SHA-256 over the predecessor's hash and the canonical payload."""
    return sha256(_DOMAIN + prev + canonical_bytes(payload)).digest()


def around_seq(payload: Mapping[str, object]) -> tuple[str, str]:
    """The canonical form of a payload that has no number yet: what stands before the number and what after it.

    With it the database can number and chain an event by itself, while it holds the end of the chain.
    """
    before = canonical_bytes({name: value for name, value in payload.items() if name < "seq"})
    after = canonical_bytes({name: value for name, value in payload.items() if name > "seq"})
    return f'{before[:-1].decode()},"seq":', f",{after[1:].decode()}"


def text_digest(key: bytes, text: str) -> str:
    """HMAC-SHA-256 of a text as hex: equal texts can be recognised with the key, and not without it."""
    return hmac.digest(key, _TEXT_DOMAIN + text.encode(), "sha256").hex()


@dataclass(frozen=True, slots=True)
class ChainEvent:
    """One stored event: its place in the tenant's chain, both hashes as stored, and what was hashed."""

    id: str
    seq: int
    prev_hash: bytes
    hash: bytes
    payload: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The hash of the event at `seq`, kept outside the table of events."""

    seq: int
    hash: bytes


@dataclass(frozen=True, slots=True)
class ChainReport:
    """`problem`: changed, gap, reordered, relinked, tail_cut or rewritten; `first_broken` names the event."""

    ok: bool
    count: int
    first_broken: str | None = None
    problem: str | None = None
    explanation: str = ""


def verify(
    events: Iterable[ChainEvent],
    checkpoints: Iterable[Checkpoint] = (),
    *,
    start: Checkpoint = Checkpoint(0, GENESIS),
) -> ChainReport:
    """Walk the chain in stored order from `start` (the first event has seq 1) and stop at the first fault.

    Events alone prove that nothing inside was changed. That the tail was not cut, and that the whole chain
    was not written anew, only the checkpoints can tell.
    """
    expected = {point.seq: point.hash for point in checkpoints if point.seq >= start.seq}
    previous, count = start, 0
    for event in events:
        fault = _fault(event, previous, expected)
        if fault:
            return ChainReport(False, count, event.id, *fault)
        previous, count = Checkpoint(event.seq, event.hash), count + 1
    missing = [seq for seq in expected if seq > previous.seq]
    if missing:
        said = f"a checkpoint knows event number {max(missing)}, the chain ends at number {previous.seq}"
        return ChainReport(False, count, None, "tail_cut", said)
    return ChainReport(True, count)


def _fault(event: ChainEvent, previous: Checkpoint, expected: Mapping[int, bytes]) -> tuple[str, str] | None:
    if event.seq <= previous.seq:
        return "reordered", f"number {event.seq} follows number {previous.seq}"
    if event.seq > previous.seq + 1:
        return "gap", f"number {previous.seq + 1} is missing before number {event.seq}"
    if event.prev_hash != previous.hash:
        return "relinked", f"number {event.seq} does not follow from the event before it"
    if event_hash(previous.hash, event.payload) != event.hash:
        return "changed", f"the content of number {event.seq} does not give its stored hash"
    if expected.get(event.seq, event.hash) != event.hash:
        return "rewritten", f"number {event.seq} differs from its checkpoint"
    return None
