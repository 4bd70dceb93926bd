"""Staleness: volatile facts lose confidence with age, by the same amount however often the sweep runs."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memory.domain.decay import stale_confidence
from memory.domain.policy import Policy
from memory.models import Memory
from memory.services.sweeps import sweep_staleness
from tests.sweeps.planting import NOW, Plot

pytestmark = pytest.mark.usefixtures("database")
DAY = timedelta(days=1)


def _confidence(plot: Plot, memory_id: object) -> float:
    with plot.stage.context():
        return float(Memory.objects.get(id=memory_id).confidence)


def test_staleness__once_and_in_steps__leave_what_the_domain_says() -> None:
    plot = Plot()
    (memory_id,) = plot.plant(predicate="version", confidence=0.9)
    for day in range(10, 181, 10):
        sweep_staleness(plot.tenant_id, now=NOW + day * DAY)
    in_steps = _confidence(plot, memory_id)
    (at_once,) = plot.plant(predicate="version", confidence=0.9, content="another ")
    sweep_staleness(plot.tenant_id, now=NOW + 180 * DAY)
    expected = stale_confidence(0.9, 180, Policy())
    assert _confidence(plot, at_once) == pytest.approx(expected)
    assert in_steps == pytest.approx(expected, abs=0.05)
    assert plot.count("memory_index") == 2, "it stays findable"


def test_staleness__run_twice__lowers_once() -> None:
    plot = Plot()
    (memory_id,) = plot.plant(predicate="version", confidence=0.9)
    assert sweep_staleness(plot.tenant_id, now=NOW + 90 * DAY).changed == 1
    assert sweep_staleness(plot.tenant_id, now=NOW + 90 * DAY).changed == 0
    assert _confidence(plot, memory_id) == pytest.approx(0.45)
    assert plot.look(
        "SELECT (before->>'confidence')::float8, (after->>'confidence')::float8 FROM memory_auditevent"
        " WHERE tenant_id = %(tenant)s AND action = 'memory.aged'"
    ) == [(pytest.approx(0.9), pytest.approx(0.45))]


def test_staleness__stable_pinned_and_barely_older__keep_their_confidence() -> None:
    plot = Plot()
    stable = plot.plant(predicate="birthday", content="s")
    pinned = plot.plant(predicate="version", content="p", pinned_at=NOW)
    young = plot.plant(predicate="version", content="y", at=NOW + 299 * DAY)
    run = sweep_staleness(plot.tenant_id, now=NOW + 300 * DAY)
    assert run.changed == 0
    assert [_confidence(plot, one) for one in [*stable, *pinned, *young]] == [0.7] * 3


def test_staleness__tiny_confidence_and_extreme_age__fail_no_statement() -> None:
    plot = Plot(Policy.model_validate({"decay": {"volatile_half_life_days": 0.001}}))
    plot.plant(predicate="version", confidence=1e-300, content="t")
    (memory_id,) = plot.plant(predicate="version", confidence=0.9, content="n")
    assert sweep_staleness(plot.tenant_id, now=NOW + 20_000 * DAY).status == "done"
    assert _confidence(plot, memory_id) == pytest.approx(0, abs=1e-12)
