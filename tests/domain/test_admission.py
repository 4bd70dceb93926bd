"""The gate, with the inputs that users of other stores have reported."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.admission import REASONS, admit, refusals
from memory.domain.policy import Policy, preset
from memory.domain.registry import DEFAULT_REGISTRY
from memory.domain.types import Candidate, Kind, Layer, Origin

from .candidates import NOON, candidate, triple

DEFAULT = Policy()


def reason(c: Candidate, policy: Policy = DEFAULT, similarity: float | None = None) -> str | None:
    rule = DEFAULT_REGISTRY.lookup(c.predicate) if c.predicate else None
    return admit(c, policy, now=NOON, domain_similarity=similarity, rule=rule).reason


def said(text: str, **fields: object) -> str | None:
    return reason(candidate(text, **fields))


TRANSIENT = [
    "CI run 8842 is currently red",
    "/tmp/a1b2/out.log holds the trace",
    "Das Protokoll liegt unter /tmp/a1b2/out.log",
    r"Dump written to C:\Users\sam\AppData\Local\Temp\dump1.txt",
    "The queue has 1,204 messages",
    "14 jobs pending in the import queue",
    "CPU is at 87%",
    "Build 991 is still running",
    "The staging server is down",
    "3 of 40 tests failed",
    "Meeting with the vendor today at 3",
    "Listening to Purple Rain",
    "Going to have lunch at 12pm",
    "User is looking for the lyrics of 'Never Ever Give You Up'",
    "User requested lyrics for the song",
    "Let me check the logs first",
    "Next step: fix the parser",
    "Merged PR #214 into main",
]
VAGUE = [
    "What is your name?",
    "what is your name",
    "¿Cómo te llamas?",
    "お名前は何ですか？",
    "Run echo hello",
    "Translate this to German",
    "ok",
    "okkkk",
    "ok then",
    "Yup, indeed yes",
    "Sure thing!",
    "Never mind.",
    "one sec",
    "Thinking…",
    "None",
    "[object Object]",
    "thanks!",
    "Yup",
    "はい",
    "danke",
    "1. Concurrency",
    "## Setup",
    "I cannot help with that",
    "I'm sorry, but I can't assist with this request.",
    "As an AI language model, I have no memory of that.",
    "The restaurant is awesome",
    "It works now",
    "Deathly Hallows",
    "Not too expensive",
    "😀😀😀",
    "test test test",
    "lorem ipsum dolor sit amet",
    "n/a",
    "[Deploy notes](deploy.md) — how we ship",
]
DURABLE = [
    "CI must be green before merge",
    "Never write caches to /tmp/cache in production",
    "If the staging server is down, page the platform channel",
    "The nightly job is paused on Fridays",
    "The token bucket limiter allows 50 requests per second per tenant.",
    "The nightly import took 41 minutes because the supplier feed contained twice as many rows as usual.",
    "Session tokens expire in 30 minutes",
    "Node two was replaced after the disk failure in May",
    "Deploy window is Tuesday 14:00 UTC",
    "Latency 40 ms on 1 May",
    "file lives at src/x.py",
    "Run `make test` before a commit",
    "Always use tabs",
    "Answer in British English.",
    "Keep replies under 200 words.",
    "From now on please call me Sam instead of Samantha.",
    "I can't eat gluten",
    "I cannot attend meetings on Fridays",
    "Alice asked how to ignore whitespace when comparing two branches.",
    "Customer asked for a discount",
    "Reading Tolstoy is her hobby",
    "Likes Python",
    "User is interested in the lyrics of 'Home Sweet Home'",
    "User's MBTI type is ESTP",
    'The answer to "What is a scope?" is in docs/faq.md',
    "Wohnt in Berlin",
    "Trinkt keinen Kaffee",
    "Vive en Madrid",
    "Vejetaryenim",
    "東京に住んでいる",
    "서울에 살고 있습니다",
    "Не ест мясо",
]


@pytest.mark.parametrize("text", TRANSIENT)
def test_admit__report_of_the_moment__is_transient(text: str):
    assert said(text) == "transient"


@pytest.mark.parametrize("text", VAGUE)
def test_admit__nothing_to_remember__is_too_vague(text: str):
    assert said(text) == "too_vague"


@pytest.mark.parametrize("text", DURABLE)
def test_admit__lasting_statement_in_any_language__passes(text: str):
    assert said(text) is None


@pytest.mark.parametrize("text", ["ok", "Yup", "CI run 8842 is currently red"])
def test_admit__bullet_in_front__is_judged_without_it(text: str):
    assert said(f"- {text}") == said(text) is not None


@pytest.mark.parametrize("predicate", ["current_mood", "last_message", "session_intent"])
def test_admit__transient_predicate__is_refused_in_every_scope(predicate: str):
    for scope in ("session:s1", "project:alpha", "global"):
        assert reason(triple(predicate, "cheerful", scope=scope, confidence=0.9, trust=0.9)) == "transient"


@pytest.mark.parametrize(
    ("scope", "floor"),
    [("session:s", 0.3), ("task:t", 0.3), ("agent:a", 0.6), ("user:1", 0.6), ("project:p", 0.6), ("shared", 0.7),
     ("global", 0.7)],
)  # fmt: skip
def test_admit__confidence_at_and_below_the_floor__passes_and_fails(scope: str, floor: float):
    at = candidate(scope=scope, confidence=floor, trust=0.9)
    below = candidate(scope=scope, confidence=floor - 0.01, trust=0.9)
    assert (reason(at), reason(below)) == (None, "low_confidence")


def test_admit__importance_below_the_floor__fails_for_long_term_layers_only():
    for layer in (Layer.EPISODIC, Layer.SEMANTIC, Layer.PROCEDURAL):
        assert said("Invoices go out monthly", importance=0.59, layer=layer) == "low_importance"
        assert said("Invoices go out monthly", importance=0.6, layer=layer) is None
    assert said("Invoices go out monthly", importance=0.1, layer=Layer.WORKING) is None


def test_admit__untrusted_origin__is_kept_out_of_wider_scopes():
    outside = {"origin": Origin.EXTERNAL, "trust": 0.0, "confidence": 0.9}
    assert said("The API allows 50 requests per second", scope="session:s1", **outside) is None
    assert (
        said("The API allows 50 requests per second", scope="project:alpha", **outside) == "untrusted_source"
    )
    inferred = {"origin": Origin.MODEL_INFERRED, "trust": 0.4, "confidence": 0.9}
    assert said("The API allows 50 requests per second", scope="shared", **inferred) == "untrusted_source"


def test_admit__unknown_origin__is_refused_by_name():
    answer = admit(candidate(unknown_origin="gossip", scope="session:s1"), DEFAULT, now=NOON)
    assert (answer.reason, answer.rule) == ("untrusted_source", "source.unknown")
    assert "gossip" in answer.explanation


def test_admit__short_value__counts_wide_characters_twice():
    assert reason(triple("nickname", "ab")) == "too_vague"
    assert reason(triple("nickname", "abc")) is None
    assert reason(triple("allergies", "none")) is None and reason(triple("stage", "test")) is None
    assert reason(triple("nickname", "東京")) is None


def test_admit__short_value_of_a_typed_predicate__passes():
    assert reason(triple("port", "80")) is None
    assert reason(triple("language", "de")) is None
    assert reason(triple("plan", "de")) == "too_vague"


@pytest.mark.parametrize("value", ["unknown", "n/a", "TBD", "???", "which plan?"])
def test_admit__placeholder_as_value__is_too_vague(value: str):
    assert reason(triple("plan", value)) == "too_vague"


def test_admit__triple_without_a_sentence__is_not_judged_by_the_one_made_for_it():
    assert reason(triple("status", "green", subject="service:billing")) is None
    assert reason(triple("state", "CI run 12 is currently red")) == "transient"


def test_admit__working_memory__may_hold_the_moment():
    for text in ("CI run 8842 is currently red", "ok", "Next step: fix the parser"):
        assert said(text, layer=Layer.WORKING, scope="task:t1") is None
        for wide in ("agent:a", "user:1", "project:p", "global"):
            assert said(text, layer=Layer.WORKING, scope=wide, trust=0.9, confidence=0.9) == said(text), wide


def test_admit__episode__may_speak_of_today_but_not_of_a_run():
    text = "Petra moved to Porto today"
    assert said(text) == "transient"
    assert said(text, layer=Layer.EPISODIC) is None
    assert said(text, kind=Kind.EVENT) is None
    assert said("CI run 8842 is currently red", layer=Layer.EPISODIC) == "transient"


def test_admit__outside_the_domain__is_refused():
    policy = Policy.model_validate(
        {"admission": {"domain": {"keywords": ["invoice", "請求書"], "description": "billing of customers"}}}
    )
    assert reason(candidate("The invoice is sent monthly"), policy) is None
    assert reason(candidate("請求書は毎月送る"), policy) is None
    assert reason(candidate("Invoicebot plays chess with Dana"), policy) == "out_of_domain"
    assert reason(candidate("Dana plays chess with friends"), policy, 0.1) == "out_of_domain"
    assert reason(candidate("Customers pay within 30 days"), policy, 0.5) is None


def test_admit__domain_described_but_nothing_can_compare__passes():
    policy = Policy.model_validate({"admission": {"domain": {"description": "billing"}}})
    assert reason(candidate("Dana plays chess with friends"), policy, None) is None


def test_admit__expired_on_arrival__is_refused():
    assert reason(candidate(expires_at=NOON)) == "already_expired"
    assert reason(candidate(expires_at=NOON + timedelta(seconds=1))) is None


def test_refusals__several_reasons__come_in_the_fixed_order():
    c = triple("current_mood", "ok", trust=0.0, confidence=0.1, importance=0.1, expires_at=NOON)
    found = [one.reason for one in refusals(c, DEFAULT, now=NOON)]
    assert found == [
        "untrusted_source",
        "transient",
        "low_confidence",
        "low_importance",
        "too_vague",
        "already_expired",
    ]
    assert set(found) <= set(REASONS)
    assert admit(c, DEFAULT, now=NOON).reason == "untrusted_source"


def test_admit__preset_open__lets_every_well_formed_candidate_in():
    for text in (*TRANSIENT, *VAGUE):
        assert reason(candidate(text, trust=0.0, confidence=0.0, importance=0.0), preset("open")) is None


@given(st.text(max_size=200), st.sampled_from([None, "plan", "port"]))
def test_admit__any_text__gets_an_answer_with_a_known_reason(text: str, predicate: str | None):
    c = triple(predicate, text) if predicate else candidate(text)
    answer = admit(c, DEFAULT, now=NOON, rule=DEFAULT_REGISTRY.lookup(predicate or "note"))
    assert answer.admitted == (answer.reason is None)
    assert answer.reason is None or (answer.reason in REASONS and answer.rule and answer.explanation)
