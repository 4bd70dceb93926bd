"""Health in the browser: hours and days, files, ages, and the sample with verdicts, undo and what came too late."""

from __future__ import annotations

import csv
import io
from datetime import timedelta

import pytest
import time_machine
from django.test import Client

from memgov import clock
from memory.domain.health import METRICS
from memory.domain.ids import show_id
from memory.models import HealthSnapshot, Memory, SampleItem
from memory.services.health_sample import sample_draw
from memory.services.sweeps import sweep_health
from memory.store import health as snapshots
from tests.factories import Stage
from tests.pages.staging import Full, write

HX = {"HX-Request": "true", "HX-Target": "detail"}


@pytest.fixture
def drawn(full: Full) -> list[str]:
    """Addresses of the week's sample."""
    write(full.stage.coder, content="Deploys of alpha run on Tuesdays at noon UTC.")
    sample_draw(full.stage.tenant.id)
    with full.stage.context():
        ids = SampleItem.objects.order_by("place").values_list("id", flat=True)
        return [full.at(f"health/sample/{show_id('smp', one)}/") for one in ids]


def sent(full: Full, address: str, action: str, reason: str = "") -> dict[str, str]:
    item = item_of(full, address)
    with full.stage.context():
        memory = Memory.objects.get(id=item.memory_id)
    versions = {"version": str(item.version), "memory_version": str(memory.version)}
    return {"action": action, "reason": reason, **versions}


def item_of(full: Full, address: str) -> SampleItem:
    from memory.domain.ids import parse_id

    with full.stage.context():
        item: SampleItem = SampleItem.objects.get(id=parse_id("smp", address.rstrip("/").split("/")[-1]))
        return item


def test_health__short_range__is_drawn_by_hour_and_longer_ones_by_day(full: Full, reviewer: Client) -> None:
    now = clock.now().replace(minute=0, second=0, microsecond=0)
    with full.stage.context():
        for ago in (0, 1, 2, 5):
            snapshots.upsert({"": {"live_facts": float(ago)}}, now - timedelta(hours=ago))
        HealthSnapshot(
            span="day", period=now.replace(hour=0) - timedelta(days=20), figures={"live_facts": 4.0},
            spread={"live_facts": [2.0, 9.0]}, hours=24,
        ).save()  # fmt: skip
    base = full.at("health/")
    hours = reviewer.get(base + "figure.json", {"range": "7"}).json()["data"]
    assert [len(trace["x"]) for trace in hours] == [1, 3] and "T" in hours[1]["x"][0]
    days = reviewer.get(base + "figure.json", {"range": "30"}).json()["data"]
    assert days[0]["y"] == [4.0]
    assert "2–9" in reviewer.get(base, {"range": "30"}).content.decode()
    rows = list(
        csv.DictReader(
            io.StringIO(reviewer.get(base + "series.csv", {"range": "7", "metric": "all"}).content.decode())
        )
    )
    assert len(rows) == 168 and len(rows[0]) == 3 + len(METRICS)
    assert [row["live_facts (count)"] for row in rows[-6:]] == ["5.0", "", "", "2.0", "1.0", "0.0"]
    found = reviewer.get(base + "series.json", {"range": "7"}).json()
    assert found["step"] == "hour" and found["points"][-1]["figures"]["live_facts"] == 0.0
    assert found["points"][-5]["figures"] is None, "what was not measured is null and not 0"


def test_health__viewed_a_hundred_times__changes_nothing_that_it_measures(
    full: Full, reviewer: Client
) -> None:
    sweep_health(full.stage.tenant.id)

    def measured() -> list[object]:
        with full.stage.context():
            rows = Memory.objects.order_by("id").values_list(
                "id", "use_count", "last_used_at", "learned_at", "version"
            )
            return list(rows)

    before = measured()
    for _ in range(100):
        assert reviewer.get(full.at("health/")).status_code == 200
    assert measured() == before
    text = reviewer.get(full.at("health/")).content.decode()
    with full.stage.context():
        figures = HealthSnapshot.objects.get(scope="").figures
    assert sum(figures[band] for band in ("fresh", "aging", "outdated")) == figures["live_facts"] > 0
    assert "Never used" in text and "Not given" in text


def test_sample__wrong_needs_a_reason__and_is_taken_back(
    full: Full, reviewer: Client, drawn: list[str]
) -> None:
    one = drawn[0]
    page = reviewer.get(full.at("health/sample/")).content.decode()
    assert "To judge" in page and f'<span class="n">{len(drawn)}</span>' in page
    for headers in ({}, HX):
        refused = reviewer.post(one + "decide/", sent(full, one, "wrong"), headers=headers)
        assert refused.status_code == 422 and b"aria-invalid" in refused.content
    done = reviewer.post(one + "decide/", sent(full, one, "wrong", "it never was so"))
    assert done.status_code == 303 and drawn[1].split("/")[-2] in done["Location"]
    assert item_of(full, one).verdict == "wrong"
    shown = reviewer.get(one).content.decode()
    assert "it never was so" in shown and "Open the memory to edit or delete it" in shown
    assert one in reviewer.get(full.at("health/sample/"), {"view": "judged"}).content.decode()
    undone = reviewer.post(one + "undo/", headers=HX)
    assert undone.status_code == 200 and item_of(full, one).verdict == ""


def test_sample__with_htmx__brings_the_next_entry_until_none_is_left(
    full: Full, reviewer: Client, drawn: list[str]
) -> None:
    for at, one in enumerate(drawn):
        answer = reviewer.post(one + "decide/", sent(full, one, "right"), headers=HX)
        assert answer.status_code == 200
        assert ("Nothing to judge" in answer.content.decode()) == (at == len(drawn) - 1)
    assert "Nothing waits for a verdict" in reviewer.get(full.at("health/sample/")).content.decode()
    sweep_health(full.stage.tenant.id)
    text = reviewer.get(full.at("health/"), {"metric": "miswrite_rate"}).content.decode()
    assert "95% confidence" in text and "Wilson" in text


def test_sample__two_reviewers__the_second_is_told(
    full: Full, reviewer: Client, owner: Client, drawn: list[str]
) -> None:
    form = sent(full, drawn[0], "right")
    owner.post(drawn[0] + "decide/", form)
    for headers in ({}, HX):
        late = reviewer.post(drawn[0] + "decide/", form, headers=headers)
        assert late.status_code == 409
        assert full.stage.owner.principal.name in late.content.decode()
    with time_machine.travel(clock.now() + timedelta(minutes=11)):
        assert owner.post(drawn[0] + "undo/").status_code == 409
    assert item_of(full, drawn[0]).verdict == "right"


def test_sample__memory_edited_meanwhile__is_409_and_shows_the_new_text(
    full: Full, reviewer: Client, drawn: list[str]
) -> None:
    from memory.services.memory_edit import memory_edit

    one = next(at for at in drawn if item_of(full, at).memory_id == full.memory.id)
    form = sent(full, one, "right")
    changed = {"content": "The staging cluster runs in eu-south-1."}
    memory_edit(full.stage.owner.principal, full.memory.id, changed, version=1)
    late = reviewer.post(one + "decide/", form)
    assert late.status_code == 409 and "eu-south-1" in late.content.decode()
    assert item_of(full, one).verdict == ""


def test_sample__before_the_first_draw__says_when(stage: Stage, reviewer: Client) -> None:
    base = f"/t/{stage.tenant.slug}/health/sample/"
    text = reviewer.get(base).content.decode()
    assert "Nothing waits for a verdict" in text and "0:00 UTC" in text
    assert reviewer.get(base + "smp_nonsense/").status_code == 404
