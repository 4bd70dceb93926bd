"""Deduplication: the same is merged, the similar put before a person, by the rule of the write path; reversible."""

from __future__ import annotations

from typing import Any

import pytest

from memory.domain.policy import Policy
from memory.models import Contradiction, Memory
from memory.services import retention
from memory.services.audit_verify import audit_verify
from memory.services.contradictions import contradiction_settle
from memory.services.memory_write import memory_write
from memory.services.policies import policy_activate
from memory.services.sweeps import dedup, sweep_dedup
from memory.services.write_types import WriteRequest
from memory.store import memories
from tests.killed import Killed
from tests.parallel import at_once
from tests.search_index import out_of_step
from tests.sweeps.planting import Plot

pytestmark = pytest.mark.usefixtures("database")

SAME = ("The CI pipeline takes about 12 minutes", "the CI pipeline takes about 12 min")
ALSO_SAME = ("Always run `make lint` before committing", "Always run make lint before committing")
SIMILAR = ("Tests must pass before merging", "Merging requires passing tests")
UNRELATED = ("The archive of the harbour is in the north wing", "Mill four delivers paper on Mondays")
KEEPS = {"reconciliation": {"near_duplicates": "keep"}}
UNGUARDED = {"retention": {"sweep_guard": 1.0}}


def slipped_in(*texts: str, policy: dict[str, Any] | None = None, **fields: Any) -> tuple[Plot, list[Memory]]:
    """A tenant that kept near duplicates side by side until its policy was changed."""
    plot = Plot(Policy.model_validate(KEEPS))
    written = [write(plot, text, session=f"s{at}", **fields) for at, text in enumerate(texts)]
    policy_activate(plot.stage.owner.principal, UNGUARDED if policy is None else policy, "merge from now on")
    return plot, written


def write(plot: Plot, text: str, **fields: Any) -> Memory:
    request = WriteRequest(content=text, **{"scope": "project:alpha", "origin": "user_explicit", **fields})
    memory = memory_write(plot.stage.coder.principal, request).memory
    assert memory is not None
    return memory


def test_dedup__the_same__is_merged_and_the_kept_one_counts_its_session() -> None:
    plot, (a, b, *others) = slipped_in(*SAME, *UNRELATED)
    run = sweep_dedup(plot.tenant_id)
    assert (run.status, run.scanned, run.changed) == ("done", 4, 1)
    found = plot.statuses([a.id, b.id])
    assert sorted(found) == ["live", "merged"]
    assert plot.statuses([row.id for row in others]) == ["live", "live"]
    kept, lost = (a, b) if found[0] == "live" else (b, a)
    with plot.stage.context():
        row = Memory.objects.get(id=kept.id)
        assert (row.also_learned_in, row.reproductions) == ([lost.session], 1)
        assert Memory.objects.get(id=lost.id).merged_into == kept.id
    assert plot.count("memory_auditevent", "action = 'memory.merged' AND actor_id = 'sweep.dedup'") == 1
    assert plot.count("memory_index") == 3 and out_of_step(plot.stage) == []
    assert audit_verify(plot.tenant_id).report.ok
    assert sweep_dedup(plot.tenant_id).changed == 0


def test_dedup__the_similar__waits_for_a_person_once() -> None:
    plot, (a, b) = slipped_in(*SIMILAR)
    run = sweep_dedup(plot.tenant_id)
    assert (run.changed, run.details["proposed"]) == (0, 1)
    with plot.stage.context():
        found = Contradiction.objects.get()
        assert (found.kind, {found.memory_a, found.memory_b}) == ("merge", {a.id, b.id})
    contradiction_settle(
        plot.stage.reviewer.principal, found.id, "keep_both", "two rules", version=found.version
    )
    again = sweep_dedup(plot.tenant_id)
    assert again.details.get("proposed", 0) == 0
    assert plot.count("memory_contradiction") == 1


def test_dedup__pinned__stays_whoever_is_stronger() -> None:
    for pinned in (0, 1):
        plot, rows = slipped_in(*SAME)
        retention.memory_pin(plot.stage.reviewer.principal, rows[pinned].id, "the better wording")
        sweep_dedup(plot.tenant_id)
        assert plot.statuses([rows[pinned].id, rows[1 - pinned].id]) == ["live", "merged"]


def test_dedup__brought_back_by_a_person__is_not_merged_again() -> None:
    plot, rows = slipped_in(*SAME)
    sweep_dedup(plot.tenant_id)
    lost = next(row for row in rows if plot.statuses([row.id]) == ["merged"])
    retention.memory_restore(plot.stage.reviewer.principal, lost.id, "they differ")
    run = sweep_dedup(plot.tenant_id)
    assert (run.changed, run.details["proposed"]) == (0, 1)
    assert plot.statuses([row.id for row in rows]) == ["live", "live"]


