"""Decay: the score in SQL is the domain's, the unused go, the pinned stay, a scope is never emptied at once."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from hypothesis import given, settings
from hypothesis import strategies as st

from memgov import clock
from memory.domain.decay import decay_score
from memory.domain.policy import Policy
from memory.selectors import removal
from memory.services import policies, retention
from memory.services.audit_verify import audit_verify
from memory.services.sweeps import sweep_compaction, sweep_decay, sweep_expiry
from memory.store import memories
from tests.sweeps.planting import NOW, Plot

pytestmark = pytest.mark.usefixtures("database")
DAY = timedelta(days=1)
LONG_AGO = NOW - 180 * DAY
UNGUARDED = Policy.model_validate({"retention": {"sweep_guard": 1.0}})

_SCORE = f"""
SELECT {removal.DECAY_SCORE} FROM (SELECT 1 AS place) rule,
       (SELECT %(confidence)s::float8 AS confidence, %(uses)s::int AS use_count, %(at)s AS learned_at,
               %(at)s AS status_changed_at, %(used_at)s::timestamptz AS last_used_at, NULL::timestamptz AS valid_from) m
"""


@settings(max_examples=150, deadline=None)
@given(
    confidence=st.floats(0, 1),
    idle=st.floats(-3, 20_000),
    uses=st.integers(0, 1_000_000),
    scale=st.floats(0.01, 3650),
    floor=st.floats(0, 1),
)
def test_score__sql_and_domain__are_the_same(
    confidence: float, idle: float, uses: int, scale: float, floor: float
) -> None:
    policy = Policy.model_validate({"decay": {"idle_days_scale": scale, "floor": floor, "use_divisor": 2.5}})
    at = NOW - timedelta(days=idle)
    parameters = {name: [values[0]] if isinstance(values, list) and values else values
                  for name, values in removal.decay_parameters(policy, NOW).items()}  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute(
            _SCORE, {**parameters, "confidence": confidence, "uses": uses, "at": at, "used_at": None}
        )
        (found,) = cursor.fetchone()
    days = (NOW - at).total_seconds() / 86400
    assert found == pytest.approx(decay_score(confidence, days, uses, policy), abs=2e-9)


def test_decay__idle_counts_from_the_last_use_or_confirmation() -> None:
    plot = Plot(UNGUARDED)
    unused = plot.plant(at=LONG_AGO, content="a")
    used = plot.plant(at=LONG_AGO, content="b", last_used_at=NOW - DAY, use_count=1)
    often = plot.plant(at=LONG_AGO, content="c", last_used_at=LONG_AGO, use_count=20)
    run = sweep_decay(plot.tenant_id, now=NOW)
    assert (run.scanned, run.changed, run.status) == (3, 1, "done")
    assert plot.statuses([*unused, *used, *often]) == ["evicted", "live", "live"]


def test_decay__evicted__index_revision_and_audit_with_score_agree() -> None:
    plot = Plot(UNGUARDED)
    (memory_id,) = plot.plant(at=LONG_AGO)
    sweep_decay(plot.tenant_id, now=NOW)
    assert plot.count("memory_index") == 0
    assert plot.count("memory_revision", "event = 'memory.evicted' AND version = 2") == 1
    ((before, after, actor, request),) = plot.look(
        "SELECT before, after, actor_id, request_id FROM memory_auditevent"
        " WHERE tenant_id = %(tenant)s AND action = 'memory.evicted' AND target_id = %(target)s",
        target=f"mem_{memory_id.hex}",
    )
    before, after = json.loads(before), json.loads(after)
    assert before == {"status": "live"}
    assert after["status"] == "evicted"
    assert after["score"] == pytest.approx(decay_score(0.7, 180, 0, UNGUARDED), abs=1e-6)
    assert actor == "sweep.decay"
    assert request.startswith("run_")


def test_decay__events_of_any_score_and_scope__chain_as_the_verifier_reads_them() -> None:
    """The database chains them by itself; what it hashed has to be what is read back."""
    plot = Plot(UNGUARDED)
    for at, (confidence, scope) in enumerate(
        [
            (0.0, "shared"),
            (1e-12, "user:a/b+c"),
            (3e-5, "global"),
            (0.0123456789, "task:t.1"),
            (0.7, "user:x@y"),
        ]
    ):
        plot.plant(3, at=LONG_AGO, content=f"c{at} ", confidence=confidence, scope=scope)
    plot.plant(2, at=NOW, content="over ", expires_at=NOW - DAY)
    assert sweep_decay(plot.tenant_id, now=NOW).changed == 15
    assert sweep_expiry(plot.tenant_id, now=NOW).changed == 2
    report = audit_verify(plot.tenant_id).report
    assert report.ok, report.explanation
    shown = plot.look(
        "SELECT DISTINCT after->>'score' FROM memory_auditevent WHERE tenant_id = %(tenant)s"
        " AND action = 'memory.evicted'"
    )
    assert len(shown) >= 3


def test_decay__pinned_twin__stays_while_the_unpinned_goes() -> None:
    plot = Plot(UNGUARDED)
    pinned = plot.plant(at=LONG_AGO, content="p", pinned_at=LONG_AGO, pinned_by="someone")
    until = plot.plant(at=LONG_AGO, content="u", pinned_at=LONG_AGO, pinned_until=NOW + DAY)
    ended = plot.plant(at=LONG_AGO, content="e", pinned_at=LONG_AGO, pinned_until=NOW - DAY)
    twin = plot.plant(at=LONG_AGO, content="t")
    sweep_decay(plot.tenant_id, now=NOW)
    assert plot.statuses([*pinned, *until, *ended, *twin]) == ["live", "live", "evicted", "evicted"]


def test_decay__contested_and_expired__are_not_its_business() -> None:
    plot = Plot(UNGUARDED)
    contested = plot.plant(at=LONG_AGO, content="c", status="contested")
    over = plot.plant(at=LONG_AGO, content="o", expires_at=NOW - DAY)
    assert sweep_decay(plot.tenant_id, now=NOW).changed == 0
    assert plot.statuses([*contested, *over]) == ["contested", "live"]


def test_decay__restored__is_not_evicted_at_once() -> None:
    plot = Plot(UNGUARDED)
    (memory_id,) = plot.plant(at=LONG_AGO, use_count=1)
    sweep_decay(plot.tenant_id, now=NOW)
    assert plot.statuses([memory_id]) == ["evicted"]
    with clock.moved_to(NOW + DAY):
        retention.memory_restore(plot.stage.reviewer.principal, memory_id, "still needed")
    assert plot.count("memory_index") == 1
    assert sweep_decay(plot.tenant_id, now=NOW + 2 * DAY).changed == 0
    assert plot.statuses([memory_id]) == ["live"]
    later = sweep_decay(plot.tenant_id, now=NOW + 400 * DAY)
    assert (later.changed, plot.statuses([memory_id])) == (1, ["evicted"])


def test_decay__scope_override__has_its_own_floor() -> None:
    plot = Plot(Policy.model_validate({
        "retention": {"sweep_guard": 1.0},
        "scopes": {"project:keep": {"decay": {"floor": 0.0}}, "user:*": {"decay": {"idle_days_scale": 10_000}}},
    }))  # fmt: skip
    kept = plot.plant(at=LONG_AGO, scope="project:keep")
    slow = plot.plant(at=LONG_AGO, scope="user:42")
    gone = plot.plant(at=LONG_AGO, scope="project:other")
    sweep_decay(plot.tenant_id, now=NOW)
    assert plot.statuses([*kept, *slow, *gone]) == ["live", "live", "evicted"]


def test_guard__a_fifth_of_a_scope__stops_only_that_scope() -> None:
    plot = Plot()
    too_much = plot.plant(5, at=LONG_AGO, scope="project:a") + plot.plant(
        15, scope="project:a", content="young"
    )
    allowed = plot.plant(2, at=LONG_AGO, scope="project:b")
    plot.plant(18, scope="project:b", content="young")
    run = sweep_decay(plot.tenant_id, now=NOW)
    assert (run.status, run.changed, run.skipped) == ("stopped", 2, 5)
    assert "project:a (5 of 20)" in run.note
    assert plot.statuses(too_much) == ["live"] * 20
    assert plot.statuses(allowed) == ["evicted"] * 2
    assert plot.count("memory_auditevent", "action = 'sweep.stopped' AND scope = 'project:a'") == 1
    again = sweep_decay(plot.tenant_id, now=NOW + timedelta(hours=1))
    assert (again.status, again.changed) == ("stopped", 0)
    assert plot.count("memory_auditevent", "action = 'sweep.stopped'") == 1, (
        "one finding fills the audit once"
    )


def test_guard__few_rows__is_not_applied() -> None:
    plot = Plot()
    plot.plant(3, at=LONG_AGO)
    assert sweep_decay(plot.tenant_id, now=NOW).changed == 3


def test_decay__dry_run__counts_and_changes_nothing() -> None:
    plot = Plot(UNGUARDED)
    ids = plot.plant(4, at=LONG_AGO)
    events = plot.count("memory_auditevent")
    run = sweep_decay(plot.tenant_id, now=NOW, dry_run=True)
    assert (run.changed, run.dry_run) == (4, True)
    assert plot.statuses(ids) == ["live"] * 4
    assert plot.count("memory_auditevent") == events


def test_decay__policy_changed__run_and_events_name_the_version() -> None:
    plot = Plot(UNGUARDED)
    plot.plant(at=LONG_AGO)
    stricter = {"retention": {"sweep_guard": 1.0}, "decay": {"floor": 0.2}}
    policies.policy_activate(plot.stage.owner.principal, stricter, "a test of versions")
    assert sweep_decay(plot.tenant_id, now=NOW).policy_version == 2
    assert plot.count("memory_auditevent", "action = 'memory.evicted' AND policy_version = 2") == 1


def test_decay__four_at_once__each_row_once() -> None:
    plot = Plot(UNGUARDED)
    plot.plant(3000, at=LONG_AGO)
    runs = _together(4, lambda: sweep_decay(plot.tenant_id, now=NOW))
    assert sum(run.changed for run in runs) == 3000
    assert plot.count("memory_memory", "status = 'evicted'") == 3000
    assert plot.count("memory_auditevent", "action = 'memory.evicted'") == 3000
    assert plot.count("memory_revision", "version = 2") == 3000
    assert plot.count("memory_index") == 0


def test_decay__row_held_by_a_writer__is_passed_over_and_the_next_run_takes_it() -> None:
    plot = Plot(UNGUARDED)
    held, *free = plot.plant(3, at=LONG_AGO)
    with plot.stage.context():
        memories.lock([held])
        (run,) = _together(1, lambda: sweep_decay(plot.tenant_id, now=NOW))
    assert run.changed == 2
    assert plot.statuses([held, *free]) == ["live", "evicted", "evicted"]
    assert sweep_decay(plot.tenant_id, now=NOW).changed == 1


def test_compaction__over_the_cap__the_weakest_unpinned_are_archived() -> None:
    plot = Plot(Policy.model_validate({"retention": {"sweep_guard": 1.0}, "reconciliation": {"cap": 3}}))
    weak_pinned = plot.plant(confidence=0.3, content="p", pinned_at=NOW)
    weakest = plot.plant(confidence=0.4, content="a")
    old = plot.plant(confidence=0.6, content="b", at=NOW - DAY)
    young = plot.plant(confidence=0.6, content="c")
    strong = plot.plant(confidence=0.9, content="d")
    run = sweep_compaction(plot.tenant_id, now=NOW)
    assert (run.status, run.changed) == ("done", 2)
    assert plot.statuses([*weak_pinned, *weakest, *old, *young, *strong]) == [
        "live", "archived", "archived", "live", "live",
    ]  # fmt: skip
    assert plot.count("memory_index") == 3
    assert (
        plot.count("memory_auditevent", "action = 'memory.archived' AND actor_id = 'sweep.compaction'") == 2
    )
    assert sweep_compaction(plot.tenant_id, now=NOW).changed == 0


def test_compaction__four_at_once__the_surplus_goes_once() -> None:
    plot = Plot(Policy.model_validate({"retention": {"sweep_guard": 1.0}, "reconciliation": {"cap": 50}}))
    plot.plant(120)
    runs = _together(4, lambda: sweep_compaction(plot.tenant_id, now=NOW))
    assert sum(run.changed for run in runs) == 70
    assert plot.count("memory_memory", "status = 'live'") == 50


def test_compaction__cap_lowered_far__the_guard_holds_the_scope() -> None:
    plot = Plot(Policy.model_validate({"reconciliation": {"cap": 5}}))
    plot.plant(12)
    run = sweep_compaction(plot.tenant_id, now=NOW)
    assert (run.status, run.changed, run.skipped) == ("stopped", 0, 7)
    assert plot.count("memory_memory", "status = 'live'") == 12


def _together(number: int, work: Callable[[], Any]) -> list[Any]:
    """Do the work in so many threads, each with a connection of its own, from one starting line."""
    found: list[Any] = []
    line = threading.Barrier(number)

    def one() -> None:
        try:
            line.wait()
            found.append(work())
        finally:
            connection.close()

    threads = [threading.Thread(target=one) for _ in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == number, "a thread failed; its error is above"
    return found


def test_clock__moved__is_what_the_sweep_goes_by() -> None:
    plot = Plot(UNGUARDED)
    plot.plant(at=NOW)
    with clock.moved_to(NOW + 30 * DAY):
        assert sweep_decay(plot.tenant_id).changed == 0
    later: datetime = NOW + 300 * DAY
    with clock.moved_to(later):
        run = sweep_decay(plot.tenant_id)
    assert run.changed == 1
    assert run.started_at == later
