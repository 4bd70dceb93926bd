"""Faults that users of other stores reported about health, dashboards and ageing: each is a test here."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client

from memgov import clock
from memory.models import Alert, AuditEvent, HealthSnapshot, Memory
from memory.services.memory_write import memory_write
from memory.services.retention import memory_delete
from memory.services.sweeps import sweep_health
from memory.services.write_types import WriteRequest
from tests.api.caller import Caller, assert_problem
from tests.factories import Stage, make_tenant
from tests.sweeps.planting import NOW, Plot

pytestmark = pytest.mark.usefixtures("database")


@pytest.fixture(autouse=True)
def _plain_static_files() -> Any:
    from django.test import override_settings

    plain = "django.contrib.staticfiles.storage.StaticFilesStorage"
    default = "django.core.files.storage.FileSystemStorage"
    with override_settings(STORAGES={"default": {"BACKEND": default}, "staticfiles": {"BACKEND": plain}}):
        yield


def browser_of(stage: Stage) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(stage.owner.user)
    return client


def tile(browser: Client, stage: Stage, name: str = "Live facts") -> str:
    """The number on a tile of the health page."""
    text = browser.get(f"/t/{stage.tenant.slug}/health/").content.decode()
    return text.split(f'<span class="tn">{name}</span>')[1].split("<b>")[1].split("<")[0]


@pytest.mark.parametrize("rows", [610, 1, 0])
def test_dashboard__tile_counts_the_store_and_not_a_page(rows: int) -> None:
    """22. A tile that was stuck at 500 counted what had been fetched."""
    plot = Plot()
    if rows:
        plot.plant(rows, at=clock.now())
    sweep_health(plot.tenant_id)
    browser = browser_of(plot.stage)
    assert tile(browser, plot.stage) == str(rows)
    with plot.stage.context():
        assert HealthSnapshot.objects.get(scope="").figures["live_facts"] == rows
    if rows:
        with plot.stage.context():
            gone = Memory.objects.first()
        memory_delete(plot.stage.owner.principal, gone.id, "not needed")
        assert tile(browser, plot.stage) == str(rows - 1), "on the next request, with no measuring in between"
        plot.plant(scope="project:beta", at=clock.now())
        assert tile(browser, plot.stage) == str(rows)


def test_dashboard__list_that_fails__is_an_error_and_not_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """23. The list failed and the viewer said that there were no memories."""
    from memory.selectors import memory_list, pages_health, pages_memories

    plot = Plot()
    plot.plant(3, at=clock.now())
    sweep_health(plot.tenant_id)
    browser = browser_of(plot.stage)
    for module, name, path in (
        (pages_health, "by_day", "health/"),
        (pages_health, "live_now", "health/"),
        (pages_memories, "page", "memories/"),
    ):

        def broken(*_: Any, **__: Any) -> Any:
            raise OperationalError("the disk is full")

        with monkeypatch.context() as patch:
            patch.setattr(module, name, broken)
            answer = browser.get(f"/t/{plot.stage.tenant.slug}/{path}")
        text = answer.content.decode()
        assert answer.status_code == 500, name
        assert "<b>0</b>" not in text and "No memories" not in text and "disk is full" not in text
    assert browser.get(f"/t/{plot.stage.tenant.slug}/memories/").status_code == 200
    assert memory_list is not None


def test_dashboard__ten_thousand_rows__page_costs_little_more_than_an_empty_one() -> None:
    """23. A list of 8,637 rows failed.  A page of 10,000 is one page."""
    empty, full = Plot(), Plot()
    full.plant(10_000, at=clock.now())

    def seconds(plot: Plot) -> float:
        browser, best = browser_of(plot.stage), 9e9
        for _ in range(5):
            began = time.perf_counter()
            assert browser.get(f"/t/{plot.stage.tenant.slug}/memories/").status_code == 200
            best = min(best, time.perf_counter() - began)
        return best

    few, many = seconds(empty), seconds(full)
    assert many <= max(0.3, 5 * few), f"{few * 1000:.0f} ms empty, {many * 1000:.0f} ms with 10,000 rows"


def test_health__looked_at_a_hundred_times__measures_the_same_and_buckets_add_up() -> None:
    """49. Looking must not change what is measured."""
    plot = Plot()
    plot.plant(3, content="young ", at=clock.now())
    plot.plant(2, content="aging ", at=clock.now() - timedelta(days=50))
    plot.plant(1, content="old ", at=clock.now() - timedelta(days=200))
    sweep_health(plot.tenant_id)
    browser = browser_of(plot.stage)
    columns = ("id", "use_count", "last_used_at", "learned_at", "version")
    with plot.stage.context():
        before = sorted(Memory.objects.values_list(*columns))
        events = AuditEvent.objects.count()
    for _ in range(100):
        browser.get(f"/t/{plot.stage.tenant.slug}/health/")
    caller = Caller(plot.stage.coder)
    for _ in range(20):
        caller.get("health")
    with plot.stage.context():
        assert sorted(Memory.objects.values_list(*columns)) == before
        assert AuditEvent.objects.count() == events
        figures = HealthSnapshot.objects.get(scope="").figures
    assert [figures[name] for name in ("fresh", "aging", "outdated")] == [3, 2, 1]
    assert figures["live_facts"] == 6 == figures["never_used"] == figures["never_given"]


def test_health__cold_share__alerts_once_and_clears_with_hysteresis() -> None:
    """50. Nobody was told when 80% had gone cold."""
    plot = Plot()
    plot.plant(19, content="young ")
    plot.plant(81, content="old ", at=NOW - timedelta(days=100))
    for minute in (0, 1, 2, 59, 61, 121):
        sweep_health(plot.tenant_id, now=NOW + timedelta(minutes=minute))
    with plot.stage.context():
        assert Alert.objects.filter(evidence__metric="stale_share").count() == 1
    plot.plant(3, content="fresh again ")
    sweep_health(plot.tenant_id, now=NOW + timedelta(minutes=181))
    with plot.stage.context():
        assert Alert.objects.get(evidence__metric="stale_share").ended_at == NOW + timedelta(minutes=181)


def test_health__burst_of_junk__names_the_agent_whose_keys_are_paused_from_the_alert() -> None:
    """51. 21 refusals came from one stuck session and were found by a script."""
    stage = make_tenant()
    for n in range(21):
        refused = WriteRequest(content=f"I cannot help with that number {n}.", scope="project:alpha")
        memory_write(stage.coder.principal, refused)
    browser = browser_of(stage)
    text = browser.get(f"/t/{stage.tenant.slug}/alerts/").content.decode()
    assert stage.coder.agent.name in text and "Pause the agent" in text
    action = text.split('action="')
    [pause] = [one.split('"')[0] for one in action if one.split('"')[0].endswith("/pause/")]
    assert browser.post(pause, {"pause": "yes"}).status_code == 303
    assert_problem(Caller(stage.coder).get("whoami"), 401, "agent_paused")
    assert Caller(stage.orchestrator).get("whoami").status_code == 200


def test_freshness__version_of_45_days__is_on_the_list_until_it_is_confirmed() -> None:
    """47. What was true when it was written stays confident for ever."""
    plot = Plot()
    age = clock.now() - timedelta(days=45)
    (version,) = plot.plant(content="The press runs firmware ", predicate="version", at=age)
    plot.plant(content="Her birthday is in May, day ", predicate="birthday", at=age)
    plot.plant(content="The hall is blue ", at=age)
    (due,) = plot.plant(content="Ask about the lease ", at=age, review_by=clock.now() - timedelta(days=1))
    plot.plant(content="Ask about the roof ", at=age, review_by=clock.now() + timedelta(days=1))
    browser, base = browser_of(plot.stage), f"/t/{plot.stage.tenant.slug}/"
    page = browser.get(base + "health/verify/").content.decode()
    assert "runs firmware" in page and "the lease" in page
    assert not [text for text in ("birthday", "hall is blue", "the roof") if text in page]
    sweep_health(plot.tenant_id)
    with plot.stage.context():
        assert HealthSnapshot.objects.get(scope="").figures["to_verify"] == 2
    for _ in range(50):
        browser.get(base + f"memories/mem_{version.hex}/")
    assert "runs firmware" in browser.get(base + "health/verify/").content.decode(), (
        "looking confirms nothing"
    )
    for memory in (version, due):
        assert browser.post(base + f"health/verify/mem_{memory.hex}/", {"version": "1"}).status_code == 303
    assert "Nothing to verify" in browser.get(base + "health/verify/").content.decode()
    late = browser.post(base + f"health/verify/mem_{version.hex}/", {"version": "9"}, follow=True)
    assert "version" in late.content.decode()