def test_dedup__other_scopes_and_policies__are_left_alone() -> None:
    keeps = {**UNGUARDED, "scopes": {"project:alpha": KEEPS}}
    plot, rows = slipped_in(*SAME, policy=keeps)
    apart = [write(plot, SAME[0], scope="user:1"), write(plot, SAME[1], scope="user:2")]
    assert sweep_dedup(plot.tenant_id).changed == 0
    assert plot.statuses([row.id for row in (*rows, *apart)]) == ["live"] * 4


def test_dedup__dry_run__says_what_would_go_and_changes_nothing() -> None:
    plot, rows = slipped_in(*SAME, *SIMILAR)
    run = sweep_dedup(plot.tenant_id, dry_run=True)
    assert (run.changed, run.details["proposed"], run.dry_run) == (1, 1, True)
    assert plot.statuses([row.id for row in rows]) == ["live"] * 4
    assert plot.count("memory_contradiction") == 0


def test_dedup__more_than_a_fifth__stops_and_tells() -> None:
    """745 of 931 memories were once merged away in two days."""
    plot = Plot(Policy.model_validate(KEEPS))
    rows = [
        write(plot, f"The {name} run takes about 12 {unit}")
        for name in ("press", "mail", "boiler", "paper", "tool", "ink")
        for unit in ("minutes", "min")
    ]
    policy_activate(plot.stage.owner.principal, {}, "the default")
    run = sweep_dedup(plot.tenant_id)
    assert (run.status, run.changed, run.skipped) == ("stopped", 0, 6)
    assert run.details["held"] == {"project:alpha": {"removable": 6, "live": 12}}
    assert set(plot.statuses([row.id for row in rows])) == {"live"}
    assert plot.count("memory_alert", "kind = 'sweep_stopped' AND target = 'dedup'") == 1


def test_dedup__row_in_other_hands__is_left_to_the_next_run() -> None:
    plot, rows = slipped_in(*SAME)
    with plot.stage.context():
        memories.lock([rows[0].id])
        (run,) = at_once_outside(lambda: sweep_dedup(plot.tenant_id))
    assert (run.changed, run.skipped) == (0, 1)
    assert sweep_dedup(plot.tenant_id).changed == 1


def at_once_outside(call: Any) -> list[Any]:
    """The call in a thread of its own, which knows nothing of the caller's tenant context."""
    import threading

    from django.db import connections

    found: list[Any] = []

    def run() -> None:
        try:
            found.append(call())
        finally:
            connections.close_all()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return found


def test_dedup__side_by_side__merges_each_pair_once() -> None:
    plot, _rows = slipped_in(*SAME, *ALSO_SAME, *UNRELATED)
    runs = at_once([lambda: sweep_dedup(plot.tenant_id) for _ in range(4)])
    assert sum(run.changed for run in runs) == 2
    assert plot.count("memory_memory", "status = 'merged'") == 2
    assert plot.count("memory_auditevent", "action = 'memory.merged'") == 2


def test_dedup__killed_between_batches__leaves_whole_batches_and_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plot, _rows = slipped_in(*SAME, *ALSO_SAME)
    monkeypatch.setattr(dedup, "_BATCH", 1)
    real, calls = dedup._merge, [0]

    def dying(*given: Any) -> None:
        calls[0] += 1
        if calls[0] == 2:
            raise Killed
        real(*given)

    monkeypatch.setattr(dedup, "_merge", dying)
    with pytest.raises(Killed):
        sweep_dedup(plot.tenant_id)
    assert plot.count("memory_memory", "status = 'merged'") == 1
    assert plot.count("memory_auditevent", "action = 'memory.merged'") == 1
    assert plot.look("SELECT status, changed FROM memory_sweeprun WHERE tenant_id = %(tenant)s") == [
        ("running", 1)
    ]
    monkeypatch.setattr(dedup, "_merge", real)
    assert sweep_dedup(plot.tenant_id).changed == 1


def test_dedup__another_tenant_with_the_same_texts__has_no_part_in_it() -> None:
    plot, _rows = slipped_in(SAME[0])
    other, theirs = slipped_in(SAME[1])
    assert sweep_dedup(plot.tenant_id).changed == sweep_dedup(other.tenant_id).changed == 0
    assert other.statuses([row.id for row in theirs]) == ["live"]
    assert plot.count("memory_contradiction") == other.count("memory_contradiction") == 0
