"""Faults that users of other stores reported about texts, metadata and times of a write: kept whole, or refused."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.core.management import call_command

from memgov import clock
from memory.models import Memory
from memory.selectors.health import current
from memory.services import embedding
from memory.services.memory_edit import memory_edit
from memory.services.recall import RetrieveRequest, memory_retrieve
from memory.services.retention import memory_pin
from tests.api.caller import Caller, assert_problem
from tests.factories import Stage
from tests.field_reports.writing import write
from tests.receivers import receiver

pytestmark = pytest.mark.usefixtures("database")


def test_unicode__emoji_at_the_cut__list_digest_and_block_are_whole(stage: Stage, coder: Caller) -> None:
    text = "x" * 20 + " " + "word " * 35 + "👩‍👩‍👧‍👦 stays whole in the press hall"
    coder.remember(text)
    coder.remember("Lydian letters 𐤠𐤡𐤢 stand above the gate of the north hall.")
    for path in ("memories", "digest?scope=project:alpha&max_tokens=40", "digest?scope=project:alpha"):
        raw = coder.get(path).content
        json.loads(raw.decode("utf-8"))
        assert "\\ud8" not in raw.decode().lower()
    lone = coder.post("memories", '{"content": "half \\ud83d of a pair", "scope": "project:alpha"}')
    assert_problem(lone, 400, "lone_surrogate")
    nul = coder.post("memories", {"content": "The gate\x00 opens at six.", "scope": "project:alpha"})
    assert nul.json()["memory"]["content"] == "The gate opens at six."


def test_unicode__right_to_left_and_marks__kept_as_written(stage: Stage, coder: Caller) -> None:
    for text in (
        "המשרד בחיפה נפתח בשעה שבע בבוקר",
        "يفتح المكتب في الساعة السابعة صباحا",
        "Café öffnet um sieben Uhr",
    ):
        assert coder.remember(text)["content"] == text


def test_long_text__above_the_limit__413_names_the_limit__and_harms_no_other_item(coder: Caller) -> None:
    long = coder.post("memories", {"content": "word " * 2000, "scope": "project:alpha"})
    assert "8000" in assert_problem(long, 413, "too_large")["detail"]
    items = [
        {"content": f"Shelf {n} of the store holds {n + 3} boxes of paper.", "scope": "project:alpha",
         "origin": "tool_verified"} for n in range(64)
    ]  # fmt: skip
    items[17]["content"] = "x" * 60_000
    results = coder.post("memories/batch", {"items": items}).json()["results"]
    assert [one["index"] for one in results if one["status"] == 413] == [17]
    assert Counter(one["status"] for one in results) == {201: 63, 413: 1}


@contextmanager
def embedder_at(settings: Any, url: str) -> Iterator[None]:
    """This process asks another embedder, and then the one of the tests again."""
    of_tests = settings.MEMGOV_EMBEDDER
    settings.MEMGOV_EMBEDDER = f"openai:{url}?model=strict&dim=384&timeout=5"
    embedding._embedder.cache_clear()
    try:
        yield
    finally:
        settings.MEMGOV_EMBEDDER = of_tests
        embedding._embedder.cache_clear()


def unindexed(stage: Stage) -> float | None:
    with stage.context():
        return current(embedding.present_model())["unindexed_rows"]


@pytest.mark.parametrize("status", [400, 500])
def test_long_text__embedder_refuses__row_kept_found_and_counted_until_it_was_embedded(
    stage: Stage, settings: Any, status: int
) -> None:
    text = "Mill four delivers paper on Mondays. " * 200
    with receiver() as provider, embedder_at(settings, provider.url):
        provider.answers = [(status, {})]
        assert write(stage, text).outcome == "stored"
        assert provider.got, "the embedder was asked"
        assert unindexed(stage) == 1
        found = memory_retrieve(
            stage.coder.principal, RetrieveRequest(query="when does mill four deliver", max_tokens=8000)
        )
        assert [entry.found.content for entry in found.entries] == [text.strip()]
    call_command("reindex", tenant=stage.tenant.slug)
    assert unindexed(stage) == 0


def test_metadata__content_edited__kind_pin_ttl_and_trust_stay(stage: Stage) -> None:
    memory = write(stage, "Prefers window seats on night trains.", kind="preference", ttl="30d").memory
    assert memory is not None
    memory_pin(stage.reviewer.principal, memory.id, "asked for often")
    with stage.context():
        before = Memory.objects.filter(id=memory.id).values().get()
    memory_edit(
        stage.coder.principal, memory.id, {"content": "Prefers aisle seats on night trains."}, version=2
    )
    with stage.context():
        after = Memory.objects.filter(id=memory.id).values().get()
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {"content", "value_hash", "version"}


def test_metadata__sixty_kilobytes_and_too_deep(coder: Caller) -> None:
    base = {"content": "The press halls open at seven.", "scope": "project:alpha", "origin": "tool_verified"}
    whole = coder.post("memories", {**base, "metadata": {"log": "ab " * 20_000}})
    assert whole.status_code == 201 and len(whole.json()["memory"]["metadata"]["log"]) == 60_000
    for metadata in ({"log": "a" * 70_000}, {"a": {"b": {"c": {"d": {"e": {"f": {"g": {"h": {"i": 1}}}}}}}}}):
        refused = coder.post("memories", {**base, "metadata": metadata})
        assert_problem(refused, 413, "too_large")
    assert_problem(coder.post("memories", {**base, "subjct": "x"}), 400, "unknown_field")


@pytest.mark.parametrize("zone", ["+08:00", "-11:00", "+00:00"])
def test_ttl__zoned_expiry__visible_until_that_instant_in_every_zone(stage: Stage, zone: str) -> None:
    moment = datetime.fromisoformat("2036-08-13T23:30:00+08:00")
    told = moment.astimezone(datetime.fromisoformat(f"2036-01-01T00:00:00{zone}").tzinfo)
    coder = Caller(stage.coder)
    coder.remember("The fair ends in August.", expires_at=told.isoformat())
    for minutes, visible in ((-1, True), (1, False)):
        with clock.moved_to(moment + timedelta(minutes=minutes)):
            found = memory_retrieve(stage.coder.principal, RetrieveRequest(query="when does the fair end"))
            assert bool(found.entries) is visible


def test_ttl__two_weeks__exact__and_nonsense_refused(stage: Stage, coder: Caller) -> None:
    memory = write(stage, "The detour over the north bridge is signposted.", ttl="2w").memory
    assert memory is not None and memory.expires_at is not None
    assert memory.expires_at - memory.recorded_at == timedelta(days=14)
    for ttl in ("2 fortnights", "-1d", "0", 0, -5, "1e3", True):
        body = {"content": "The detour is signposted.", "scope": "project:alpha", "ttl": ttl}
        assert coder.post("memories", body).status_code == 400, ttl


def test_ttl__expired_on_arrival__refused(stage: Stage) -> None:
    past = clock.now() - timedelta(seconds=1)
    assert write(stage, "The fair ends in August.", expires_at=past).reason == "already_expired"


def test_ttl__answer__says_when_it_ends_or_that_it_does_not(stage: Stage, coder: Caller) -> None:
    assert coder.remember("The press halls open at seven.")["expires_at"] is None
    assert coder.remember("The detour is signposted in the north.", ttl=60)["expires_at"] is not None
