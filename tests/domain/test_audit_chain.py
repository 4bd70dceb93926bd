"""The chain finds every kind of tampering."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.audit_chain import (
    GENESIS,
    ChainEvent,
    Checkpoint,
    canonical_bytes,
    canonical_payload,
    event_hash,
    text_digest,
    verify,
)
from memory.domain.types import Status

from .candidates import NOON

Tamper = Callable[[list[ChainEvent]], list[ChainEvent]]


def chain(count: int) -> list[ChainEvent]:
    events: list[ChainEvent] = []
    previous = GENESIS
    for seq in range(1, count + 1):
        payload = {"action": "memory.stored", "target": f"mem_{seq}", "at": NOON, "seq": seq}
        this = event_hash(previous, payload)
        events.append(ChainEvent(f"evt_{seq}", seq, previous, this, payload))
        previous = this
    return events


def rewritten(events: list[ChainEvent]) -> list[ChainEvent]:
    """The whole chain made anew over changed content, by someone who can compute hashes."""
    fresh: list[ChainEvent] = []
    previous = GENESIS
    for event in events:
        payload = {**event.payload, "action": "memory.read"}
        this = event_hash(previous, payload)
        fresh.append(replace(event, prev_hash=previous, hash=this, payload=payload))
        previous = this
    return fresh


def test_verify__untouched_chain__holds():
    events = chain(20)
    report = verify(events, [Checkpoint(10, events[9].hash), Checkpoint(20, events[19].hash)])
    assert (report.ok, report.count, report.problem) == (True, 20, None)
    assert verify([]).ok


CASES: list[tuple[str, Tamper, str, str | None]] = [
    ("payload", lambda e: [*e[:4], replace(e[4], payload={**e[4].payload, "target": "mem_6"}), *e[5:]], "changed",
     "evt_5"),
    ("hash", lambda e: [*e[:4], replace(e[4], hash=bytes(32)), *e[5:]], "changed", "evt_5"),
    ("prev", lambda e: [*e[:4], replace(e[4], prev_hash=bytes(32)), *e[5:]], "relinked", "evt_5"),
    ("removed", lambda e: e[:4] + e[5:], "gap", "evt_6"),
    ("head cut", lambda e: e[2:], "gap", "evt_3"),
    ("swapped", lambda e: [*e[:4], e[5], e[4], *e[6:]], "gap", "evt_6"),
    ("repeated", lambda e: [*e[:5], e[4], *e[5:]], "reordered", "evt_5"),
    ("renumbered", lambda e: [*e[:4], replace(e[4], payload=e[5].payload), *e[5:]], "changed", "evt_5"),
    ("tail cut", lambda e: e[:-1], "tail_cut", None),
    ("all cut", lambda e: [], "tail_cut", None),
    ("rewritten", rewritten, "rewritten", "evt_20"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("tamper", "problem", "first"), [case[1:] for case in CASES], ids=[c[0] for c in CASES]
)
def test_verify__tampered_chain__names_problem_and_first_event(
    tamper: Tamper, problem: str, first: str | None
):
    events = chain(20)
    report = verify(tamper(events), [Checkpoint(20, events[-1].hash)])
    assert (report.ok, report.problem, report.first_broken) == (False, problem, first)
    assert report.explanation


def test_verify__without_checkpoint__cannot_see_a_cut_tail():
    assert verify(chain(20)[:-1]).ok


def test_verify__from_a_checkpoint__continues_the_chain():
    events = chain(20)
    start = Checkpoint(10, events[9].hash)
    assert verify(events[10:], start=start).count == 10
    assert verify(events[10:], start=Checkpoint(10, bytes(32))).problem == "relinked"


@given(st.integers(0, 19), st.integers(0, 255))
def test_verify__any_changed_byte_of_a_stored_hash__is_found(at: int, bit: int):
    events = chain(20)
    flipped = bytearray(events[at].hash)
    flipped[bit // 8] ^= 1 << bit % 8
    events[at] = replace(events[at], hash=bytes(flipped))
    report = verify(events)
    assert not report.ok and report.first_broken == f"evt_{at + 1}"


def test_canonical_bytes__equal_payloads__have_one_form():
    east = timezone(timedelta(hours=8))
    one = {"b": 1, "a": NOON, "c": {"y": Status.LIVE, "x": UUID(int=5)}}
    other = {"c": {"x": str(UUID(int=5)), "y": "live"}, "a": NOON.astimezone(east), "b": 1}
    assert canonical_bytes(one) == canonical_bytes(other)
    assert (
        canonical_bytes({"s": {"b", "a"}, "d": Decimal("1.50"), "t": (1, 2)})
        == b'{"d":"1.50","s":["a","b"],"t":[1,2]}'
    )


def test_canonical_payload__after_a_round_trip_through_json__gives_the_same_hash():
    payload = {
        "at": datetime(2026, 5, 1, 12, 0, 0, 5, tzinfo=UTC),
        "trust": 0.1,
        "text": "é\u2028",
        "n": None,
    }
    stored = json.loads(json.dumps(canonical_payload(payload)))
    assert event_hash(GENESIS, stored) == event_hash(GENESIS, payload)


@pytest.mark.parametrize("payload", [{"a": float("nan")}, {"a": datetime(2026, 5, 1)}, {"a": object()}])  # noqa: DTZ001
def test_canonical_bytes__no_single_form__is_refused(payload: dict[str, object]):
    with pytest.raises((TypeError, ValueError)):
        canonical_bytes(payload)


def test_text_digest__without_the_key__says_nothing():
    assert text_digest(b"k1", "Alice") == text_digest(b"k1", "Alice")
    assert text_digest(b"k1", "Alice") != text_digest(b"k2", "Alice")
    assert text_digest(b"k1", "Alice") != text_digest(b"k1", "Bob")
    assert "Alice" not in text_digest(b"k1", "Alice")
