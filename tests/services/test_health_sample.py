"""The sample of the week: drawn once and the same for everybody, judged by people, and counted with its interval."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from memgov import clock
from memory.domain.health import wilson
from memory.models import AuditEvent, HealthSample, Memory, SampleItem
from memory.selectors import health
from memory.services.errors import Conflict, Denied, Invalid, NotFound, VersionConflict
from memory.services.health_sample import sample_draw, sample_judge, sample_undo, week_of
from memory.services.retention import memory_delete, memory_pin
from memory.services.sweeps import sweep_health
from tests.sweeps.planting import NOW, Plot

pytestmark = pytest.mark.usefixtures("database")


def _items(plot: Plot) -> list[SampleItem]:
    with plot.stage.context():
        return list(SampleItem.objects.order_by("sample_id", "place"))


def _judge(plot: Plot, item: SampleItem, verdict: str, reason: str = "", **more: int) -> SampleItem:
    with plot.stage.context():
        memory = Memory.objects.get(id=item.memory_id)
    seen = {"version": item.version, "memory_version": memory.version, **more}
    return sample_judge(plot.stage.reviewer.principal, item.id, verdict, reason, **seen)


def test_draw__once_a_week__depends_on_nothing_but_week_and_rows() -> None:
    plot = Plot()
    plot.plant(80)
    plot.plant(5, content="gone ", status="evicted")
    plot.plant(5, content="over ", expires_at=NOW - timedelta(days=1))
    sample = sample_draw(plot.tenant_id, NOW)
    assert sample is not None and (sample.size, sample.population) == (30, 80)
    assert sample.period == week_of(NOW) and sample.period.weekday() == 0
    assert sample_draw(plot.tenant_id, NOW + timedelta(hours=5)) is None
    first = [item.memory_id for item in _items(plot)]
    assert len(set(first)) == 30
    with plot.stage.context():
        HealthSample.objects.all().delete()
        SampleItem.objects.all().delete()
    sample_draw(plot.tenant_id, NOW + timedelta(hours=6))
    assert [item.memory_id for item in _items(plot)] == first, "the same week, the same draw"
    sample_draw(plot.tenant_id, NOW + timedelta(days=7))
    later = [item.memory_id for item in _items(plot)][30:]
    assert set(later) != set(first)
    with plot.stage.context():
        assert AuditEvent.objects.filter(action="sample.drawn").count() == 3


def test_draw__every_row_has_its_chance() -> None:
    """Over many weeks each of 20 rows is drawn about equally often; 10 of 20, 40 weeks: 20 times, give or take."""
    plot = Plot()
    plot.plant(20)
    drawn: dict[object, int] = {}
    start = datetime(2026, 1, 5, tzinfo=UTC)
    from memory.store import samples

    with plot.stage.context():
        for week in range(40):
            samples.draw(week_of(start + timedelta(weeks=week)), 10, NOW)
        for memory_id in SampleItem.objects.values_list("memory_id", flat=True):
            drawn[memory_id] = drawn.get(memory_id, 0) + 1
    assert len(drawn) == 20 and sum(drawn.values()) == 400
    assert min(drawn.values()) >= 8 and max(drawn.values()) <= 32


def test_draw__empty_tenant__waits_for_the_first_memory() -> None:
    plot = Plot()
    assert sample_draw(plot.tenant_id, NOW) is None
    plot.plant()
    sweep_health(plot.tenant_id, now=NOW)
    assert len(_items(plot)) == 1


def test_verdicts__become_the_rate_with_its_interval() -> None:
    plot = Plot()
    plot.plant(20)
    plot.plant(4, content="b", scope="project:beta")
    sample_draw(plot.tenant_id, NOW)
    with clock.moved_to(NOW):
        alpha = [item for item in _items(plot) if item.scope == "project:alpha"]
        for at, item in enumerate(alpha[:12]):
            _judge(plot, item, "wrong" if at < 3 else "right", "a guess" if at < 3 else "")
        _judge(plot, alpha[12], "unsure", "no way to tell")
    with plot.stage.context():
        found = health.measure(NOW, None)
        stale = health.measure(NOW + timedelta(days=91), None)
    low, high = wilson(3, 12) or (None, None)
    for figures in (found[""], found["project:alpha"]):
        assert figures["miswrite_rate"] == pytest.approx(3 / 12)
        assert (figures["miswrite_low"], figures["miswrite_high"]) == (low, high)
        assert figures["miswrite_judged"] == 12
    assert found["project:beta"]["miswrite_rate"] is None
    assert stale[""]["miswrite_rate"] is None


def test_wilson__published_example__has_its_published_interval() -> None:
    """Newcombe 1998, Statistics in Medicine 17, table I: 81 of 263 gives 0.2553 to 0.3662; 0 of 20: 0 to 0.1611."""
    assert wilson(81, 263) == (pytest.approx(0.2553, abs=5e-5), pytest.approx(0.3662, abs=5e-5))
    assert wilson(0, 20) == (0.0, pytest.approx(0.1611, abs=5e-5))


def test_judge__is_audited_undone_within_ten_minutes_and_judged_again() -> None:
    plot = Plot()
    plot.plant(3)
    sample_draw(plot.tenant_id, NOW)
    item, other, _third = _items(plot)
    with clock.moved_to(NOW):
        judged = _judge(plot, item, "wrong", "it never was so")
        _judge(plot, other, "right")
    with clock.moved_to(NOW + timedelta(minutes=9)):
        back = sample_undo(plot.stage.reviewer.principal, item.id)
        assert (back.verdict, back.judged_at, back.version) == ("", None, judged.version + 1)
        with pytest.raises(Conflict):
            sample_undo(plot.stage.owner.principal, other.id)
        _judge(plot, back, "right")
    with clock.moved_to(NOW + timedelta(minutes=11)), pytest.raises(Conflict, match="10 minutes"):
        sample_undo(plot.stage.reviewer.principal, other.id)
    with plot.stage.context():
        events = AuditEvent.objects.filter(action__startswith="sample.").order_by("seq")
        done = [(event.action, (event.after or {}).get("verdict")) for event in events]
    assert done == [
        ("sample.drawn", None), ("sample.judged", "wrong"), ("sample.judged", "right"),
        ("sample.taken_back", None), ("sample.judged", "right"),
    ]  # fmt: skip


def test_judge__what_cannot_be__changes_nothing() -> None:
    plot = Plot()
    plot.plant(4)
    sample_draw(plot.tenant_id, NOW)
    item, edited, gone, done = _items(plot)
    reviewer = plot.stage.reviewer.principal
    memory_pin(reviewer, edited.memory_id, "the contract says so")
    memory_delete(reviewer, gone.memory_id, "no longer true")
    _judge(plot, done, "right")
    for error, act in (
        (Invalid, lambda: _judge(plot, item, "wrong")),
        (Invalid, lambda: _judge(plot, item, "unsure", "  ")),
        (Invalid, lambda: _judge(plot, item, "perhaps", "x")),
        (Conflict, lambda: _judge(plot, done, "wrong", "first come")),
        (Conflict, lambda: _judge(plot, gone, "right")),
        (VersionConflict, lambda: _judge(plot, edited, "right", memory_version=1)),
        (VersionConflict, lambda: _judge(plot, item, "right", version=7)),
        (
            Denied,
            lambda: sample_judge(
                plot.stage.coder.principal, item.id, "right", "", version=1, memory_version=1
            ),
        ),
        (NotFound, lambda: sample_judge(reviewer, item.memory_id, "right", "", version=1, memory_version=1)),
    ):
        with pytest.raises(error):
            act()
    assert [one.verdict for one in _items(plot)] == ["", "", "", "right"]
    _judge(plot, edited, "right")
