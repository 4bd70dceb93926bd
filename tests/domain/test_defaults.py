from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from memory.domain.defaults import RawCandidate, resolve_defaults
from memory.domain.normalise import BadText, TooLong
from memory.domain.policy import Policy
from memory.domain.types import Candidate, Kind, Layer, Origin

from .candidates import NOON


def resolve(ceiling: float = 1.0, policy: Policy | None = None, **fields: Any) -> Candidate:
    raw = replace(RawCandidate(content="Invoices go out monthly"), **fields)
    return resolve_defaults(
        raw, agent_role="support", key_ceiling=ceiling, policy=policy or Policy(), now=NOON, agent="a1"
    )


def test_resolve_defaults__nothing_but_content__is_an_untrusted_fact_in_the_agents_scope():
    c = resolve()
    assert (str(c.scope), c.layer, c.kind, c.origin) == (
        "agent:support",
        Layer.SEMANTIC,
        Kind.FACT,
        Origin.TOOL_OUTPUT,
    )
    assert (c.trust, c.confidence, c.importance, c.expires_at) == (0.5, 0.7, 0.7, None)


@pytest.mark.parametrize("origin", list(Origin))
def test_resolve_defaults__origin__decides_trust_and_confidence(origin: Origin):
    c = resolve(origin=origin.value)
    assert (c.trust, c.confidence) == (Policy().defaults.trust[origin], Policy().defaults.confidence[origin])


def test_resolve_defaults__key_ceiling_and_ancestors__lower_trust():
    assert resolve(ceiling=0.6, origin="user_explicit").trust == 0.6
    low = resolve_defaults(
        RawCandidate(content="x y z", origin="user_explicit"), agent_role="a", key_ceiling=1.0, policy=Policy(),
        now=NOON, ancestor_trust=0.2,
    )  # fmt: skip
    assert low.trust == 0.2


def test_resolve_defaults__model_inferred__is_capped_and_starts_in_its_session():
    c = resolve(origin="model_inferred", confidence=0.95, session="s1", task="t1")
    assert (c.confidence, str(c.scope)) == (0.5, "session:s1")
    assert str(resolve(session="s1", task="t1").scope) == "task:t1"
    assert str(resolve(origin="model_inferred", session="s1", scope="task:t1").scope) == "task:t1"


def test_resolve_defaults__unknown_origin__is_kept_for_the_refusal_and_not_trusted():
    c = resolve(origin="gossip")
    assert (c.unknown_origin, c.trust) == ("gossip", 0.0)


def test_resolve_defaults__triple__is_normalised_and_given_a_sentence():
    c = resolve_defaults(
        RawCandidate(subject="Customer_42", predicate="Time Zone", value=" CET "), agent_role="a", key_ceiling=1.0,
        policy=Policy(), now=NOON, aliases={"customer_42": "user:42"},
    )  # fmt: skip
    assert (c.subject, c.predicate, c.value, c.content) == (
        "user:42",
        "timezone",
        "CET",
        "user:42 timezone: CET",
    )


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"content": ""}, "content"),
        ({"content": None}, "content"),
        ({"content": "\x00 "}, "content"),
        ({"content": None, "subject": "a", "predicate": "plan"}, "value"),
        ({"subject": "a", "value": "pro"}, "predicate"),
        ({"predicate": "plan", "value": "pro"}, "subject"),
        ({"predicate": "--", "subject": "a", "value": "b"}, "predicate"),
        ({"scope": "projct:a"}, "scope"),
        ({"session": "a b"}, "session"),
        ({"confidence": 1.2}, "confidence"),
        ({"confidence": float("nan")}, "confidence"),
        ({"importance": -0.1}, "importance"),
        ({"ttl": "2 fortnights"}, "ttl"),
        ({"ttl": "0"}, "ttl"),
        ({"ttl": "-1d"}, "ttl"),
        ({"ttl": 5, "expires_at": NOON}, "ttl"),
        ({"expires_at": datetime(2026, 8, 13)}, "expires_at"),  # noqa: DTZ001
        ({"valid_from": datetime.max.replace(tzinfo=UTC)}, "valid_from"),
        ({"valid_from": datetime.min.replace(tzinfo=timezone(timedelta(hours=5)))}, "valid_from"),
        ({"valid_from": NOON, "valid_to": NOON - timedelta(days=1)}, "valid_to"),
        ({"valid_from": datetime(2026, 1, 1), "valid_to": NOON}, "valid_from"),  # noqa: DTZ001
        ({"tags": ["\ud83d"]}, "tags"),
        ({"metadata": {"a": float("inf")}}, "metadata.a"),
    ],
)
def test_resolve_defaults__what_cannot_be_read__is_refused_by_field(fields: dict[str, Any], field: str):
    with pytest.raises(BadText) as caught:
        resolve(**fields)
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("fields", "field"),
    [({"content": "x" * 8001}, "content"), ({"tags": ["t"] * 101}, "tags"), ({"tool": "x" * 257}, "tool"),
     ({"subject": "x" * 300, "predicate": "p", "value": "v"}, "subject")],
)  # fmt: skip
def test_resolve_defaults__too_much__names_field_and_limit(fields: dict[str, Any], field: str):
    with pytest.raises(TooLong) as caught:
        resolve(**fields)
    assert caught.value.field == field and str(caught.value.limit) in str(caught.value)


def test_resolve_defaults__ttl__is_exact_and_working_memory_has_one_of_its_own():
    assert resolve(ttl="2w").expires_at == NOON + timedelta(days=14)
    assert resolve(ttl=90).expires_at == NOON + timedelta(seconds=90)
    assert resolve(layer=Layer.WORKING).expires_at == NOON + timedelta(seconds=3600)
    assert resolve(layer=Layer.WORKING, ttl="1d").expires_at == NOON + timedelta(days=1)


@pytest.mark.parametrize("hours", [8, 0, -11])
def test_resolve_defaults__zoned_expiry__means_the_same_instant_everywhere(hours: int):
    zone = timezone(timedelta(hours=hours))
    instant = datetime(2026, 8, 13, 15, 30, tzinfo=UTC)
    c = resolve(expires_at=instant.astimezone(zone))
    assert c.expires_at == instant and c.expires_at.tzinfo is UTC


def test_resolve_defaults__override_of_the_scope__applies():
    policy = Policy(
        scopes={"project:alpha": {"defaults": {"importance": 0.9, "ttl_seconds": {"semantic": 60}}}}
    )
    c = resolve(policy=policy, scope="project:alpha")
    assert (c.importance, c.expires_at) == (0.9, NOON + timedelta(seconds=60))
    assert resolve(policy=policy).importance == 0.7


@pytest.mark.parametrize(
    ("kind", "layer"), [(Kind.PROCEDURE, Layer.PROCEDURAL), (Kind.EVENT, Layer.EPISODIC)]
)
def test_resolve_defaults__kind__suggests_the_layer(kind: Kind, layer: Layer):
    assert resolve(kind=kind).layer is layer
    assert resolve(kind=kind, layer=Layer.SEMANTIC).layer is Layer.SEMANTIC
